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

// reserved returns a record whose charge is unknown yet, and held by budgets.
func reserved() accounting.Record {
	r := Example()
	r.Calls = []accounting.Call{{Provider: "openai", Model: "gpt-5", Source: accounting.SourceReserved, Held: aigateway.Cost{Nanos: 5000, Currency: "USD"}}}
	return r
}

// deferCharge writes a record, and defers its charge.
func deferCharge(t *testing.T, l *ledger.Ledger, object string, due time.Time) accounting.Record {
	t.Helper()
	r := reserved()
	require.NoError(t, l.Begin(&r))
	l.End(&r)
	l.Defer(accounting.Deferred{Account: "a", Object: object, Record: r, Due: due, Expires: due.Add(time.Hour)})
	return r
}

// A charge that is known later is in records and sums as if it had been known at once. Of the
// gateways that see it, one settles it: a bill that each of them wrote would count twice.
func deferredSettleOnce(t *testing.T, d Database) {
	one, two := opened(t, d, journalOf(t)), opened(t, d, journalOf(t))
	r := deferCharge(t, one, "resp_1", time.Now())
	old := all(t, one, 1)
	assert.EqualValues(t, 5000, total(t, one).Held)

	charge, err := two.Deferred(t.Context(), "a", "resp_1")
	require.NoError(t, err)
	require.NotNil(t, charge)
	assert.Equal(t, old[0].ID, charge.Record.ID)
	assert.Equal(t, r.Admitted.UTC(), charge.Record.Admitted)
	assert.Equal(t, old[0].Labels, charge.Record.Labels)
	for object, account := range map[string]string{"resp_1": "b", "resp_2": "a"} {
		other, err := two.Deferred(t.Context(), account, object)
		require.NoError(t, err)
		assert.Nil(t, other)
	}

	calls := Example().Calls
	settled, err := two.SettleDeferred(t.Context(), charge, calls)
	require.NoError(t, err)
	assert.True(t, settled)
	for _, l := range []*ledger.Ledger{one, two} {
		settled, err = l.SettleDeferred(t.Context(), charge, calls)
		require.NoError(t, err)
		assert.False(t, settled)
	}
	records := all(t, one, 1)
	assert.Equal(t, calls, records[0].Calls)
	records[0].Calls = old[0].Calls
	assert.Equal(t, old, records)
	sum := total(t, one)
	assert.EqualValues(t, 1, sum.Requests)
	assert.EqualValues(t, 2, sum.Calls)
	assert.EqualValues(t, 1234, sum.Cost.Nanos)
	assert.EqualValues(t, 77, sum.Held, "of the call whose cost stays unknown")
	assert.EqualValues(t, 501, sum.Tokens.Fresh)

	reprice(t, one, fixed("anthropic", "new", aigateway.Cost{Nanos: 2000, Currency: "USD"}), false)
	assert.EqualValues(t, 2000, total(t, one).Cost.Nanos)
	assert.EqualValues(t, 2000, all(t, one, 1)[0].Calls[1].Cost.Nanos)
}

// A charge that stays unknown is what was reserved.
func deferredCloseAsReserved(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	deferCharge(t, l, "resp_1", time.Now())
	old := all(t, l, 1)
	charge, err := l.Deferred(t.Context(), "a", "resp_1")
	require.NoError(t, err)
	settled, err := l.SettleDeferred(t.Context(), charge, nil)
	require.NoError(t, err)
	assert.True(t, settled)
	assert.Equal(t, old, all(t, l, 1))
	assert.EqualValues(t, 5000, total(t, l).Held)
}

// Several gateways ask the provider for the charges that are due, and each charge is asked for by one.
func deferredClaimedOnce(t *testing.T, d Database) {
	one, two := opened(t, d, journalOf(t)), opened(t, d, journalOf(t))
	deferCharge(t, one, "due", time.Now().Add(-time.Second))
	deferCharge(t, one, "later", time.Now().Add(time.Hour))
	deferCharge(t, one, "of another site", time.Now().Add(-time.Second))
	next := func(d *accounting.Deferred) (time.Time, bool) {
		return time.Now().Add(time.Minute), d.Object != "of another site"
	}
	claimed, err := two.Claim(t.Context(), next)
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	assert.Equal(t, "due", claimed[0].Object)
	claimed, err = one.Claim(t.Context(), next)
	require.NoError(t, err)
	assert.Empty(t, claimed)
}

// A charge that another gateway claims between the reading and the change ended the round with an error:
// nothing of what the round had claimed was asked for.
func deferredClaimsPassOverLostRaces(t *testing.T, d Database) {
	one, two := opened(t, d, journalOf(t)), opened(t, d, journalOf(t))
	for i, object := range []string{"first", "lost", "last"} {
		deferCharge(t, one, object, time.Now().Add(time.Duration(i-10)*time.Second))
	}
	again := time.Now().Add(time.Minute)
	claimed, err := one.Claim(t.Context(), func(d *accounting.Deferred) (time.Time, bool) {
		if d.Object == "lost" {
			theirs, err := two.Claim(t.Context(), func(d *accounting.Deferred) (time.Time, bool) { return again, d.Object == "lost" })
			require.NoError(t, err)
			require.Len(t, theirs, 1)
		}
		return again, true
	})
	require.NoError(t, err)
	var objects []string
	for _, c := range claimed {
		objects = append(objects, c.Object)
	}
	assert.Equal(t, []string{"first", "last"}, objects)
}
