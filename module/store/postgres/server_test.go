package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func nop() *zap.Logger { return zap.NewNop() }

// at returns the database of a DSN.
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
	storetest.Run(t, func(t testing.TB) storetest.Database { return at(t, cluster.EmptyDatabase(t)) })
	for claim, run := range map[string]func(*testing.T, *fixture){
		"polling finds changes without notifications":        pollingAloneIsEnough,
		"other gateways are notified of changes":             othersAreNotified,
		"a store waits for a server that is down at start":   downAtStart,
		"a server that restarts loses no change":             stoppedAndStarted,
		"a connection that breaks during a query is renewed": cutInMidQuery,
		"calls to a slow server fail after seconds":          slowServer,
		"a writer that vanished does not block others":       vanishedWriter,
		"the first gateway migrates an older schema":         olderSchema,
		"a newer schema is not changed":                      newerSchema,
		"the reason of a refused login has no names":         refusedLogin,
		"keys of a read-only server are valid":               readOnlyServer,
	} {
		t.Run(claim, func(t *testing.T) { run(t, newFixture(t, cluster)) })
	}
}
