package ledgertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// fixed returns a Pricer with the same cost for each call of a provider.
func fixed(provider, price string, cost aigateway.Cost) accounting.Pricer {
	return pricedBy(provider, accounting.Charge{Price: price, Cost: cost})
}

// pricedBy returns a Pricer with the same charge for each call of a provider.
func pricedBy(provider string, charge accounting.Charge) accounting.Pricer {
	return func(_ *accounting.Record, c *accounting.Call) (accounting.Charge, bool) {
		return charge, c.Provider == provider
	}
}

func reprice(t testing.TB, l *ledger.Ledger, price accounting.Pricer, dryRun bool) []accounting.Repriced {
	t.Helper()
	changes, err := l.Reprice(t.Context(), accounting.RepriceQuery{
		From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour), Price: price, DryRun: dryRun,
	})
	require.NoError(t, err)
	return changes
}

// A correction changes the sums, and the costs that records show, so that a sum equals its
// records.
func corrected(t *testing.T, d Database) {
	const n = 700 // more than one page
	l := opened(t, d, journalOf(t))
	for range n {
		write(t, l, Example())
	}
	old := all(t, l, n)
	sums := usage(t, l, accounting.ByProvider)
	raised := fixed("anthropic", "new", aigateway.Cost{Nanos: 2000, Currency: "USD"})
	change := accounting.Repriced{
		Provider: "anthropic", Model: "claude-opus-5", OldPrice: "anthropic claude-opus-5", NewPrice: "new", Calls: n,
		Old: aigateway.Cost{Nanos: n * 1234, Currency: "USD"}, New: aigateway.Cost{Nanos: n * 2000, Currency: "USD"},
	}
	assert.Equal(t, []accounting.Repriced{change}, reprice(t, l, raised, true))
	assert.Equal(t, sums, usage(t, l, accounting.ByProvider), "a dry run changes nothing")

	assert.Equal(t, []accounting.Repriced{change}, reprice(t, l, raised, false))
	assert.Empty(t, reprice(t, l, raised, false), "a second run changes nothing")
	sums[0].Cost.Nanos = n * 2000
	for _, dimension := range []accounting.Dimension{accounting.ByHour, accounting.ByDay, accounting.ByMonth} {
		got := usage(t, l, accounting.ByProvider, dimension)
		require.Len(t, got, 2)
		got[0].At, got[1].At = time.Time{}, time.Time{}
		assert.Equal(t, sums, got)
	}
	for i := range old {
		call := &old[i].Calls[1]
		call.Price, call.Cost.Nanos, call.Held, call.Corrected = "new", 2000, aigateway.Cost{}, true
	}
	assert.Equal(t, old, all(t, l, n), "records show the corrections, and are as they were otherwise")

	cheaper := fixed("anthropic", "newest", aigateway.Cost{Nanos: 1, Currency: "USD"})
	assert.EqualValues(t, n*2000, reprice(t, l, cheaper, false)[0].Old.Nanos, "the old cost is that of the last correction")
	assert.EqualValues(t, n, usage(t, l, accounting.ByProvider)[0].Cost.Nanos)
}

// A call of unknown cost makes the sums lower bounds, and budgets count its held amount,
// until its price is known.
func pricedLater(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	write(t, l, Example())
	all(t, l, 1)
	require.EqualValues(t, 77, total(t, l).Held)
	changes := reprice(t, l, fixed("openai", "new", aigateway.Cost{Nanos: 9, Currency: "EUR"}), false)
	require.Len(t, changes, 1)
	assert.Equal(t, aigateway.Cost{Currency: "USD"}, changes[0].Old)
	sums := usage(t, l)
	require.Len(t, sums, 2, "one for each currency")
	assert.Equal(t, aigateway.Cost{Nanos: 9, Currency: "EUR"}, sums[0].Cost)
	assert.EqualValues(t, 1, sums[0].Calls)
	assert.Equal(t, aigateway.Cost{Nanos: 1234, Currency: "USD"}, sums[1].Cost)
	assert.EqualValues(t, 1, sums[1].Calls)
	assert.EqualValues(t, 1, sums[1].Requests)
	for _, sum := range sums {
		assert.Zero(t, sum.Unpriced)
		assert.Zero(t, sum.Held)
	}
}

// One part of a call without a price, such as its searches, once made the whole cost unknown, so
// that the tokens, whose price was known, were in no sum. A cost that the provider has stated is
// the true one.
func partsAndStatedCosts(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	r := Example()
	tokens := accounting.Call{Source: accounting.SourceProvider, Provider: "openai", Price: "tokens", Cost: aigateway.Cost{Nanos: 100, Currency: "USD"}}
	parts, stated := tokens, tokens
	parts.CostSource, parts.Held = accounting.CostInPart, aigateway.Cost{Nanos: 50, Currency: "USD"}
	stated.CostSource, stated.Price = accounting.CostStated, ""
	r.Calls = []accounting.Call{tokens, parts, stated}
	write(t, l, r)
	records := all(t, l, 1)
	assert.Equal(t, r.Calls, records[0].Calls)
	sum := total(t, l)
	assert.EqualValues(t, 300, sum.Cost.Nanos)
	assert.EqualValues(t, 50, sum.Held)
	assert.EqualValues(t, 1, sum.Unpriced)

	more := accounting.Charge{Price: "more tokens", Cost: aigateway.Cost{Nanos: 120, Currency: "USD"}, Source: accounting.CostInPart}
	reprice(t, l, pricedBy("openai", more), false)
	assert.Empty(t, reprice(t, l, pricedBy("openai", more), false), "a second run changes nothing")
	calls := all(t, l, 1)[0].Calls
	assert.Equal(t, tokens, calls[0], "a part does not replace the whole")
	assert.Equal(t, accounting.CostingFloor, calls[1].Costing())
	assert.EqualValues(t, 120, calls[1].Cost.Nanos)
	assert.EqualValues(t, 30, calls[1].Held.Nanos)
	assert.Equal(t, stated, calls[2])
	sum = total(t, l)
	assert.EqualValues(t, 320, sum.Cost.Nanos)
	assert.EqualValues(t, 30, sum.Held)
	assert.EqualValues(t, 1, sum.Unpriced)

	reprice(t, l, fixed("openai", "all", aigateway.Cost{Nanos: 150, Currency: "USD"}), false)
	calls = all(t, l, 1)[0].Calls
	assert.Equal(t, accounting.CostingPrice, calls[1].Costing())
	assert.Equal(t, stated, calls[2], "nothing replaces a stated cost")
	sum = total(t, l)
	assert.EqualValues(t, 150+150+100, sum.Cost.Nanos)
	assert.Zero(t, sum.Held)
	assert.Zero(t, sum.Unpriced)
}

// The usage of a call is unknown if the process crashed during the call.
func crashedStayUnpriced(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	r := Example()
	r.Calls = []accounting.Call{{Provider: "openai", Source: accounting.SourceReserved}, {Provider: "openai"}}
	write(t, l, r)
	all(t, l, 1)
	assert.Empty(t, reprice(t, l, fixed("openai", "new", aigateway.Cost{Nanos: 9, Currency: "USD"}), false))
}
