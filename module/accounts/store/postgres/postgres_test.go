package postgres

import (
	"encoding/json"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	canary = "pw-canary-77f3"
	dsn    = "postgres://gateway:" + canary + "@db.example:5432/gateway"
)

func TestCaddyfile(t *testing.T) {
	for input, want := range map[string]string{
		"postgres {env.DATABASE_URL}":                   `{"dsn":"{env.DATABASE_URL}"}`,
		"postgres {file./run/secrets/dsn}":              `{"dsn":"{file./run/secrets/dsn}"}`,
		"postgres":                                      "one argument",
		"postgres {env.A} {env.B}":                      "one argument",
		"postgres " + dsn:                               "dsn: a secret is {env.NAME}",
		"postgres {env.DATABASE_URL} {\n\tpool 3\n}":    "no block",
		"postgres user=gateway password=" + canary + "": "one argument",
	} {
		var p Postgres
		err := p.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input))
		if err != nil {
			assert.ErrorContains(t, err, want, input)
			assert.NotContains(t, err.Error(), canary)
			continue
		}
		got, err := json.Marshal(p)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), input)
	}
}

// provision provisions a store, and cleans it up when the test ends.
func provision(t *testing.T, reference string) (*Postgres, error) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	p := &Postgres{DSN: reference}
	t.Cleanup(func() { assert.NoError(t, p.Cleanup()) })
	return p, p.Provision(ctx)
}

func TestProvisionConnectsToNothingAndSharesByValue(t *testing.T) {
	t.Setenv("ONE_DSN", dsn)
	t.Setenv("SAME_DSN", dsn)
	t.Setenv("OTHER_DSN", dsn+"2")
	one, err := provision(t, "{env.ONE_DSN}")
	require.NoError(t, err)
	same, err := provision(t, "{env.SAME_DSN}")
	require.NoError(t, err)
	other, err := provision(t, "{env.OTHER_DSN}")
	require.NoError(t, err)
	assert.Same(t, one.Store, same.Store)
	assert.NotSame(t, one.Store, other.Store)
	assert.False(t, one.Complete())
}

func TestProvisionErrorsHideTheDSN(t *testing.T) {
	t.Setenv("BAD_DSN", "postgres://gateway:"+canary+"@db.example:port/gateway")
	t.Setenv("EMPTY_DSN", "")
	for reference, want := range map[string]string{
		"{env.BAD_DSN}":   "neither a postgres:// URL nor a list",
		"{env.EMPTY_DSN}": "empty",
		dsn:               "dsn: a secret is {env.NAME}",
		"":                "dsn: a secret is {env.NAME}",
	} {
		_, err := provision(t, reference)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), canary)
	}
}
