package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/ledgertest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

func recordsAt(path string) ledgertest.Database {
	return func() database.Backend {
		return &file{schema: records, path: path, pragmas: []string{"synchronous(OFF)"}}
	}
}

func TestSQLiteKeepsWhatALedgerPromises(t *testing.T) {
	ledgertest.Run(t, func(t testing.TB) ledgertest.Database { return recordsAt(filepath.Join(t.TempDir(), "ledger.db")) })
}

func TestL027RecordsThatEndedOutliveKill9(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	ledgertest.OutliveKill9(t, recordsAt(path), path)
}

// BenchmarkL040PagesOfUsage measures the pages of usage of 100,000 records, or of as many
// GATEWAY_TEST_LEDGER_RECORDS sets.
func BenchmarkL040PagesOfUsage(b *testing.B) {
	ledgertest.Volume(b, recordsAt(filepath.Join(b.TempDir(), "ledger.db")), 100_000)
}

func BenchmarkApply(b *testing.B) {
	ledgertest.Apply(b, recordsAt(filepath.Join(b.TempDir(), "ledger.db")))
}
