package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestOlderSchemaIsCopiedAndMigratedByWhoeverIsFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.db")
	digest := storetest.MakeOlder(t, &file{schema: accounts, path: path})
	storetest.Migrated(t, databaseAt(path), digest)

	copies, err := filepath.Glob(path + ".v1-*.bak")
	require.NoError(t, err)
	require.Len(t, copies, 1, "concurrent stores make one backup")
	info, err := os.Stat(copies[0])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	restored := filepath.Join(t.TempDir(), "restored.db")
	require.NoError(t, os.Rename(copies[0], restored))
	db, err := (&file{schema: accounts, path: restored}).Connect(t.Context())
	require.NoError(t, err)
	var version int
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT version FROM gateway_state`).Scan(&version))
	assert.Equal(t, 1, version)
	require.NoError(t, db.Close())
	storetest.Migrated(t, databaseAt(restored), digest)
}

// Ensures that the schema is not migrated if the backup fails.
func TestNoCopyNoMigration(t *testing.T) {
	// The name of the backup is longer than file systems allow.
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 240))
	digest := storetest.MakeOlder(t, &file{schema: accounts, path: path})
	s, logs := storetest.Observed(t, &file{schema: accounts, path: path})
	assert.Contains(t, storetest.Logged(t, logs, "not available"), "copying the database before the migration")
	_, err := s.User(t.Context(), 1)
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	require.NoError(t, s.Close())
	assert.Len(t, logs.All(), 1, "the reason is the same in each attempt")

	shorter := filepath.Join(t.TempDir(), "gateway.db")
	require.NoError(t, os.Rename(path, shorter))
	storetest.Migrated(t, databaseAt(shorter), digest)
}
