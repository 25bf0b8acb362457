package sqlite

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestCaddyfile(t *testing.T) {
	for input, want := range map[string]string{
		"sqlite":                  `{}`,
		"sqlite /srv/gateway.db":  `{"path":"/srv/gateway.db"}`,
		"sqlite {env.HOME}/g.db":  `{"path":"{env.HOME}/g.db"}`,
		"sqlite a b":              "at most one argument",
		"sqlite a {\n\twal on\n}": "no block",
	} {
		var s SQLite
		err := s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input))
		if err != nil {
			assert.ErrorContains(t, err, want, input)
			continue
		}
		got, err := json.Marshal(s)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), input)
	}
}

// provisioned returns the store of a configuration that ends with the test.
func provisioned(t *testing.T, s *SQLite) *SQLite {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	require.NoError(t, s.Provision(ctx))
	return s
}

func TestStoreOutlivesAReload(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("GATEWAY_TEST_DATA", caddy.AppDataDir())
	path := filepath.Join(caddy.AppDataDir(), "ai_gateway", "gateway.db")
	before := provisioned(t, new(SQLite))
	assert.NoDirExists(t, filepath.Dir(path), "checking a configuration creates nothing")
	before.Open()
	storetest.Current(t, before.Store)
	assert.FileExists(t, path)
	key := storetest.NewKey(t, before, storetest.NewUser(t, before, "alice", aigateway.RoleUser).ID, "laptop")

	after := provisioned(t, &SQLite{Path: "{env.GATEWAY_TEST_DATA}/ai_gateway/gateway.db"})
	assert.Same(t, before.Store, after.Store)
	require.NoError(t, before.Cleanup())
	after.Open()
	assert.True(t, after.Complete(), "the reload did not close the store")
	assert.NotNil(t, after.Lookup(key.Digest))

	require.NoError(t, after.Cleanup())
	_, err := after.UserByName(t.Context(), "alice")
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
}

// A command that was started in another directory than Caddy had another store, which it
// created without users.
func TestARelativePathIsRefused(t *testing.T) {
	t.Setenv("GATEWAY_TEST_DATA", "data")
	for _, path := range []string{"gateway.db", "./gateway.db", "{env.GATEWAY_TEST_DATA}/gateway.db"} {
		s := SQLite{Path: path}
		assert.EqualError(t, s.Provision(caddy.ActiveContext()), "store sqlite: path: must be absolute", path)
	}
}

func TestUnknownPlaceholderInThePathIsRefused(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	s := SQLite{Path: "{nothing.known}/gateway.db"}
	assert.ErrorContains(t, s.Provision(ctx), "path")
	assert.NoError(t, s.Cleanup())
}
