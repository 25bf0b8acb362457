package storetest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// MakeOlder creates a database with the first version of the schema, a user, a session
// and a key, and returns the digest of the key.
func MakeOlder(t testing.TB, backend database.Backend) aigateway.Digest {
	t.Helper()
	script, err := fs.ReadFile(backend.Dialect().Migrations, "0001_accounts.sql")
	require.NoError(t, err)
	digest, literal := sha256.Sum256([]byte("old")), "X'%x'"
	if backend.Dialect().Bind == nil {
		literal = `'\x%x'`
	}
	literal = fmt.Sprintf(literal, digest)
	db, err := backend.Connect(t.Context())
	require.NoError(t, err)
	for _, statement := range []string{
		string(script),
		`UPDATE gateway_state SET version = 1, revision = 7`,
		`INSERT INTO gateway_users (name, display_name, role, disabled, password, created, last_login)
			VALUES ('alice', 'Alice', 100, false, 'hash', 1700000000000, 0)`,
		`INSERT INTO gateway_sessions (user_id, digest, created, expires, address, agent)
			VALUES (1, ` + literal + `, 1700000000000, 4102444800000, '', '')`,
		`INSERT INTO gateway_keys (user_id, name, folded, hint, digest, models, disabled, created, expires)
			VALUES (1, 'Old', 'old', 'sk-', ` + literal + `, '["claude-*"]', false, 1700000000000, 0)`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	require.NoError(t, db.Close())
	return digest
}

// Migrated opens a database of MakeOlder from several stores at once, and checks that
// nothing is lost.
func Migrated(t testing.TB, database Database, digest aigateway.Digest) {
	t.Helper()
	stores := make([]*store.Store, 4)
	var wg sync.WaitGroup
	for i := range stores {
		stores[i] = store.New(database(), zap.NewNop)
		wg.Go(func() {
			user, err := stores[i].UserByName(t.Context(), "alice")
			if assert.NoError(t, err) {
				assert.Equal(t, aigateway.RoleRoot, user.Role)
			}
		})
	}
	wg.Wait()
	for _, s := range stores {
		s.Open()
		Current(t, s)
		key := lookup(t, s, digest)
		assert.Equal(t, &aigateway.Key{ID: "key_1", Digest: digest, Owner: "alice", Models: []aigateway.Pattern{"claude-*"}}, key)
		_, _, err := s.Session(t.Context(), digest)
		assert.NoError(t, err)
		require.NoError(t, s.Close())
	}
}
