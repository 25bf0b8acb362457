package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const (
	patience = time.Minute
	tick     = 5 * time.Millisecond
)

// filled creates a database with a user and a key, and returns its path.
func filled(t *testing.T) (path string, key *aigateway.StoredKey) {
	path = filepath.Join(t.TempDir(), "gateway.db")
	s := store.New(&file{schema: accounts, path: path}, zap.NewNop)
	key = storetest.NewKey(t, s, storetest.NewUser(t, s, "alice", aigateway.RoleRoot).ID, "laptop")
	require.NoError(t, s.Close())
	return path, key
}

// lockOut runs statements on a connection to the file. The connection stays open, with
// its locks, until release is called.
func lockOut(t *testing.T, path string, statements ...string) (release func()) {
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		_, err = db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	return func() { assert.NoError(t, db.Close()) }
}

// impatient makes a store wait only briefly for a locked file. On a busy machine, the
// usual three seconds can become the five seconds after which methods return another
// error. The driver sorts pragmas; the prefix "main." makes this one the last, so that it
// overrides the usual one.
var impatient = []string{"main.busy_timeout(100)"}

func TestFileHeldByAnotherProcessIsWaitedFor(t *testing.T) {
	t.Parallel()
	path, key := filled(t)
	release := lockOut(t, path, `PRAGMA locking_mode = EXCLUSIVE`, `BEGIN EXCLUSIVE`, `UPDATE gateway_state SET revision = revision`)
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path, pragmas: impatient})
	reason := storetest.Logged(t, logs, "not available")
	assert.Contains(t, reason, path)
	assert.Contains(t, reason, "another process has locked the file")
	assert.False(t, s.Complete())
	_, err := s.UserByName(t.Context(), "alice")
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)

	release()
	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(key.Digest))
	storetest.Logged(t, logs, "available again")
	assert.Equal(t, 1, logs.FilterMessageSnippet("not available").Len(), "the outage is logged once")
}

func TestOneWhoWritesForLongStopsNoOneWhoReads(t *testing.T) {
	path, key := filled(t)
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path, pragmas: impatient})
	storetest.Current(t, s)
	release := lockOut(t, path, `BEGIN IMMEDIATE`, `UPDATE gateway_state SET revision = revision`)
	err := s.DeleteKey(t.Context(), aigateway.AnyUser, key.ID)
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	assert.ErrorContains(t, err, "another process has locked the file")
	assert.NotNil(t, s.Lookup(key.Digest))
	storetest.Current(t, s)
	_, err = s.UserByName(t.Context(), "alice")
	assert.NoError(t, err)
	assert.Contains(t, storetest.Logged(t, logs, "cannot be written"), "another process has locked the file")

	release()
	require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, key.ID))
	assert.Nil(t, s.Lookup(key.Digest))
	storetest.Logged(t, logs, "can be written again")
}

func TestDamagedFileIsNamedAndLeftAlone(t *testing.T) {
	path, _ := filled(t)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	damaged := bytes.Clone(whole)
	for i := 100; i < len(damaged); i++ {
		damaged[i] = 0xee // the header stays valid
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"not a database":     {[]byte(strings.Repeat("these are not the users you are looking for\n", 100)), "not a database"},
		"damaged":            {damaged, "damaged"},
		"cut":                {whole[:len(whole)/2], "damaged"},
		"of another program": {foreign(t), "another program"},
		"of a newer gateway": {newer(t), "newer gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gateway.db")
			require.NoError(t, os.WriteFile(path, c.content, 0o600))
			s, logs := storetest.Observed(t, &file{schema: accounts, path: path})
			reason := storetest.Logged(t, logs, "not available")
			assert.Contains(t, reason, c.want)
			assert.Contains(t, reason, path)
			err := s.CreateUser(t.Context(), &aigateway.User{Name: "mallory"})
			assert.ErrorIs(t, err, aigateway.ErrUnavailable)
			assert.False(t, s.Complete())
			require.NoError(t, s.Close())
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(c.content, after), "the file was written")
			assert.Equal(t, 1, logs.FilterMessageSnippet("not available").Len(), "%v", logs.All())
		})
	}
}

// foreign returns the content of a database of another program.
func foreign(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "recipes.db")
	lockOut(t, path, `CREATE TABLE recipes (name TEXT)`)()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

// newer returns the content of a database of a newer gateway.
func newer(t *testing.T) []byte {
	path, _ := filled(t)
	lockOut(t, path, `UPDATE gateway_state SET version = 99`)()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

func TestDamageWhileRunningKeepsKnownKeysAndIsOverWithTheCopyBack(t *testing.T) {
	t.Parallel()
	path, key := filled(t)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path})
	storetest.Current(t, s)

	replace(t, path, []byte(strings.Repeat("damage", 1000)))
	assert.Contains(t, storetest.Logged(t, logs, "not available"), "damaged")
	assert.NotNil(t, s.Lookup(key.Digest))
	require.Eventually(t, func() bool { return !s.Complete() }, patience, tick)

	replace(t, path, good)
	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(key.Digest))
	require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, key.ID))
}

// A copy of the database with the same revision once counted as unchanged, so that keys
// that it does not contain stayed valid.
func TestAnotherCopyIsReadAnewWhateverItsRevision(t *testing.T) {
	t.Parallel()
	path, key := filled(t)
	other, _ := filled(t)
	lockOut(t, other, `DELETE FROM gateway_keys`)() // changes no revision
	copied, err := os.ReadFile(other)
	require.NoError(t, err)
	s, _ := storetest.Observed(t, &file{schema: accounts, path: path})
	storetest.Current(t, s)
	require.NotNil(t, s.Lookup(key.Digest))

	replace(t, path, copied)
	require.Eventually(t, func() bool { return s.Lookup(key.Digest) == nil }, patience, tick)
}

// replace replaces a file by a new file with this content.
func replace(t *testing.T, path string, content []byte) {
	require.NoError(t, os.WriteFile(path+".new", content, 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

// Ensures that a disk that vanishes does not revoke all keys: the store must not create
// an empty database in its place.
func TestFileThatVanishesIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	path, key := filled(t)
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path})
	storetest.Current(t, s)
	require.NoError(t, os.Rename(path, path+".away"))
	assert.Contains(t, storetest.Logged(t, logs, "not available"), path)
	assert.NoFileExists(t, path)
	assert.NotNil(t, s.Lookup(key.Digest))
	// Unknown keys once still counted as invalid for two seconds.
	assert.False(t, s.Complete(), "the last check has failed")
	require.NoError(t, os.Rename(path+".away", path))
	storetest.Current(t, s)
}

func TestFileInAnImpossiblePlaceIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	s, _ := storetest.Observed(t, &file{schema: accounts, path: filepath.Join(path, "gateway.db")})
	_, err := s.User(t.Context(), 1)
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	assert.ErrorContains(t, err, path)
}

func TestReadOnlyFileServesKnownKeysAndIsLogged(t *testing.T) {
	path, key := filled(t)
	// A file mode would not stop a test that runs as root.
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path, pragmas: []string{"query_only(1)"}})
	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(key.Digest))
	err := s.CreateUser(t.Context(), &aigateway.User{Name: "bob"})
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	assert.ErrorContains(t, err, "read-only")
	assert.Contains(t, storetest.Logged(t, logs, "cannot be written"), "read-only")
	storetest.Current(t, s)
}

func TestFullDiskLosesNothingAndIsOverWhenThereIsRoom(t *testing.T) {
	path, key := filled(t)
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path, pragmas: []string{"max_page_count(60)"}})
	var made []*aigateway.User
	var err error
	for i := 0; err == nil; i++ {
		require.Less(t, i, 1000, "the disk is never full")
		user := &aigateway.User{Name: fmt.Sprintf("user-%d", i), DisplayName: strings.Repeat("x", 4000)}
		if err = s.CreateUser(t.Context(), user); err == nil {
			made = append(made, user)
		}
	}
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	assert.ErrorContains(t, err, "the disk is full")
	assert.Contains(t, storetest.Logged(t, logs, "cannot be written"), "the disk is full")
	assert.NotNil(t, s.Lookup(key.Digest))
	storetest.Current(t, s)
	_, total, err := s.Users(t.Context(), aigateway.Page{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, len(made)+1, total)

	for _, user := range made[:5] {
		require.NoError(t, s.DeleteUser(t.Context(), user.ID, func(*aigateway.User) error { return nil }))
	}
	require.NoError(t, s.CreateUser(t.Context(), &aigateway.User{Name: "bob"}))
	storetest.Logged(t, logs, "can be written again")
}

func TestFileIsForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "gateway.db")
	s := databaseAt(path).Open(t)
	storetest.NewUser(t, s, "alice", aigateway.RoleUser)
	folder, err := os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), folder.Mode().Perm())
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	assert.Len(t, files, 3, "the database, its write-ahead log and the index of the log")
	for _, name := range files {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}

// A file that existed before once kept its mode without a warning.
func TestFileThatOthersMayReadIsLoggedOnce(t *testing.T) {
	t.Parallel()
	path, _ := filled(t)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o640))
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path})
	storetest.Current(t, s)
	warnings := logs.FilterMessage("store needs attention").All()
	require.Len(t, warnings, 1)
	assert.Equal(t, zapcore.WarnLevel, warnings[0].Level)
	assert.Contains(t, warnings[0].ContextMap()["reason"], "other users of this machine can open "+path+": its mode is 0640")

	require.NoError(t, os.WriteFile(path+".new", content, 0o600))
	require.NoError(t, os.Chmod(path+".new", 0o640))
	lockOut(t, path+".new", `INSERT INTO gateway_users (name, display_name, role, disabled, password, created, last_login)
		VALUES ('bob', '', 1, 0, '', 0, 0)`)()
	require.NoError(t, os.Rename(path+".new", path))
	require.Eventually(t, func() bool {
		_, err := s.UserByName(t.Context(), "bob")
		return err == nil
	}, patience, tick)
	assert.Equal(t, 1, logs.FilterMessage("store needs attention").Len(), "a new connection does not repeat the warning")

	path, _ = filled(t)
	s, logs = storetest.Observed(t, &file{schema: accounts, path: path})
	storetest.Current(t, s)
	assert.Empty(t, logs.All())
}

func TestCallerThatLeavesIsNoOutage(t *testing.T) {
	path, _ := filled(t)
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path})
	storetest.Current(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Error(t, s.CreateUser(ctx, &aigateway.User{Name: "bob"}))
	assert.Empty(t, logs.All())
}
