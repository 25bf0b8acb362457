package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// Without HOME, Caddy's data directory is relative. The store worked, and the ledger refused its
// own default: no usage was recorded, and each request of a key with a budget got 503, while the
// gateway was ready.
func TestTheDefaultsAreAbsoluteInEachEnvironment(t *testing.T) {
	for _, environment := range []map[string]string{
		{"HOME": "", "XDG_DATA_HOME": ""}, {"HOME": "", "XDG_DATA_HOME": "data"}, {"HOME": "home", "XDG_DATA_HOME": ""}, {"HOME": "/", "XDG_DATA_HOME": "./../here"},
	} {
		t.Chdir(t.TempDir())
		for name, value := range environment {
			t.Setenv(name, value)
		}
		ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
		s := new(SQLite)
		require.NoError(t, s.Provision(ctx))
		assert.True(t, filepath.IsAbs(s.records) && filepath.IsAbs(s.journal), "%v: %s", environment, s.journal)
		l, err := s.OpenLedger(accounting.LedgerOptions{})
		require.NoError(t, err, environment)
		r := &accounting.Record{Key: "k"}
		require.NoError(t, l.Begin(r))
		l.End(r)
		require.NoError(t, l.Release())
		cancel()
		require.NoError(t, s.Cleanup())
	}
}
