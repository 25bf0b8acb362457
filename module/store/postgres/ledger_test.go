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

// BenchmarkL040PagesOfUsage measures the pages of usage of 500,000 records, or of as many
// GATEWAY_TEST_LEDGER_RECORDS sets.
func BenchmarkL040PagesOfUsage(b *testing.B) {
	cluster, ok := storetest.Postgres(b)
	if !ok {
		return
	}
	dsn := aigateway.Secret(cluster.NewDatabase(b))
	ledgertest.Volume(b, func() database.Backend {
		s, err := newServer(records, dsn)
		require.NoError(b, err)
		return s
	}, 500_000)
}
