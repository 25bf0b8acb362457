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
