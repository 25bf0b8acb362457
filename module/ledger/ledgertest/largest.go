package ledgertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// largestSums: a console that draws the most expensive models of many read the sums of all,
// in 36 pages for 300 models and a month, and then ended in the middle of the names.
func largestSums(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	models := []string{"", "cheap", "dear", "frequent", "free"}
	for i, requests := range []int{1, 1, 1, 4, 2} {
		for range requests {
			r := Example()
			r.Model, r.Calls = models[i], r.Calls[1:]
			r.Calls[0].Cost.Nanos = []int64{20, 10, 100, 15, 0}[i]
			if i == 4 {
				r.Calls[0].Price, r.Calls[0].Cost, r.Calls[0].Held = "", aigateway.Cost{}, aigateway.Cost{}
			}
			write(t, l, r)
		}
	}
	all(t, l, 9)
	repeated(t, d, 1)
	q := accounting.UsageQuery{
		From: time.Now().AddDate(0, 0, -3), To: time.Now().Add(time.Hour),
		By: []accounting.Dimension{accounting.ByModel, accounting.ByDay}, Largest: &accounting.Largest{Number: 2, Measure: accounting.MeasureCost}, Limit: 100,
	}
	type sum struct {
		model                  string
		requests, cost, others int64
	}
	stored := func() (sums []sum) {
		for _, u := range pages(t, l, q, 20) {
			sums = append(sums, sum{u.Model, u.Requests, u.Cost.Nanos, u.Others})
		}
		return sums
	}
	day := []sum{{"dear", 1, 100, 0}, {"frequent", 4, 60, 0}, {accounting.Others, 4, 30, 3}}
	assert.Equal(t, append(day, day...), stored())
	q.Limit = 1 // the order of the values is that of the whole time, also in later pages
	assert.Equal(t, append(day, day...), stored())
	q.Largest.Measure = accounting.MeasureRequests
	day = []sum{{"free", 2, 0, 0}, {"frequent", 4, 60, 0}, {accounting.Others, 3, 130, 3}}
	assert.Equal(t, append(day, day...), stored())
	q.By, q.Largest = q.By[:1], &accounting.Largest{Number: 10, Measure: accounting.MeasureTokens}
	assert.Equal(t, []sum{{"", 2, 40, 0}, {"cheap", 2, 20, 0}, {"dear", 2, 200, 0}, {"free", 4, 0, 0}, {"frequent", 8, 120, 0}}, stored())

	q.Largest.Measure = "beauty"
	_, err := l.Usage(t.Context(), q)
	require.ErrorContains(t, err, "measure")
	q.Largest.Measure, q.By = accounting.MeasureCost, []accounting.Dimension{accounting.ByDay}
	_, err = l.Usage(t.Context(), q)
	require.ErrorContains(t, err, "a dimension")
}

// largestPairs: the largest of two dimensions are pairs of values.
func largestPairs(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	for _, pair := range []string{"a x", "b x", "b x", "a y", "a y", "a y", "c z"} {
		r := Example()
		r.Model, r.Key, _ = strings.Cut(pair, " ")
		write(t, l, r)
	}
	all(t, l, 7)
	var found []string
	for _, sum := range read(t, l.Usage, accounting.UsageQuery{
		From: time.Now().AddDate(0, 0, -1), To: time.Now().Add(time.Hour), By: []accounting.Dimension{accounting.ByModel, accounting.ByKey},
		Largest: &accounting.Largest{Number: 2, Measure: accounting.MeasureRequests},
	}) {
		found = append(found, fmt.Sprint(sum.Model, " ", sum.Key, " ", sum.Requests, " ", sum.Others))
	}
	assert.Equal(t, []string{"a y 3 0", "b x 2 0", fmt.Sprint(accounting.Others, " ", accounting.Others, " 2 2")}, found)
}
