package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/storetest"
)

// at is the database in a file.
func at(path string) storetest.Database {
	return func() store.Backend { return &file{path: path} }
}

func newFile(t testing.TB) storetest.Database {
	return at(filepath.Join(t.TempDir(), "it's 100% new?", "gateway#1.db"))
}

func TestSQLiteKeepsWhatAStorePromises(t *testing.T) { storetest.Run(t, newFile) }
