package counterstest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The amounts of the tests, in nanos.
const (
	dollar = 1_000_000_000
	cent   = dollar / 100
)

func (p *Place) budget(t *testing.T, text string) *limiter {
	t.Helper()
	return p.one(t, aigateway.LimitRules{Budget: budget(t, text)})
}

func settledBelowBound(t *testing.T, p *Place) {
	l := p.budget(t, "1/month")
	first := l.pays(t, 90*cent)
	require.NotNil(t, first)
	refused := l.ask(alice, 0, 20*cent)
	assert.Equal(t, aigateway.MoneyBudget, refused.Reached)
	assert.False(t, refused.TooLarge)
	assert.EqualValues(t, 10*cent, refused.Left)
	first.Settle(aigateway.Use{Nanos: 10 * cent})
	assert.NotNil(t, l.pays(t, 90*cent), "the first is settled, but not released")
	first.Release()
	assert.NotNil(t, l.pays(t, 0))
	assert.Nil(t, l.pays(t, 1))
	large := l.ask(alice, 0, 2*dollar)
	assert.True(t, large.TooLarge)
	assert.Zero(t, large.Left)
}

// The counters in Redis once kept what an answer in the background had reserved until the period was over.
func amended(t *testing.T, p *Place) {
	for name, text := range map[string]string{"month": "1/month", "sliding": "1/30d", "total": "1/total"} {
		rules := &aigateway.Limit{Name: name, LimitRules: aigateway.LimitRules{Budget: budget(t, text)}}
		l, other := p.open(t, rules), p.open(t, rules)
		amend := func(admitted, at time.Time, nanos int64) {
			amender, ok := other.Limiter.(aigateway.Amender)
			require.True(t, ok)
			demand := aigateway.Demand{Key: alice, Spending: other.books}
			require.NoError(t, amender.Amend(t.Context(), demand, aigateway.Amendment{Admitted: admitted, At: at, Nanos: nanos}))
		}
		start := p.Now().Add(-time.Second)
		paid(l.pays(t, 90*cent), 90*cent)
		admitted := p.Now()
		p.Advance(time.Second)
		amend(admitted, start, -80*cent)
		assert.Nil(t, l.pays(t, 11*cent), "the ledger was read afterwards, and contained it: %s", name)
		amend(admitted, p.Now(), -80*cent)
		r := l.pays(t, 90*cent)
		require.NotNil(t, r, name)
		paid(r, 0)
		amend(admitted, p.Now(), 20*cent)
		refused := func() bool {
			r := l.ask(alice, 0, 71*cent).Reservation
			if r != nil {
				paid(r, 0)
			}
			return r == nil
		}
		require.Eventually(t, refused, time.Minute, 10*time.Millisecond, "a cost may be higher than what was counted: %s", name)
		assert.NotNil(t, l.pays(t, 70*cent), name)
	}
}

// A budget that is overspent refuses what costs money, and nothing else: it once refused free models,
// too.
func freeOfCharge(t *testing.T, p *Place) {
	sliding := p.open(t, &aigateway.Limit{Name: "sliding", LimitRules: aigateway.LimitRules{Budget: budget(t, "1/30d")}})
	for _, l := range []*limiter{p.budget(t, "1/month"), sliding} {
		paid(l.pays(t, 90*cent), 3*dollar)
		refused := func() bool { return l.ask(alice, 0, 1).Reservation == nil }
		require.Eventually(t, refused, time.Minute, 10*time.Millisecond, "once the settlement is on the server")
		assert.NotNil(t, l.pays(t, 0))
	}
}

// untilMonthEnds returns the time to the end of the month in the zone of the ledger.
func (p *Place) untilMonthEnds() time.Duration {
	now := p.Now().In(berlin)
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, berlin).Sub(now)
}

func monthOfAdmission(t *testing.T, p *Place) {
	l := p.budget(t, "1/month")
	p.Advance(p.untilMonthEnds() - time.Second)
	late, later := l.pays(t, 30*cent), l.pays(t, 30*cent)
	refused := l.ask(alice, 0, 50*cent)
	assert.Nil(t, refused.Reservation)
	assert.LessOrEqual(t, refused.RetryAfter, time.Second)
	p.Advance(time.Second)
	paid(late, 10*cent)
	paid(later, 90*cent)
	assert.NotNil(t, l.pays(t, 100*cent), "requests of the old month do not count in the new one")
}

// A budget that began with nothing after each restart would not be a limit.
func restored(t *testing.T, p *Place) {
	l := p.budget(t, "1/month")
	l.books.spent = []aigateway.Spent{{By: p.Now().Add(time.Hour), Nanos: 80 * cent}}
	admitted := make(chan aigateway.Reservation, 20)
	crowd(cap(admitted), func(int) { admitted <- l.ask(alice, 0, 10*cent).Reservation })
	close(admitted)
	count := 0
	for r := range admitted {
		if r != nil {
			count++
		}
	}
	assert.Equal(t, 2, count)
	require.Len(t, l.books.asked, 1, "the ledger is read once")
	now := p.Now().In(berlin)
	assert.True(t, l.books.asked[0].Equal(time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, berlin)), "%s", l.books.asked[0])

	sliding := p.open(t, &aigateway.Limit{Name: "sliding", LimitRules: aigateway.LimitRules{Budget: budget(t, "1/30d")}})
	const day = 24 * time.Hour
	sliding.books.spent = []aigateway.Spent{
		{By: p.Now().Add(-40 * day), Nanos: 90 * cent}, {By: p.Now().Add(-29 * day), Nanos: 30 * cent}, {By: p.Now().Add(-day), Nanos: 50 * cent},
	}
	assert.Nil(t, sliding.pays(t, 21*cent))
	assert.NotNil(t, sliding.pays(t, 20*cent))
	p.Advance(2 * day)
	assert.NotNil(t, sliding.pays(t, 30*cent), "the money of the first day no longer counts")
	assert.Nil(t, sliding.pays(t, 1*cent))
}

// A budget that was removed, and set again later, once kept its old count: what was spent meanwhile did not
// count. BudgetSince is the time at which it was set again, or got its period back.
func resumed(t *testing.T, p *Place) {
	for name, text := range map[string]string{"month": "1/month", "sliding": "1/30d", "total": "1/total"} {
		limit := aigateway.Limit{Name: name, LimitRules: aigateway.LimitRules{Budget: budget(t, text)}}
		first := p.open(t, &limit)
		paid(first.pays(t, 10*cent), 10*cent)
		running := first.pays(t, 30*cent)
		p.Advance(time.Minute)
		again := limit
		again.BudgetSince = p.Now()
		p.Advance(time.Second)
		l, other := p.open(t, &again), p.open(t, &again)
		l.books.spent = []aigateway.Spent{{By: p.Now(), Nanos: 50 * cent}}
		viewer, ok := l.Limiter.(aigateway.LimitViewer)
		require.True(t, ok)
		uses, err := viewer.View(t.Context(), aigateway.Demand{Key: alice, Spending: l.books})
		require.NoError(t, err)
		assert.Nil(t, uses[0].Money, "%s: a view has no stale count", name)
		assert.Nil(t, l.pays(t, 21*cent), "%s: 10 before, 40 meanwhile, and 30 of the request that runs", name)
		paid(l.pays(t, 20*cent), 20*cent)
		assert.Nil(t, other.pays(t, cent), name)
		assert.Len(t, l.books.asked, 1, "%s: the ledger is read once", name)
		assert.Empty(t, other.books.asked, "%s: for all gateways", name)
		paid(running, 5*cent)
		assert.Nil(t, other.pays(t, 26*cent), "%s: the running request counts once", name)
		paid(other.pays(t, 25*cent), 0)

		p.Advance(time.Second)
		again.BudgetSince = p.Now()
		p.Advance(time.Second)
		alone := p.open(t, &again)
		assert.Nil(t, alone.pays(t, 26*cent), "%s: a ledger that has less takes nothing away", name)
		assert.NotNil(t, alone.pays(t, 25*cent), name)
	}
}

func settleOnce(t *testing.T, p *Place) {
	l := p.budget(t, "1/month")
	first := l.pays(t, 50*cent)
	first.Settle(aigateway.Use{Nanos: 20 * cent})
	first.Settle(aigateway.Use{Nanos: 20 * cent})
	first.Settle(aigateway.Use{})
	assert.Nil(t, l.pays(t, 81*cent))
	assert.NotNil(t, l.pays(t, 80*cent))
	first.Release()
	assert.Nil(t, l.pays(t, cent))
}

func slidingBudget(t *testing.T, p *Place) {
	l := p.budget(t, "1/1h")
	r := l.pays(t, 70*cent)
	p.Advance(30 * time.Minute)
	paid(l.pays(t, 30*cent), 30*cent)
	refused := l.ask(alice, 0, 50*cent)
	assert.Greater(t, refused.RetryAfter, 30*time.Minute)
	assert.LessOrEqual(t, refused.RetryAfter, 31*time.Minute)
	p.Advance(20 * time.Minute)
	paid(r, 90*cent) // more than was reserved; all of it counts at the time of the admission
	assert.Nil(t, l.pays(t, cent))
	p.Advance(refused.RetryAfter - 20*time.Minute)
	assert.NotNil(t, l.pays(t, 70*cent))
}

func totalBudget(t *testing.T, p *Place) {
	l := p.budget(t, "1/total")
	require.NotNil(t, l.pays(t, dollar))
	assert.True(t, l.books.asked[0].IsZero())
	p.Advance(10_000 * time.Hour)
	refused := l.ask(alice, 0, cent)
	assert.Equal(t, aigateway.MoneyBudget, refused.Reached)
	assert.Zero(t, refused.RetryAfter)
}

func softBudget(t *testing.T, p *Place) {
	soft := budget(t, "1/month")
	soft.Soft = true
	l := p.open(t,
		&aigateway.Limit{Name: "soft", LimitRules: aigateway.LimitRules{Budget: soft}},
		&aigateway.Limit{Name: "hard", Per: aigateway.PerGroup, LimitRules: aigateway.LimitRules{Budget: budget(t, "3/month")}},
	)
	first := l.ask(alice, 0, 90*cent)
	assert.Nil(t, first.Exceeded)
	exceeding := l.ask(alice, 0, 2*dollar)
	require.NotNil(t, exceeding.Reservation)
	assert.Equal(t, "soft", exceeding.Exceeded.Name)
	refused := l.ask(alice, 0, 2*dollar)
	assert.Equal(t, "hard", refused.Limit.Name)
	assert.Nil(t, refused.Exceeded, "a refused request exceeds no soft budget")

	unknown := p.open(t, &aigateway.Limit{Name: "unknown", LimitRules: aigateway.LimitRules{Budget: soft}})
	unknown.books.err = errors.New("no database")
	assert.NotNil(t, unknown.pays(t, 2*dollar), "a soft budget refuses nothing, even without the ledger")
}

// A budget of 0 was no budget at all, so that there was none for keys that may use free models only.
func budgetOfZero(t *testing.T, p *Place) {
	for _, period := range []string{"0/month", "0/1h"} {
		l := p.budget(t, period)
		for range 2 {
			admitted := l.ask(alice, 5, 0)
			require.NotNil(t, admitted.Reservation, period)
			for _, move := range admitted.Moves {
				assert.LessOrEqual(t, move.To, 0, "it is not reported as used up")
			}
			refused := l.ask(alice, 5, 1)
			assert.Equal(t, aigateway.MoneyBudget, refused.Reached, period)
			assert.True(t, refused.TooLarge)
		}
	}
}

// While the ledger cannot be read, no request is admitted, and no answer claims that the
// budget is exhausted.
func unreadable(t *testing.T, p *Place) {
	l := p.budget(t, "1/month")
	l.books.err = errors.New("no database")
	for range 2 {
		decision := l.ask(alice, 0, cent)
		assert.ErrorIs(t, decision.Err, l.books.err)
		assert.Equal(t, aigateway.Admission{Err: decision.Err}, decision)
	}
	l.books.err = nil
	assert.Eventually(t, func() bool { return l.ask(alice, 0, cent).Reservation != nil }, time.Minute, 100*time.Millisecond,
		"the ledger is read again after a failure")
}

// moved requests money, spends all of it, and returns the changes of levels.
func (l *limiter) moved(t *testing.T, nanos int64) (moves [][2]int) {
	t.Helper()
	decision := l.ask(alice, 0, nanos)
	for _, move := range decision.Moves {
		assert.Equal(t, "small", move.Limit.Name)
		assert.Equal(t, aigateway.Subject{Per: aigateway.PerUser, Name: "alice"}, move.Subject)
		moves = append(moves, [2]int{move.From, move.To})
	}
	if decision.Reservation != nil {
		paid(decision.Reservation, nanos)
	}
	return moves
}

func levels(t *testing.T, p *Place) {
	l := p.budget(t, "1/month")
	moved := func(nanos int64) [][2]int { return l.moved(t, nanos) }
	assert.Equal(t, [][2]int{{aigateway.Unknown, 0}}, moved(49*cent))
	assert.Empty(t, moved(cent))
	assert.Equal(t, [][2]int{{0, 50}}, moved(0), "the level includes earlier requests only")
	assert.Empty(t, moved(45*cent))
	assert.Equal(t, [][2]int{{50, 80}}, moved(5*cent))
	assert.Equal(t, [][2]int{{80, 100}}, moved(cent), "a refused request reports the level, too")
	assert.Empty(t, moved(cent))
	p.Advance(p.untilMonthEnds())
	assert.Equal(t, [][2]int{{100, 0}}, moved(60*cent), "a new month")
	assert.Equal(t, [][2]int{{0, 50}}, moved(0))
}

// A request reserves more than it costs, so a budget refuses requests before all of its
// money is spent. The last level, and its alert, once was not reported in that case.
func lacking(t *testing.T, p *Place) {
	for _, text := range []string{"1/month", "1/1h"} {
		period := time.Hour
		if text == "1/month" {
			period = p.untilMonthEnds()
		}
		l := p.budget(t, text)
		assert.Equal(t, [][2]int{{aigateway.Unknown, 0}}, l.moved(t, 10*cent), text)
		assert.Empty(t, l.moved(t, 2*dollar), "a request larger than the whole budget changes no level")
		assert.Equal(t, [][2]int{{0, 100}}, l.moved(t, 95*cent), text)
		p.Advance(period / 3)
		assert.Empty(t, l.moved(t, 10*cent), "a smaller request is admitted")
		assert.Empty(t, l.moved(t, 95*cent), "a level is reported once in a period")
		p.Advance(period + period/30)
		assert.Equal(t, [][2]int{{100, 0}}, l.moved(t, 10*cent), text)
	}
	soft := budget(t, "1/month")
	soft.Soft = true
	l := p.open(t, &aigateway.Limit{Name: "soft", LimitRules: aigateway.LimitRules{Budget: soft}})
	reached := l.ask(alice, 0, 60*cent).Moves
	reached = append(reached, l.ask(alice, 0, 60*cent).Moves...)
	require.Len(t, reached, 2)
	assert.Equal(t, 50, reached[1].To, "a soft budget refuses nothing")
}

// The highest level of a period was once kept as a percentage: after a reload with ten
// times the money, the budget was reported as exhausted until the end of the month.
func raised(t *testing.T, p *Place) {
	l := p.budget(t, "1/month")
	l.moved(t, 10*cent)
	require.Equal(t, [][2]int{{0, 100}}, l.moved(t, 95*cent))
	larger := p.budget(t, "10/month")
	assert.Equal(t, [][2]int{{100, 0}}, larger.moved(t, 10*cent))
}
