package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// SQLite once applied the write-ahead log of the old file to the copy that replaced it,
// because the name of the log is the same for both. The copy became a mixture of the two
// files, and keys that the copy did not contain stayed valid.
func TestFileThatIsReplacedTakesNothingOfTheOldOne(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]func(*store.Store, string){
		"at once": func(_ *store.Store, path string) { require.NoError(t, os.Link(path, path+".old")) },
		"after a while": func(s *store.Store, path string) {
			require.NoError(t, os.Rename(path, path+".old"))
			require.Eventually(t, func() bool { return !s.Complete() }, patience, tick)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, key := filled(t)
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			s, other := databaseAt(path).Open(t), databaseAt(path).Open(t)
			storetest.Current(t, s)
			storetest.Current(t, other)
			for i := range 20 {
				id := storetest.NewUser(t, s, fmt.Sprintf("later-%d", i), aigateway.RoleUser).ID
				storetest.NewKey(t, other, id, fmt.Sprint(i))
			}
			last := storetest.NewKey(t, s, 1, "last")
			require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, key.ID))

			// The condition after the replacement must not hold already before it, as it
			// would for a store that has not read the last changes.
			require.Eventually(t, func() bool { return other.Lookup(key.Digest) == nil && other.Lookup(last.Digest) != nil }, patience, tick)

			vanish(s, path)
			replace(t, path, content)
			for _, s := range []*store.Store{s, other} {
				require.Eventually(t, func() bool { return s.Lookup(key.Digest) != nil && s.Lookup(last.Digest) == nil }, patience, tick)
				storetest.NewUser(t, s, exchange.NewID("new-"), aigateway.RoleUser)
			}
			_, total, err := s.Users(t.Context(), aigateway.Page{Limit: 1})
			require.NoError(t, err)
			assert.Equal(t, 3, total)
			assert.Equal(t, "ok", integrity(t, path))

			_, total, err = databaseAt(path+".old").Open(t).Users(t.Context(), aigateway.Page{Limit: 1})
			require.NoError(t, err)
			assert.Equal(t, 21, total, "the old file has all changes")
		})
	}
}

func TestLogThatCameWithTheNewFileIsKept(t *testing.T) {
	t.Parallel()
	path, _ := filled(t)
	other, _ := filled(t)
	s, writer := databaseAt(path).Open(t), databaseAt(other).Open(t)
	storetest.Current(t, s)
	key := storetest.NewKey(t, writer, 1, "ahead")
	for _, suffix := range []string{walSuffix, ""} {
		content, err := os.ReadFile(other + suffix)
		require.NoError(t, err)
		replace(t, path+suffix, content)
	}
	require.Eventually(t, func() bool { return s.Lookup(key.Digest) != nil }, patience, tick)
	assert.Equal(t, "ok", integrity(t, path))
}

// TestLogOfTheOldFileServesNoNewOne ensures that the log of a vanished file is removed
// before a process opens the file that has replaced it. The first process once opened the
// new file with the empty log of the old one. A second process, which noticed the
// replacement later, then removed that log with the changes of the first process.
func TestLogOfTheOldFileServesNoNewOne(t *testing.T) {
	path, _ := filled(t)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	first, second := &file{schema: accounts, path: path}, &file{schema: accounts, path: path}
	old, late := connected(t, first), connected(t, second)

	require.NoError(t, os.Rename(path, path+".old"))
	require.NoError(t, first.Disconnect(old))
	replace(t, path, content)
	db := connected(t, first)
	const rename = `UPDATE gateway_users SET name = 'renamed'`
	_, err = db.ExecContext(t.Context(), rename)
	require.NoError(t, err)
	require.NoError(t, second.Disconnect(late))

	assert.FileExists(t, path+walSuffix)
	var name string
	require.NoError(t, connected(t, second).QueryRowContext(t.Context(), `SELECT name FROM gateway_users`).Scan(&name))
	assert.Equal(t, "renamed", name)
}

// connected opens the file, and waits for the connection that creates its log.
func connected(t *testing.T, f *file) *sql.DB {
	db, err := f.Connect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, db.Close())
		assert.NoError(t, f.Close())
	})
	return db
}
