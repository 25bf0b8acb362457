package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// storeAt returns the store of a path, which the test closes at its end.
func storeAt(t *testing.T, path string) *SQLite {
	s, closeStore := openAt(t, path)
	t.Cleanup(closeStore)
	return s
}

// openAt returns the store of a path, and a function that closes it.
func openAt(t *testing.T, path string) (s *SQLite, closeStore func()) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	s = &SQLite{Path: path}
	require.NoError(t, s.Provision(ctx))
	return s, func() {
		cancel()
		assert.NoError(t, s.Cleanup())
	}
}

// requestsOf returns the ids of the requests in a ledger.
func requestsOf(t *testing.T, l accounting.Ledger) map[string]int {
	require.NoError(t, l.Settled(t.Context()))
	counts := make(map[string]int)
	query := accounting.RecordQuery{Limit: 1000}
	for more := true; more; more = query.Before > 0 {
		page, err := l.Records(t.Context(), query)
		require.NoError(t, err)
		for _, r := range page.Records {
			counts[r.Request]++
		}
		query.Before = page.Before
	}
	return counts
}

// A copy of the database of users left out the usage, and one of the ledger's database left
// out what only the journal had.
func TestABackupHasWhatHadEndedOnce(t *testing.T) {
	source, folder := storeAt(t, filepath.Join(t.TempDir(), "gateway.db")), filepath.Join(t.TempDir(), "backup")
	key := storetest.NewKey(t, source.Store, storetest.NewUser(t, source.Store, "alice", aigateway.RoleUser).ID, "laptop")
	l, err := source.OpenLedger(accounting.LedgerOptions{})
	require.NoError(t, err)
	ended, done := make(chan struct{}), make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				r := &accounting.Record{Request: fmt.Sprintf("%d-%d", w, i), Key: "key_1", Model: "m", Operation: "generate", Format: "chat", Outcome: "answered"}
				assert.NoError(t, l.Begin(r))
				l.End(r)
				if w == 0 && i == 500 {
					close(ended)
				}
			}
		})
	}
	<-ended
	require.NoError(t, l.Settled(t.Context())) // on a busy machine, the first record may be without its database still
	require.NoError(t, source.Backup(t.Context(), accounting.LedgerOptions{}, folder))
	close(done)
	writers.Wait()
	require.NoError(t, l.Release())

	for _, name := range []string{"", "store.db", "ledger.db", "gateway-journal"} {
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, "only the owner can read %s", name)
	}
	target := storeAt(t, filepath.Join(t.TempDir(), "sub", "other.db"))
	kept, err := target.Restore(t.Context(), accounting.LedgerOptions{}, folder, false)
	require.NoError(t, err)
	assert.Empty(t, kept)
	stored, err := target.Key(t.Context(), aigateway.AnyUser, key.ID)
	require.NoError(t, err)
	assert.Equal(t, key.Digest, stored.Digest)
	// A new key got the id of one that was created after the backup, if the store was young.
	assert.Equal(t, key.ID+lostKeys+1, storetest.NewKey(t, target.Store, stored.UserID, "new").ID)
	restored, err := target.OpenLedger(accounting.LedgerOptions{})
	require.NoError(t, err)
	requests := requestsOf(t, restored)
	for i := range 500 {
		assert.Equal(t, 1, requests[fmt.Sprintf("0-%d", i)], "request %d had ended before", i)
	}
	for request, n := range requests {
		assert.Equal(t, 1, n, request)
	}
	require.NoError(t, restored.Release())
}

func TestARestoreKeepsWhatItReplaces(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "backup")
	s, closeStore := openAt(t, filepath.Join(t.TempDir(), "gateway.db"))
	storetest.NewUser(t, s.Store, "alice", aigateway.RoleUser)
	l, err := s.OpenLedger(accounting.LedgerOptions{})
	require.NoError(t, err)
	require.NoError(t, l.Settled(t.Context()))
	require.NoError(t, s.Backup(t.Context(), accounting.LedgerOptions{}, folder))
	assert.ErrorContains(t, s.Backup(t.Context(), accounting.LedgerOptions{}, folder), "is not empty")

	_, err = s.Restore(t.Context(), accounting.LedgerOptions{}, folder, true)
	assert.ErrorContains(t, err, "stop the gateway first")
	require.NoError(t, l.Release())
	closeStore()
	s = storeAt(t, s.Path)
	_, err = s.Restore(t.Context(), accounting.LedgerOptions{}, folder, false)
	assert.ErrorContains(t, err, "gateway-journal exists: --force replaces")
	kept, err := s.Restore(t.Context(), accounting.LedgerOptions{}, folder, true)
	require.NoError(t, err)
	for _, name := range []string{s.Path, s.records, s.journal} {
		for _, path := range []string{name, name + kept} {
			_, err := os.Stat(path)
			assert.NoError(t, err)
		}
	}
}

// A gateway makes its database at its first start, and then its tables. A backup in between was called
// damaged when it was to be restored.
func TestABackupOfALedgerWithoutTablesCanBeRestored(t *testing.T) {
	source, folder := storeAt(t, filepath.Join(t.TempDir(), "gateway.db")), filepath.Join(t.TempDir(), "backup")
	key := storetest.NewKey(t, source.Store, storetest.NewUser(t, source.Store, "alice", aigateway.RoleUser).ID, "laptop")
	require.NoError(t, os.WriteFile(source.records, nil, 0o600)) // a database without tables
	require.NoError(t, source.Backup(t.Context(), accounting.LedgerOptions{}, folder))
	assert.NoFileExists(t, filepath.Join(folder, backupRecords))
	target := storeAt(t, filepath.Join(t.TempDir(), "other.db"))
	_, err := target.Restore(t.Context(), accounting.LedgerOptions{}, folder, false)
	require.NoError(t, err)
	stored, err := target.Key(t.Context(), aigateway.AnyUser, key.ID)
	require.NoError(t, err)
	assert.Equal(t, key.Digest, stored.Digest)

	other, early := storeAt(t, filepath.Join(t.TempDir(), "gateway.db")), filepath.Join(t.TempDir(), "early")
	require.NoError(t, os.WriteFile(other.Path, nil, 0o600))
	assert.ErrorContains(t, other.Backup(t.Context(), accounting.LedgerOptions{}, early), "it lacks the table")
}

// A backup that was interrupted has no description, and half a backup is none.
func TestHalfABackupIsRefused(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "backup")
	s := storeAt(t, filepath.Join(t.TempDir(), "gateway.db"))
	assert.Error(t, s.Backup(t.Context(), accounting.LedgerOptions{}, folder), "there is no database yet")
	storetest.NewUser(t, s.Store, "alice", aigateway.RoleUser)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	other := filepath.Join(t.TempDir(), "other")
	require.Error(t, s.Backup(cancelled, accounting.LedgerOptions{}, other))
	_, err := s.Restore(t.Context(), accounting.LedgerOptions{}, other, true)
	assert.ErrorContains(t, err, "is not a whole backup")

	// A backup that had lost a file once moved the present files away, and failed then.
	require.NoError(t, os.WriteFile(filepath.Join(other, backupAccounts), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(other), "x"), 0o700))
	for content, lacks := range map[string]string{
		`{"ledger":true}`:            backupRecords,
		`{"journals":["../x"]}`:      "../x", // it exists, but outside
		`{"journals":["journal-2"]}`: "journal-2",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(other, backupContents), []byte(content), 0o600))
		_, err = s.Restore(t.Context(), accounting.LedgerOptions{}, other, true)
		assert.ErrorContains(t, err, fmt.Sprintf("it lacks %q", lacks))
		assert.FileExists(t, s.Path)
	}
}

// A damaged description, such as one that an editor or a full disk has left empty, made a restore that took
// the ledger away and put no other in its place.
func TestTheDescriptionOfABackupNamesWhatItContains(t *testing.T) {
	s, folder := newBackup(t)
	for content, fails := range map[string]string{
		`{}`: "does not describe a whole backup", `null`: "does not describe a whole backup",
		`{"made":"2026-12-01T00:00:00Z","files":{}}`:                             "does not describe a whole backup",
		`{"made":"2026-12-01T00:00:00Z","files":{"ledger.db":"0"}}`:              "does not describe a whole backup",
		`{"made":"2026-12-01T00:00:00Z","ledger":true,"files":{"store.db":"0"}}`: "does not describe a whole backup",
		`{"made":"2026-12-01T00:00:00Z","ledger":false}`:                         "does not describe ledger.db, which is in the folder",
		`{"made":"2026-12-01T00:00:00Z","journals":[],"files":{"store.db":"0"}}`: "does not describe ledger.db, which is in the folder",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, backupContents), []byte(content), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(folder, backupRecords), nil, 0o600))
		_, err := s.Restore(t.Context(), accounting.LedgerOptions{}, folder, true)
		assert.ErrorContains(t, err, fails, content)
		assert.FileExists(t, s.Path)
	}
}

// Without a ledger, there is no journal whose lock shows that a gateway runs: a restore took
// the files of a running gateway away.
func TestTheStoreOfARunningGatewayIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := storeAt(t, filepath.Join(t.TempDir(), "gateway.db"))
	storetest.NewUser(t, s.Store, "alice", aigateway.RoleUser)
	folder := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, s.Backup(t.Context(), accounting.LedgerOptions{}, folder))
	_, err := s.Restore(t.Context(), accounting.LedgerOptions{}, folder, true)
	assert.ErrorContains(t, err, "another process uses the store: stop the gateway first")
}
