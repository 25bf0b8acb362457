package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/storetest"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

// at is the database of a DSN.
func at(t testing.TB, dsn string) storetest.Database {
	return func() store.Backend {
		s, err := newServer(exchange.Secret(dsn))
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
}
