package sqlite

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// databaseAt returns the database in a file.
func databaseAt(path string) storetest.Database {
	return func() database.Backend { return &file{schema: accounts, path: path} }
}

// newFile returns a database that does not wait for the disk. With a slow disk, the last
// of many concurrent writers would exceed the timeout.
func newFile(t testing.TB) storetest.Database {
	path := filepath.Join(t.TempDir(), "it's 100% new?", "gateway#1.db")
	return func() database.Backend {
		return &file{schema: accounts, path: path, pragmas: []string{"synchronous(OFF)"}}
	}
}

func TestSQLiteKeepsWhatAStorePromises(t *testing.T) { storetest.Run(t, newFile) }

// Processes that created the same file at once all had to lock it for write-ahead logging,
// for which SQLite does not wait: the first change of some failed, because the file was
// locked.
func TestProcessesThatStartAtOnceCreateOneFile(t *testing.T) {
	for range 100 {
		database := newFile(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				db, err := database().Connect(t.Context())
				if assert.NoError(t, err) {
					assert.NoError(t, db.Close())
				}
			})
		}
		all.Wait()
	}
}

// SQLite ignores a setting whose name is wrong.
func TestConnectionsHaveTheirSettings(t *testing.T) {
	db, err := databaseAt(filepath.Join(t.TempDir(), "gateway.db"))().Connect(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	for setting, want := range map[string]int{"busy_timeout": 3000, "foreign_keys": 1, "synchronous": 2, "cache_size": -512} {
		var got int
		require.NoError(t, db.QueryRowContext(t.Context(), `PRAGMA `+setting).Scan(&got), setting)
		assert.Equal(t, want, got, setting)
	}
}
