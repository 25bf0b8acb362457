package migration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// chain returns a gateway with limits, each within the next.
func chain(names ...string) *Gateway {
	g := new(Gateway)
	for i, name := range slices.Backward(names) {
		l := Limit{Name: name}
		if i+1 < len(names) {
			l.Lines = []Line{Words("within", names[i+1])}
		}
		g.Limits = append(g.Limits, l)
	}
	return g
}

// counted returns what the records count in the budget of an opening at a time, in the unit of
// the currency, as the ledger sums it: by whole hours in a sliding period.
func counted(t *testing.T, g *Gateway, o Opening, now time.Time, records []Spent) (units float64) {
	budget, err := aigateway.ParseBudget("1/" + o.Period)
	require.NoError(t, err)
	since := budget.Since(now)
	if budget.Calendar == "" {
		since = since.Truncate(time.Hour)
	}
	for _, r := range records {
		if !r.Time.Before(since) && slices.Contains(g.Within(o.Limit), r.Limit) && (o.Key == "" || o.Key == r.Key) && (o.User == "" || o.User == r.User) {
			units += float64(r.Nanos) / 1e9
		}
	}
	return units
}

// nothing is an empty ledger.
func nothing(*Opening, time.Time) (int64, error) { return 0, nil }

// openings are what was spent at each level.
func openings(levels []string, amounts []float64, periods ...string) (all []Opening) {
	for i, level := range levels {
		o := Opening{Limit: level, Amount: amounts[i], Period: periods[i]}
		switch level {
		case "key":
			o.Key, o.User = "a", "ann"
		case "member", "user":
			o.User = "ann"
		}
		all = append(all, o)
	}
	return all
}

var (
	spentPeriods = []string{"total", "month", "week", "day", "72h", "12h", "1h"}
	spentNows    = []time.Time{
		time.Date(2026, 11, 28, 13, 40, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 20, 0, 0, time.UTC), // the week is longer than the month
		time.Date(2026, 11, 30, 9, 5, 0, 0, time.FixedZone("", 5*3600+45*60)),
	}
)

// A key of LiteLLM had spent 100 in all time, and its team 20 in this month. The import wrote
// 100 into the month of the team, and each of its keys got 429 until the next month.
func TestWhatWasSpentInALongerPeriodDoesNotFillAShorterOne(t *testing.T) {
	for _, levels := range [][]string{
		{"key", "team"}, {"key", "member"}, {"key", "user"}, {"key", "organization"}, {"member", "team"}, {"member", "organization"},
		{"user", "organization"}, {"team", "organization"},
	} {
		g := chain(levels...)
		for _, inner := range spentPeriods {
			for _, outer := range spentPeriods {
				for _, amounts := range [][]float64{{100, 20}, {5, 20}, {20, 20}, {100, 0}, {0, 20}} {
					for _, now := range spentNows {
						name := fmt.Sprint(levels, inner, outer, amounts, now)
						var report Report
						g.Openings = openings(levels, amounts, inner, outer)
						records, err := g.Spent(now, nothing, &report)
						require.NoError(t, err, name)
						countedIn := func(i int) float64 { return counted(t, g, g.Openings[i], now, records) }
						assert.InDelta(t, amounts[1], countedIn(1), 1e-9, name)
						if len(report.Notes) == 0 {
							assert.InDelta(t, amounts[0], countedIn(0), 1e-9, name)
							continue
						}
						// An amount that must be in the period of the other one is at most the other one.
						assert.InDelta(t, min(amounts[0], amounts[1]), countedIn(0), 1e-9, name)
						begin := func(period string) time.Time {
							budget, _ := aigateway.ParseBudget("1/" + period)
							return budget.Since(now)
						}
						assert.False(t, begin(inner).Add(2*time.Hour).Before(begin(outer)), "%s: %s", name, report.Notes[0].Text)
						assert.Contains(t, report.Notes[0].Text, "USD of what was spent is left out: a budget around it has spent less", name)
					}
				}
			}
		}
	}
}

// Several keys and levels, of which each has its own period: all are exact at once.
func TestWhatWasSpentIsExactAtEachLevel(t *testing.T) {
	for _, now := range []time.Time{spentNows[0], spentNows[2]} { // not where the last hour began before the day
		g := chain("key", "member", "team", "organization")
		g.Limits = append(g.Limits, Limit{Name: "other", Lines: []Line{Words("within", "team")}})
		g.Openings = slices.Concat(
			[]Opening{{Key: "b", User: "bob", Limit: "other", Amount: 8, Period: "1h"}},
			openings([]string{"key", "member", "team", "organization"}, []float64{100, 30, 20, 9}, "total", "72h", "day", "1h"),
		)
		var report Report
		records, err := g.Spent(now, nothing, &report)
		require.NoError(t, err)
		assert.Empty(t, report.Notes, now)
		assert.True(t, slices.IsSortedFunc(records, func(a, b Spent) int { return a.Time.Compare(b.Time) }), "as the journal needs them")
		for _, o := range g.Openings {
			assert.InDelta(t, o.Amount, counted(t, g, o, now, records), 1e-9, "%s %s", now, o.Limit)
		}
		assert.Equal(t, 5, g.Opened())

		// A second import, with more at some levels, adds the difference. A third one adds nothing.
		for _, more := range []float64{2, 0} {
			g.Openings[1].Amount += more
			g.Openings[2].Amount += more
			second, err := g.Spent(now, func(o *Opening, _ time.Time) (int64, error) {
				return int64(1e9*counted(t, g, *o, now, records) + 0.5), nil
			}, &report)
			require.NoError(t, err)
			records = append(records, second...)
			for _, o := range g.Openings {
				assert.InDelta(t, o.Amount, counted(t, g, o, now, records), 1e-9, "%s %s", now, o.Limit)
			}
			assert.Equal(t, more == 0, len(second) == 0)
		}
	}
}
