package ledgertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// levelsAreFilled: the migration wrote the sums without some names, and of half a million records
// nobody could read or write the ledger for twenty seconds.
func levelsAreFilled(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	const records = 40
	earlier := func(i int) accounting.Record {
		r := Example()
		r.Outcome, r.Admitted = accounting.OutcomeImported, time.Now().Add(-time.Duration(i)*31*time.Hour)
		r.Model, r.Key = name(i%3), name(i%2)
		return r
	}
	for i := range records {
		write(t, l, earlier(i))
	}
	all(t, l, records)
	byModel, byKey := usage(t, l, accounting.ByModel), usage(t, l, accounting.ByDay, accounting.ByKey)

	execute(t, d, `DELETE FROM gateway_usage WHERE span > 3`, `UPDATE gateway_ledger_state SET levelled = 4611686018427387904`)
	assert.Equal(t, byModel, usage(t, l, accounting.ByModel), "before they are filled")
	assert.Equal(t, byKey, usage(t, l, accounting.ByDay, accounting.ByKey))

	write(t, l, earlier(records)) // is added to a sum that is not there
	all(t, l, records+1)
	byModel = usage(t, l, accounting.ByModel)
	opened(t, d, journalOf(t))
	backend := d()
	db, err := backend.Connect(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, backend.Disconnect(db)) }()
	require.Eventually(t, func() bool {
		var missing int64
		return db.QueryRowContext(t.Context(), `SELECT levelled FROM gateway_ledger_state`).Scan(&missing) == nil && missing == 0
	}, patience, tick)
	assert.Equal(t, byModel, usage(t, l, accounting.ByModel), "after they are filled")
	total := func(column string) (n int64) {
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT SUM(requests) FROM gateway_usage WHERE span = `+column).Scan(&n))
		return n
	}
	for _, span := range []string{"1", "3", "4", "6", "7", "9", "10", "12"} {
		assert.EqualValues(t, records+1, total(span), "span %s", span)
	}
}
