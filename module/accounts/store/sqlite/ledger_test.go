package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/ledgertest"
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
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	ledgertest.OutliveKill9(t, recordsAt(path), path)
}

// A ledger that a gateway adopts from a process that has ended had the same value for the file
// of the database as its own ledger, and both wrote it: the race detector found that when the
// gateway of the tests started beside one that was ending.
func TestAnAdoptedLedgerHasItsOwnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.db")
	s := storeAt(t, path)
	for _, dir := range []string{s.journal + "-2", s.journal + "-3", ""} {
		l, err := s.OpenLedger(accounting.LedgerOptions{Journal: dir})
		require.NoError(t, err)
		r := &accounting.Record{Request: "of " + dir, Key: "key_1", Model: "m", Operation: "generate", Format: "chat", Outcome: "answered"}
		require.NoError(t, l.Begin(r))
		l.End(r)
		if dir == "" {
			assert.Len(t, requestsOf(t, l), 3)
		}
		require.NoError(t, l.Release())
	}
}

// BenchmarkL040PagesOfUsage measures the pages of usage of 100,000 records, or of as many
// GATEWAY_TEST_LEDGER_RECORDS sets.
func BenchmarkL040PagesOfUsage(b *testing.B) {
	ledgertest.Volume(b, recordsAt(filepath.Join(b.TempDir(), "ledger.db")), 100_000)
}

func BenchmarkApply(b *testing.B) {
	ledgertest.Apply(b, recordsAt(filepath.Join(b.TempDir(), "ledger.db")))
}
