package counterstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func noPeriodHasMore(t *testing.T, p *Place) {
	const limit, period = 5, time.Minute
	l := p.one(t, aigateway.LimitRules{Requests: rate(limit, period)})
	var times []time.Time
	for range 1500 {
		p.Advance(time.Duration(rand.Int64N(int64(9 * time.Second))))
		if r := l.admits(t, 0); r != nil {
			end(r, 0)
			times = append(times, p.Now())
		}
	}
	require.Greater(t, len(times), 300)
	for i := range times[limit:] {
		assert.Greater(t, times[i+limit].Sub(times[i]), period, "more than %d within the period", limit)
	}
}

// RetryAfter is exact: a microsecond earlier, the request is still refused.
func retryAfterIsExact(t *testing.T, p *Place) {
	const period = time.Hour
	l := p.one(t, aigateway.LimitRules{Requests: rate(3, period), Tokens: rate(1000, period)})
	waits := 0
	for range 200 {
		p.Advance(time.Duration(rand.Int64N(int64(10 * time.Minute))))
		tokens := rand.Int64N(500)
		decision := l.ask(alice, tokens, 0)
		if decision.Reservation != nil {
			end(decision.Reservation, tokens)
			continue
		}
		waits++
		assert.LessOrEqual(t, decision.RetryAfter, period+period/60)
		p.Advance(decision.RetryAfter - time.Microsecond)
		assert.Nil(t, l.admits(t, tokens), "too early")
		p.Advance(time.Microsecond)
		r := l.admits(t, tokens)
		require.NotNil(t, r)
		end(r, tokens)
	}
	assert.Greater(t, waits, 40)
}

func quotas(t *testing.T, p *Place) {
	l := p.one(t, aigateway.LimitRules{Requests: rate(3, time.Minute), Tokens: rate(100, time.Hour)})
	left := func(want aigateway.Quota, got aigateway.Quota, period time.Duration) {
		t.Helper()
		assert.Equal(t, [2]int64{want.Limit, want.Remaining}, [2]int64{got.Limit, got.Remaining})
		assert.Greater(t, got.Reset, period)
		assert.LessOrEqual(t, got.Reset, period+period/60)
	}
	decision := l.ask(alice, 60, 0)
	left(aigateway.Quota{Limit: 3, Remaining: 2}, decision.Requests, time.Minute)
	left(aigateway.Quota{Limit: 100, Remaining: 40}, decision.Tokens, time.Hour)
	end(decision.Reservation, 10)
	decision = l.ask(alice, 95, 0)
	assert.Equal(t, aigateway.TokenRate, decision.Reached)
	assert.Equal(t, int64(2), decision.Requests.Remaining, "a refused request does not count")
	assert.Equal(t, int64(90), decision.Tokens.Remaining)
	p.Advance(2 * time.Minute)
	decision = l.ask(alice, 0, 0)
	assert.Equal(t, int64(2), decision.Requests.Remaining)
	assert.Equal(t, int64(90), decision.Tokens.Remaining)
	p.Advance(time.Hour)
	assert.Equal(t, aigateway.Quota{Limit: 100, Remaining: 100}, l.ask(alice, 0, 0).Tokens)
}

func longestWait(t *testing.T, p *Place) {
	l := p.one(t, aigateway.LimitRules{Requests: rate(1, time.Minute), Tokens: rate(100, time.Hour), Concurrent: 1})
	first := l.admits(t, 60)
	assert.Equal(t, aigateway.TokenRate, l.ask(alice, 60, 0).Reached)
	assert.Equal(t, aigateway.RequestRate, l.ask(alice, 40, 0).Reached)
	end(first, 60)
	assert.Equal(t, aigateway.RequestRate, l.ask(alice, 1, 0).Reached)

	l = p.open(t, &aigateway.Limit{Name: "other", LimitRules: aigateway.LimitRules{Requests: rate(9, time.Minute), Concurrent: 1}})
	first = l.admits(t, 0)
	decision := l.ask(alice, 0, 0)
	assert.Equal(t, aigateway.ConcurrentRequests, decision.Reached)
	assert.Equal(t, time.Second, decision.RetryAfter)
	end(first, 0)
	assert.NotNil(t, l.admits(t, 0))
}

func tooLarge(t *testing.T, p *Place) {
	l := p.one(t, aigateway.LimitRules{Tokens: rate(100, time.Minute)})
	for _, tokens := range []int64{101, math.MaxInt64} {
		decision := l.ask(alice, tokens, 0)
		assert.Nil(t, decision.Reservation)
		assert.True(t, decision.TooLarge)
		assert.Equal(t, aigateway.TokenRate, decision.Reached)
		assert.Zero(t, decision.RetryAfter, "waiting does not help")
		assert.Equal(t, int64(100), decision.Tokens.Remaining)
	}
	assert.NotNil(t, l.admits(t, 100))
}

// leftTokens returns the remaining tokens, which the refusal of a large request contains.
func (l *limiter) leftTokens() int64 { return l.ask(alice, 501, 0).Tokens.Remaining }

func settleReplaces(t *testing.T, p *Place) {
	for _, c := range []struct{ used, left int64 }{
		{0, 500}, {30, 470}, {100, 400}, {400, 100}, {700, 0}, {math.MaxInt64, 0},
	} {
		l := p.open(t, &aigateway.Limit{Name: fmt.Sprint("used", c.used), LimitRules: aigateway.LimitRules{Tokens: rate(500, time.Hour)}})
		end(l.admits(t, 100), c.used)
		assert.Equal(t, c.left, l.leftTokens(), c.used)
	}
}

// Reserved tokens count from the time of Admit, and further tokens from the time of Settle.
// If tokens were subtracted although their slot no longer counts, the rate would admit too
// many.
func settleAfterThePeriod(t *testing.T, p *Place) {
	l := p.one(t, aigateway.LimitRules{Tokens: rate(500, time.Minute)})
	early, late := l.admits(t, 200), l.admits(t, 200)
	p.Advance(2 * time.Minute)
	end(early, 0)
	assert.Equal(t, int64(500), l.leftTokens())
	end(late, 450)
	assert.Equal(t, int64(250), l.leftTokens())
	p.Advance(time.Minute + 2*time.Second)
	assert.Equal(t, int64(500), l.leftTokens())
}

// A settled request once no longer counted as running. A client that read its answers
// slowly could have any number of running requests.
func settledRuns(t *testing.T, p *Place) {
	l := p.one(t, aigateway.LimitRules{Concurrent: 1})
	first := l.admits(t, 0)
	first.Settle(aigateway.Use{})
	assert.Equal(t, aigateway.ConcurrentRequests, l.ask(alice, 0, 0).Reached)
	first.Release()
	assert.NotNil(t, l.admits(t, 0))
}

// A client may send its next request immediately after it has read the whole answer.
func oneAfterTheOther(t *testing.T, p *Place) {
	l := p.one(t, aigateway.LimitRules{Concurrent: 1})
	for range 100 {
		r := l.admits(t, 0)
		require.NotNil(t, r)
		end(r, 0)
	}
}

// A reload that changed an amount once reset the counts: the old and the new amount could
// be used on the same day.
func reload(t *testing.T, p *Place) {
	small := func(limit int64, period time.Duration) *aigateway.Limit {
		return &aigateway.Limit{Name: "small", LimitRules: aigateway.LimitRules{Requests: rate(limit, period)}}
	}
	old := p.open(t, small(1, time.Hour))
	running := old.admits(t, 0)
	require.NotNil(t, running)
	same, more, other := p.open(t, small(1, time.Hour)), p.open(t, small(2, time.Hour)), p.open(t, small(1, time.Minute))
	assert.Nil(t, same.admits(t, 0))
	assert.NotNil(t, more.admits(t, 0))
	assert.Nil(t, more.admits(t, 0))
	assert.NotNil(t, other.admits(t, 0))
	end(running, 0)
	assert.Nil(t, same.admits(t, 0))
}
