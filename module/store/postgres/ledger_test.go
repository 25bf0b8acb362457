package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/ledgertest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/storetest"
)

func TestPostgresKeepsWhatALedgerPromises(t *testing.T) {
	cluster, ok := storetest.Postgres(t)
	if !ok {
		return
	}
	ledgertest.Run(t, func(t testing.TB) ledgertest.Database {
		dsn := aigateway.Secret(cluster.NewDatabase(t))
		return func() database.Backend {
			s, err := newServer(records, dsn)
			require.NoError(t, err)
			return s
		}
	})
}
