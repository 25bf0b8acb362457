package sqlite

import (
	"database/sql"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// A backup with half of its ledger was put in the place of a healthy one, with the message that it
// was restored. With half of its store, the restore failed after the healthy files were moved away.
func TestADamagedBackupChangesNothing(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "backup")
	s, closeStore := openAt(t, filepath.Join(t.TempDir(), "gateway.db"))
	key := storetest.NewKey(t, s.Store, storetest.NewUser(t, s.Store, "alice", aigateway.RoleUser).ID, "laptop")
	l, err := s.OpenLedger(accounting.LedgerOptions{})
	require.NoError(t, err)
	for range 100 {
		r := &accounting.Record{Key: "key_1", Model: "m", Operation: "generate", Format: "chat", Outcome: "answered"}
		require.NoError(t, l.Begin(r))
		l.End(r)
	}
	require.NoError(t, l.Settled(t.Context()))
	require.NoError(t, s.Backup(t.Context(), accounting.LedgerOptions{}, whole))
	require.NoError(t, l.Release())
	closeStore()
	before, err := digests(filepath.Dir(s.Path))
	require.NoError(t, err)

	half := func(content []byte) []byte { return content[:len(content)/2] }
	garbage := func(content []byte) []byte { return slices.Repeat([]byte("garbage "), len(content)/8+1)[:len(content)] }
	oneByte := func(content []byte) []byte { content[len(content)/2] ^= 1; return content }
	nothing := func([]byte) []byte { return nil }
	segments, err := filepath.Glob(filepath.Join(whole, "*", "*.journal"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	segment, err := filepath.Rel(whole, segments[0])
	require.NoError(t, err)
	for name, damage := range map[string]struct {
		file    string
		change  func([]byte) []byte // nil: the file is missing
		earlier bool                // also found in a backup without digests
	}{
		"half a ledger":                {backupRecords, half, true},
		"a ledger of garbage":          {backupRecords, garbage, true},
		"an empty ledger":              {backupRecords, nothing, true},
		"half a store":                 {backupAccounts, half, true},
		"a store of garbage":           {backupAccounts, garbage, true},
		"an empty store":               {backupAccounts, nothing, true},
		"a byte of the store":          {backupAccounts, oneByte, false},
		"a journal of garbage":         {segment, garbage, true},
		"half a journal":               {segment, half, false},
		"a byte of the journal":        {segment, oneByte, false},
		"a journal without a segment":  {segment, nil, false},
		"a journal without a name":     {filepath.Join(filepath.Dir(segment), "identity"), nil, false},
		"the store in place of ledger": {backupRecords, func([]byte) []byte { content, _ := os.ReadFile(filepath.Join(whole, backupAccounts)); return content }, true},
	} {
		for _, withDigests := range []bool{true, false} {
			if !withDigests && !damage.earlier {
				continue
			}
			folder := filepath.Join(t.TempDir(), "damaged")
			require.NoError(t, os.CopyFS(folder, os.DirFS(whole)))
			path := filepath.Join(folder, damage.file)
			if content, err := os.ReadFile(path); damage.change != nil {
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path, damage.change(content), 0o600))
			} else {
				require.NoError(t, os.Remove(path))
			}
			if !withDigests {
				withoutDigests(t, folder)
			}
			kept, err := s.Restore(t.Context(), accounting.LedgerOptions{}, folder, true)
			assert.ErrorContains(t, err, "the backup is damaged, and nothing was changed: use another one: ", name)
			assert.Empty(t, kept, name)
			after, err := digests(filepath.Dir(s.Path))
			require.NoError(t, err)
			assert.Equal(t, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)), name)
		}
	}

	// Two restores within a second keep what they replace under different names.
	names := map[string]bool{}
	for range 3 {
		kept, err := s.Restore(t.Context(), accounting.LedgerOptions{}, whole, true)
		require.NoError(t, err)
		names[kept] = true
	}
	assert.Len(t, names, 3)
	reopened := storeAt(t, s.Path)
	reopened.Open()
	<-reopened.Opened()
	assert.NotNil(t, reopened.Lookup(key.Digest))
}

// newBackup returns a store that is closed, and the folder with its backup.
func newBackup(t *testing.T) (s *SQLite, folder string) {
	folder = filepath.Join(t.TempDir(), "backup")
	s, closeStore := openAt(t, filepath.Join(t.TempDir(), "gateway.db"))
	storetest.NewUser(t, s.Store, "alice", aigateway.RoleUser)
	require.NoError(t, s.Backup(t.Context(), accounting.LedgerOptions{}, folder))
	closeStore()
	return s, folder
}

// withoutDigests makes a backup one of an earlier version.
func withoutDigests(t *testing.T, folder string) {
	described, err := readBackup(folder)
	require.NoError(t, err)
	described.Files = nil
	text, err := json.Marshal(described)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, backupContents), text, 0o600))
}

// What fails after the present files are moved puts them back.
func TestARestoreThatFailsPutsBackWhatItMoved(t *testing.T) {
	s, folder := newBackup(t)
	withoutDigests(t, folder)
	db, err := sql.Open("sqlite", filepath.Join(folder, backupAccounts))
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TRIGGER fails BEFORE UPDATE ON gateway_state BEGIN SELECT RAISE(ABORT, 'for the test'); END`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	before, err := os.ReadFile(s.Path)
	require.NoError(t, err)
	kept, err := s.Restore(t.Context(), accounting.LedgerOptions{}, folder, true)
	assert.ErrorContains(t, err, "for the test")
	assert.Empty(t, kept)
	after, err := os.ReadFile(s.Path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	left, err := filepath.Glob(s.Path + "*replaced*")
	require.NoError(t, err)
	assert.Empty(t, left)
}
