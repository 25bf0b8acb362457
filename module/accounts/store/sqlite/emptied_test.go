package sqlite

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// accidents are ways in which a file loses all its content, with their log lines.
var accidents = map[string]struct {
	happen func(t *testing.T, path string)
	log    string
}{
	"emptied by a shell": {func(t *testing.T, path string) {
		require.NoError(t, os.Truncate(path, 0))
	}, "the database has become empty: restore a backup"},
	// SQLite writes the log to the emptied file, which becomes a complete database or
	// a damaged file.
	"emptied by a shell with changes ahead": {func(t *testing.T, path string) {
		s := store.New(&file{schema: accounts, path: path}, zap.NewNop)
		storetest.NewKey(t, s, 1, "later")
		require.NoError(t, os.Truncate(path, 0))
		require.NoError(t, s.Close())
	}, "restore a backup"},
	"replaced by an empty file": {func(t *testing.T, path string) {
		replace(t, path, nil)
	}, "the database has become empty: restore a backup"},
	"replaced by a database without tables": {func(t *testing.T, path string) {
		replace(t, path, tableless(t))
	}, "the database has become empty: restore a backup"},
	"replaced by a database of another program": {func(t *testing.T, path string) {
		replace(t, path, foreign(t))
	}, "another program: restore the file of this gateway"},
}

// tableless returns the content of a database without tables.
func tableless(t *testing.T) []byte {
	path := t.TempDir() + "/new.db"
	lockOut(t, path, `CREATE TABLE t (x)`, `DROP TABLE t`)()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotEmpty(t, content)
	return content
}

// A file that became empty once counted as a new database. The gateway created tables in
// it, and within a second every key and every session was invalid.
func TestFileThatLosesItsContentIsAnOutage(t *testing.T) {
	t.Parallel()
	for name, accident := range accidents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, key := filled(t)
			s, logs := storetest.Observed(t, &file{schema: accounts, path: path})
			storetest.Current(t, s)
			backup := path + ".copy"
			lockOut(t, path, `VACUUM INTO '`+backup+`'`)()
			accident.happen(t, path)

			reason := storetest.Logged(t, logs, "not available; known keys stay valid")
			assert.Contains(t, reason, path)
			assert.Contains(t, reason, accident.log)
			stillOut(t, s, key)

			require.NoError(t, os.Rename(backup, path))
			storetest.Current(t, s)
			assert.NotNil(t, s.Lookup(key.Digest))
			require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, key.ID))
			assert.Equal(t, "ok", integrity(t, path))
		})
	}
}

// stillOut checks that a known key is valid, that unknown keys are in doubt, and that the
// store does not create tables.
func stillOut(t *testing.T, s *store.Store, key *aigateway.StoredKey) {
	t.Helper()
	assert.NotNil(t, s.Lookup(key.Digest))
	assert.False(t, s.Complete(), "an unknown key may be a valid one")
	err := s.CreateUser(t.Context(), &aigateway.User{Name: "mallory"})
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	_, err = s.User(t.Context(), 1)
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	assert.False(t, s.Complete())
}

// Until changes are first written into the file, all of them are in the write-ahead log.
func TestAnEmptiedFileIsRestoredFromItsWriteAheadLog(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/gateway.db"
	s := databaseAt(path).Open(t)
	key := storetest.NewKey(t, s, storetest.NewUser(t, s, "alice", aigateway.RoleRoot).ID, "laptop")
	require.NoError(t, os.Truncate(path, 0))
	require.Eventually(t, func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0 && s.Complete()
	}, patience, tick)
	assert.NotNil(t, s.Lookup(key.Digest))
	_, err := s.User(t.Context(), 1)
	require.NoError(t, err)
	assert.Equal(t, "ok", integrity(t, path))
}

// The first start also creates the tables in an existing empty file.
func TestAnEmptyFileIsANewDatabaseAtTheStart(t *testing.T) {
	path := t.TempDir() + "/gateway.db"
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	s := databaseAt(path).Open(t)
	storetest.Current(t, s)
	storetest.NewUser(t, s, "alice", aigateway.RoleRoot)
}
