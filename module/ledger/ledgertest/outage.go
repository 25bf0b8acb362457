package ledgertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// interrupted is a backend whose database cannot be reached while away is true.
type interrupted struct {
	database.Backend
	away *atomic.Bool
}

func (i interrupted) Connect(ctx context.Context) (*sql.DB, error) {
	if i.away.Load() {
		return nil, errors.Join(aigateway.ErrUnavailable, errors.New("nobody answers"))
	}
	return i.Backend.Connect(ctx)
}

func (i interrupted) Moved() bool { return i.away.Load() || i.Backend.Moved() }

// Records of an outage wait in the journal, and no exchange waits for them.
func recordsOutliveAnOutage(t *testing.T, d Database) {
	const each = 500
	var away atomic.Bool
	away.Store(true)
	l, err := ledger.Open(accounting.LedgerOptions{Journal: journalOf(t)}, interrupted{d(), &away}, zap.NewNop)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	for range each {
		write(t, l, Example())
	}
	_, err = l.Records(t.Context(), accounting.RecordQuery{Limit: 1})
	require.ErrorIs(t, err, aigateway.ErrUnavailable)
	away.Store(false)
	all(t, l, each)
	require.EqualValues(t, each, total(t, l).Requests)
}

// counted is a backend that counts the calls of Moved, which the ledger makes after each
// failure.
type counted struct {
	database.Backend
	failures *atomic.Int64
}

func (c counted) Moved() bool {
	c.failures.Add(1)
	return c.Backend.Moved()
}

// If a database refused records, but accepted the registration of the journal, the
// beginning and the end of an outage were once logged every second.
func outagesEndOnce(t *testing.T, d Database) {
	core, logs := observer.New(zap.InfoLevel)
	var failures atomic.Int64
	l, err := ledger.Open(accounting.LedgerOptions{Journal: journalOf(t)}, counted{d(), &failures}, func() *zap.Logger { return zap.New(core) })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	_, err = l.Location(t.Context()) // makes the tables
	require.NoError(t, err)
	execute(t, d, `ALTER TABLE gateway_ledger_pages RENAME TO elsewhere`)
	write(t, l, Example())
	require.Eventually(t, func() bool { return failures.Load() >= 3 }, patience, tick)
	execute(t, d, `ALTER TABLE elsewhere RENAME TO gateway_ledger_pages`)
	all(t, l, 1)
	require.Eventually(t, func() bool { return logs.Len() >= 2 }, patience, tick, "the record is seen before the log")
	var messages []string
	for _, entry := range logs.All() {
		messages = append(messages, entry.Message)
	}
	assert.Equal(t, []string{
		"records cannot be written to the database; they wait in the journal",
		"records are written to the database again",
	}, messages)
}

// A database that refused a batch for its size, or the time that it took, once got the same
// batch for ever.
func refusedBatchesAreSplit(t *testing.T, d Database) {
	const records, limit = 40, 25
	first := opened(t, d, journalOf(t))
	write(t, first, Example())
	all(t, first, 1)
	limitPages(t, d, limit)

	var away atomic.Bool
	away.Store(true)
	journal := journalOf(t)
	earlier, err := ledger.Open(accounting.LedgerOptions{Journal: journal}, interrupted{d(), &away}, zap.NewNop)
	require.NoError(t, err)
	for range records {
		write(t, earlier, Example())
	}
	require.NoError(t, earlier.Close())
	l := opened(t, d, journal)
	all(t, l, 1+records)
	require.EqualValues(t, 1+records, total(t, l).Requests)
}

// limitPages makes the database refuse pages with many times the bytes of the present one,
// in the language of either database.
func limitPages(t *testing.T, d Database, times int) {
	t.Helper()
	backend := d()
	db, err := backend.Connect(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, backend.Disconnect(db)) }()
	var size int
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT MAX(length(records)) FROM gateway_ledger_pages`).Scan(&size))
	_, err = db.ExecContext(t.Context(), fmt.Sprintf(`ALTER TABLE gateway_ledger_pages ADD CONSTRAINT small CHECK (length(records) < %d)`, times*size))
	if err != nil {
		_, err = db.ExecContext(t.Context(), fmt.Sprintf(`CREATE TRIGGER small BEFORE INSERT ON gateway_ledger_pages
			WHEN length(NEW.records) >= %d BEGIN SELECT RAISE(ABORT, 'the page is large'); END`, times*size))
	}
	require.NoError(t, err)
}
