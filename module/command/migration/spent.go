package migration

import (
	"fmt"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Spent is a part of what was spent before the import, at the time of its record.
type Spent struct {
	Opening
	Time  time.Time
	Nanos int64
}

// Spent returns the records, by their times, with which each budget has at most the amount of
// its opening. imported returns what earlier imports have written of an opening since a time.
//
// An amount counts in each budget around its own one in whose period its record is. So what a
// key has spent in all time has a record from before the month of its team, and only what
// cannot be dated so, because the budget around it has the same or a longer period, is left out
// where the amount of that budget is smaller. The report names what is left out.
func (g *Gateway) Spent(now time.Time, imported func(o *Opening, start time.Time) (nanos int64, err error), report *Report) (all []Spent, err error) {
	budgets, err := g.spentBudgets(now, imported)
	if err != nil {
		return nil, err
	}
	for i := range budgets {
		own := &budgets[i]
		rest := own.left()
		for _, moment := range own.times(now, budgets) {
			if nanos := room(budgets, own, moment, rest); nanos > 0 {
				all = append(all, Spent{own.Opening, moment, nanos})
				rest -= nanos
			}
		}
		if rest > 0 {
			report.Add(Changed, own.Limit, "%s of what was spent is left out: a budget around it has spent less", aigateway.Cost{Nanos: rest, Currency: aigateway.DefaultCurrency})
		}
	}
	slices.SortStableFunc(all, func(a, b Spent) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// Opened returns the number of budgets of which something was spent.
func (g *Gateway) Opened() (n int) {
	for _, o := range g.Openings {
		if o.Amount > 0 {
			n++
		}
	}
	return n
}

// spentBudget is the budget of an opening.
type spentBudget struct {
	Opening
	limits  []string  // its limit, and those within it
	sliding bool      // its period ends now
	start   time.Time // the begin of its period
	counted int64     // of records
}

// spentBudgets returns the budgets of the openings. That of all time begins before the others.
func (g *Gateway) spentBudgets(now time.Time, imported func(*Opening, time.Time) (int64, error)) (all []spentBudget, err error) {
	earliest := now.Truncate(time.Hour)
	for _, o := range g.Openings {
		budget, err := aigateway.ParseBudget("1/" + o.Period)
		if err != nil {
			return nil, fmt.Errorf("the period of the limit %s: %w", o.Limit, err)
		}
		b := spentBudget{Opening: o, limits: g.Within(o.Limit), sliding: budget.Calendar == "", start: budget.Since(now)}
		if b.sliding {
			b.start = b.start.Truncate(time.Hour) // as the ledger sums
		}
		if b.counted, err = imported(&o, b.start); err != nil {
			return nil, err
		}
		if !b.start.IsZero() && b.start.Before(earliest) {
			earliest = b.start
		}
		all = append(all, b)
	}
	for i := range all {
		if all[i].start.IsZero() {
			all[i].start = earliest.Truncate(time.Hour).Add(-time.Hour)
		}
	}
	return all, nil
}

// left returns what no record has yet.
func (b *spentBudget) left() int64 { return int64(b.Amount*1e9) - b.counted }

// counts reports whether a record of an opening at a time counts in the budget.
func (b *spentBudget) counts(o *Opening, moment time.Time) bool {
	return !moment.Before(b.start) && slices.Contains(b.limits, o.Limit) && (b.Key == "" || b.Key == o.Key) && (b.User == "" || b.User == o.User)
}

// times returns the times of records in the order of choice. The begin of a period of the
// calendar is in as few other periods as possible. What is in a sliding period counts for the
// longest time at its end, and else before the periods of other budgets.
func (b *spentBudget) times(now time.Time, all []spentBudget) (times []time.Time) {
	if !b.sliding {
		return []time.Time{b.start}
	}
	times = append(times, now)
	for i := range all {
		if hour := all[i].start.Truncate(time.Hour).Add(-time.Hour); !hour.Before(b.start) {
			times = append(times, hour)
		}
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return times
}

// room returns how much of an amount all budgets have room for in which a record of an opening
// at a time counts, and counts it.
func room(all []spentBudget, own *spentBudget, moment time.Time, nanos int64) int64 {
	for i := range all {
		if b := &all[i]; b.counts(&own.Opening, moment) {
			nanos = min(nanos, b.left())
		}
	}
	for i := range all {
		if b := &all[i]; nanos > 0 && b.counts(&own.Opening, moment) {
			b.counted += nanos
		}
	}
	return nanos
}
