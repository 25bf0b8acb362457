package postgres

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func nop() *zap.Logger { return zap.NewNop() }

// databaseAt returns the database of a DSN.
func databaseAt(t testing.TB, dsn string) storetest.Database {
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
	storetest.Run(t, func(t testing.TB) storetest.Database { return databaseAt(t, cluster.EmptyDatabase(t)) })
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
		"a server is read-only for a while":                  readOnlyForAWhile,
	} {
		t.Run(claim, func(t *testing.T) { run(t, newFixture(t, cluster)) })
	}
}

// A DSN names the hosts of a cluster, and the first one has become a standby.
func TestTheHostThatCanBeWrittenIsPreferred(t *testing.T) {
	for dsn, prefers := range map[string]bool{
		"host=a,b user=u dbname=d": true, "host=a,a port=1,2 user=u dbname=d": true, "postgres://u@a,b/d?sslmode=require": true,
		"host=a user=u dbname=d": false, "host=a user=u dbname=d sslmode=prefer": false, "host=a,b user=u dbname=d target_session_attrs=standby": false,
	} {
		s, err := newServer(accounts, aigateway.Secret(dsn))
		require.NoError(t, err)
		_, preferring := s.connector().(preferring)
		assert.Equal(t, prefers, preferring, dsn)
	}
}
