package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/storetest"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

func nop() *zap.Logger { return zap.NewNop() }

// at is the database of a DSN.
func at(t testing.TB, dsn string) storetest.Database {
	return func() database.Backend {
		s, err := newServer(accounts, aigateway.Secret(dsn))
		require.NoError(t, err)
		return s
	}
}

func TestPostgreSQL(t *testing.T) {
	cluster, ok := storetest.Postgres(t)
	if !ok {
		return
	}
	storetest.Run(t, func(t testing.TB) storetest.Database { return at(t, cluster.NewDatabase(t)) })
	for claim, run := range map[string]func(*testing.T, *fixture){
		"polling alone is enough":                            pollingAloneIsEnough,
		"changes are told to others":                         changesAreToldToOthers,
		"a server that is down at the start is waited for":   downAtStart,
		"a server that is started anew loses nothing":        stoppedAndStarted,
		"a connection that is cut in mid-query is made anew": cutInMidQuery,
		"a slow server is given up after seconds":            slowServer,
		"a writer that vanished is not waited for":           vanishedWriter,
		"an older schema is migrated by whoever is first":    olderSchema,
		"a newer schema is left alone":                       newerSchema,
		"a refused login is said without names":              refusedLogin,
		"a server that is read-only serves what it has":      readOnlyServer,
	} {
		t.Run(claim, func(t *testing.T) { run(t, newFixture(t, cluster)) })
	}
}
