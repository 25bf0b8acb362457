package postgres

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/ledgertest"
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

// In a database whose language orders names in another way, the cursor of a page once was
// not where the page ended.
func TestNamesAreInTheOrderOfTheirBytesInAnyLanguage(t *testing.T) {
	cluster, ok := storetest.Postgres(t)
	if !ok {
		return
	}
	dsn := cluster.NewDatabase(t)
	s, err := newServer(records, aigateway.Secret(dsn))
	require.NoError(t, err)
	reader := ledger.NewReader(s, nop)
	defer func() { assert.NoError(t, reader.Close()) }()
	_, err = reader.Location(t.Context()) // makes the tables
	require.NoError(t, err)
	_, name, _ := strings.Cut(dsn, "dbname=")
	assert.Equal(t, "C", cluster.SQL(t, name, `SELECT collation_name FROM information_schema.columns
		WHERE table_name = 'gateway_names' AND column_name = 'name'`))
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
