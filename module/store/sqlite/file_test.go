package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/storetest"
)

// at returns the database in a file.
func at(path string) storetest.Database {
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
