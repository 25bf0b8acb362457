package ledgertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// sumsOfLabels: a record counts once for each of its tags and for its customer, and once in
// all other sums. A correction changes all of them.
func sumsOfLabels(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	for _, labels := range []aigateway.Labels{
		{Tags: []aigateway.Tag{{Name: "env", Value: "prod"}, {Name: "team", Value: "search"}}, Customer: "acme"},
		{Tags: []aigateway.Tag{{Name: "team", Value: "ads"}}, Customer: "umbrella"},
		{Tags: []aigateway.Tag{{Name: "team", Value: "search"}}},
		{},
	} {
		r := Example()
		r.Labels = labels
		write(t, l, r)
	}
	all(t, l, 4)
	team := accounting.ByTag("team")
	assertLabels := func(cost int64) {
		t.Helper()
		assert.EqualValues(t, 4, total(t, l).Requests)
		assert.EqualValues(t, 4*cost, total(t, l).Cost.Nanos)
		for dimension, want := range map[accounting.Dimension]map[string]int64{
			team: {"ads": 1, "search": 2}, accounting.ByTag("env"): {"prod": 1}, accounting.ByCustomer: {"acme": 1, "umbrella": 1}, accounting.ByTag("none"): {},
			accounting.ByLabel: {"customer": 2, "tag:env": 1, "tag:team": 3},
		} {
			got := make(map[string]int64)
			for _, sum := range usage(t, l, dimension) {
				got[sum.Tag+sum.Customer+sum.Label] = sum.Requests
				assert.Equal(t, cost*sum.Requests, sum.Cost.Nanos, dimension)
			}
			assert.Equal(t, want, got, dimension)
		}
	}
	assertLabels(1234)

	query := accounting.UsageQuery{From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour), By: []accounting.Dimension{accounting.ByDay, accounting.ByKey}}
	query.Label, query.Value = team, "search"
	sums := read(t, l.Usage, query)
	require.Len(t, sums, 1)
	assert.EqualValues(t, 2, sums[0].Requests)
	query.Limits = []string{"another limit"}
	sums = read(t, l.Usage, query)
	assert.Empty(t, sums)
	query.Limits = nil
	for _, second := range []accounting.Dimension{accounting.ByCustomer, accounting.ByLabel} {
		query.By = []accounting.Dimension{second}
		_, err := l.Usage(t.Context(), query)
		assert.ErrorContains(t, err, "second one", second)
	}
	query.By, query.Label, query.Value = []accounting.Dimension{accounting.ByLabel, team}, "", ""
	_, err := l.Usage(t.Context(), query)
	assert.ErrorContains(t, err, "second unit of time or label", "a label among the values of one")

	_, err = l.Reprice(t.Context(), accounting.RepriceQuery{
		From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour),
		Price: func(_ *accounting.Record, c *accounting.Call) (accounting.Charge, bool) {
			return accounting.Charge{Price: "new", Cost: aigateway.Cost{Nanos: 2000, Currency: "USD"}}, c.Provider == "anthropic"
		},
	})
	require.NoError(t, err)
	assertLabels(2000)
}
