package ledgertest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// recordWithCost returns a record of a key with a limit.
func recordWithCost(limit string, nanos int64) accounting.Record {
	return accounting.Record{Key: "laptop", User: "alice", Limit: limit, Calls: []accounting.Call{
		{Provider: "p", Source: accounting.SourceProvider, Price: "a price", Cost: aigateway.Cost{Nanos: nanos, Currency: "USD"}},
	}}
}

// A budget that is read before the last records are in the database would lack their cost.
func settled(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				write(t, l, recordWithCost("small", 1))
			}
			assert.NoError(t, l.Settled(t.Context()))
		})
	}
	all.Wait()
	assert.EqualValues(t, 40, total(t, l).Cost.Nanos)
	require.NoError(t, l.Settled(t.Context()), "no record is new")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_ = l.Settled(ended) // may be nil or the error of the context
	require.NoError(t, l.Settled(t.Context()), "a cancelled caller does not block others")
}

func sumsOfLimits(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	for limit, nanos := range map[string]int64{"": 1, "small": 10, "large": 100, "other": 1000} {
		write(t, l, recordWithCost(limit, nanos))
	}
	require.NoError(t, l.Settled(t.Context()))
	for want, limits := range map[int64][]string{1111: nil, 10: {"small"}, 110: {"small", "large", "unknown"}} {
		sums := read(t, l.Usage, accounting.UsageQuery{From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour), Limits: limits})
		require.Len(t, sums, 1)
		assert.Equal(t, want, sums[0].Cost.Nanos, limits)
	}
}

// sumsOfNames: sums could be selected by a key and a user, and by no other name.
func sumsOfNames(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	type names = map[accounting.Dimension]string
	for _, outcome := range []string{"answered", "failed"} {
		for _, model := range []string{"small", "large"} {
			r := Example()
			r.Outcome, r.Model = outcome, model
			write(t, l, r)
		}
	}
	all(t, l, 4)
	q := accounting.UsageQuery{From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour)}
	requests := func() (n int64) {
		for _, sum := range read(t, l.Usage, q) {
			n += sum.Requests
		}
		return n
	}
	for _, c := range []struct {
		only names
		want int64
	}{
		{nil, 4}, {names{accounting.ByModel: ""}, 4}, {names{accounting.ByModel: "small"}, 2}, {names{accounting.ByOutcome: "failed"}, 2},
		{names{accounting.ByModel: "small", accounting.ByOutcome: "failed"}, 1}, {names{accounting.ByModel: "unknown"}, 0},
		{names{accounting.ByKey: Example().Key, accounting.ByModel: "large"}, 2}, {names{accounting.ByProvider: Example().Calls[len(Example().Calls)-1].Provider}, 4},
	} {
		q.Only = c.only
		assert.Equal(t, c.want, requests(), c.only)
	}
	for _, wrong := range []accounting.Dimension{accounting.ByDay, accounting.ByLabel, accounting.ByCustomer, "colour"} {
		_, err := l.Usage(t.Context(), accounting.UsageQuery{From: q.From, To: q.To, Only: names{wrong: "x"}})
		assert.ErrorIs(t, err, ledger.ErrQuery, wrong)
	}
}
