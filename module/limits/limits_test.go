package limits

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func rate(most int64, per time.Duration) aigateway.Rate {
	return aigateway.Rate{Most: most, Per: caddy.Duration(per)}
}

func keyOf(n int) *aigateway.Key {
	return &aigateway.Key{Digest: aigateway.Digest{byte(n), byte(n >> 8)}}
}

var alice = keyOf(1)

// admitted returns the reservation of a request, nil if it is refused.
func admitted(t *testing.T, c *limiter, tokens int64) aigateway.Reservation {
	t.Helper()
	decision := c.Admit(t.Context(), alice, tokens)
	assert.Equal(t, decision.Reached == "", decision.Reservation != nil)
	return decision.Reservation
}

// end ends a request that has used a number of tokens.
func end(r aigateway.Reservation, tokens int64) {
	r.Settle(tokens)
	r.Release()
}

func TestNoPeriodHasMoreRequestsThanTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, per = 5, time.Minute
		c := newLimiter(aigateway.LimitRules{Requests: rate(most, per)})
		var times []time.Time
		for range 5000 {
			time.Sleep(time.Duration(rand.Int64N(int64(9 * time.Second))))
			if r := admitted(t, c, 0); r != nil {
				end(r, 0)
				times = append(times, time.Now())
			}
		}
		require.Greater(t, len(times), 1000)
		for i := range times[most:] {
			assert.Greater(t, times[i+most].Sub(times[i]), per, "more than %d within the period", most)
		}
	})
}

// RetryAfter is exact: a nanosecond earlier, the request is still refused.
func TestARequestIsAdmittedAfterRetryAfterAndNotEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const per = time.Hour
		c := newLimiter(aigateway.LimitRules{Requests: rate(3, per), Tokens: rate(1000, per)})
		waits := 0
		for range 500 {
			time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Minute))))
			tokens := rand.Int64N(500)
			decision := c.Admit(t.Context(), alice, tokens)
			if decision.Reservation != nil {
				end(decision.Reservation, tokens)
				continue
			}
			waits++
			assert.LessOrEqual(t, decision.RetryAfter, per+per/slots)
			time.Sleep(decision.RetryAfter - 1)
			assert.Nil(t, admitted(t, c, tokens), "a nanosecond too early")
			time.Sleep(time.Nanosecond)
			r := admitted(t, c, tokens)
			require.NotNil(t, r)
			end(r, tokens)
		}
		assert.Greater(t, waits, 100)
	})
}

func TestQuotasShowTheUnusedPartAndTheTimeOfTheReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newLimiter(aigateway.LimitRules{Requests: rate(3, time.Minute), Tokens: rate(100, time.Hour)})
		decision := c.Admit(t.Context(), alice, 60)
		assert.Equal(t, aigateway.Quota{Limit: 3, Remaining: 2, Reset: time.Minute + time.Second}, decision.Requests)
		assert.Equal(t, aigateway.Quota{Limit: 100, Remaining: 40, Reset: time.Hour + time.Minute}, decision.Tokens)
		end(decision.Reservation, 10)
		decision = c.Admit(t.Context(), alice, 95)
		assert.Equal(t, aigateway.TokenRate, decision.Reached)
		assert.Equal(t, int64(2), decision.Requests.Remaining, "a refused request does not count")
		assert.Equal(t, int64(90), decision.Tokens.Remaining)
		time.Sleep(2 * time.Minute)
		decision = c.Admit(t.Context(), alice, 0)
		assert.Equal(t, int64(2), decision.Requests.Remaining)
		assert.Equal(t, int64(90), decision.Tokens.Remaining)
		time.Sleep(time.Hour)
		assert.Equal(t, aigateway.Quota{Limit: 100, Remaining: 100}, c.Admit(t.Context(), alice, 0).Tokens)
	})
}

func TestTheRuleWithTheLongestWaitIsReported(t *testing.T) {
	c := newLimiter(aigateway.LimitRules{Requests: rate(1, time.Minute), Tokens: rate(100, time.Hour), Concurrent: 1})
	first := admitted(t, c, 60)
	assert.Equal(t, aigateway.TokenRate, c.Admit(t.Context(), alice, 60).Reached)
	assert.Equal(t, aigateway.RequestRate, c.Admit(t.Context(), alice, 40).Reached)
	end(first, 60)
	assert.Equal(t, aigateway.RequestRate, c.Admit(t.Context(), alice, 1).Reached)

	c = newLimiter(aigateway.LimitRules{Requests: rate(9, time.Minute), Concurrent: 1})
	first = admitted(t, c, 0)
	decision := c.Admit(t.Context(), alice, 0)
	assert.Equal(t, aigateway.ConcurrentRequests, decision.Reached)
	assert.Equal(t, time.Second, decision.RetryAfter)
	end(first, 0)
	assert.NotNil(t, admitted(t, c, 0))
}

func TestARequestWithMoreTokensThanTheRateIsTooLarge(t *testing.T) {
	c := newLimiter(aigateway.LimitRules{Tokens: rate(100, time.Minute)})
	for _, tokens := range []int64{101, math.MaxInt64} {
		decision := c.Admit(t.Context(), alice, tokens)
		assert.Nil(t, decision.Reservation)
		assert.True(t, decision.TooLarge)
		assert.Equal(t, aigateway.TokenRate, decision.Reached)
		assert.Equal(t, time.Minute, decision.RetryAfter)
		assert.Equal(t, int64(100), decision.Tokens.Remaining)
	}
	assert.NotNil(t, admitted(t, c, 100))
}

func TestSettleReplacesReservedTokensByUsedOnes(t *testing.T) {
	left := func(c *limiter) int64 { return c.Admit(t.Context(), alice, 1000).Tokens.Remaining } // more than can be admitted
	for _, c := range []struct{ used, left int64 }{
		{0, 500}, {30, 470}, {100, 400}, {400, 100}, {700, 0}, {math.MaxInt64, 0},
	} {
		t.Run(fmt.Sprint(c.used), func(t *testing.T) {
			counted := newLimiter(aigateway.LimitRules{Tokens: rate(500, time.Hour)})
			end(admitted(t, counted, 100), c.used)
			assert.Equal(t, c.left, left(counted))
		})
	}
}

// Tokens beyond the reserved ones count from the time of Settle, reserved ones from
// the time of Admit. If tokens were subtracted whose slot is over, the rate would
// have room that it does not have.
func TestSettleAfterThePeriodSubtractsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newLimiter(aigateway.LimitRules{Tokens: rate(500, time.Minute)})
		early, late := admitted(t, c, 200), admitted(t, c, 200)
		time.Sleep(2 * time.Minute)
		end(early, 0)
		assert.Equal(t, int64(500), c.Admit(t.Context(), alice, 501).Tokens.Remaining)
		end(late, 450)
		assert.Equal(t, int64(250), c.Admit(t.Context(), alice, 501).Tokens.Remaining)
		time.Sleep(time.Minute + time.Second)
		assert.Equal(t, int64(500), c.Admit(t.Context(), alice, 501).Tokens.Remaining)
	})
}

// A settled request was once not counted as running any more. A client that read
// its answers slowly could have any number of requests running.
func TestASettledRequestRunsUntilItIsReleased(t *testing.T) {
	c := newLimiter(aigateway.LimitRules{Concurrent: 1})
	first := admitted(t, c, 0)
	first.Settle(0)
	assert.Equal(t, aigateway.ConcurrentRequests, c.Admit(t.Context(), alice, 0).Reached)
	first.Release()
	assert.NotNil(t, admitted(t, c, 0))
}

func TestKeysAreCountedAloneAndSubjectsTogether(t *testing.T) {
	c := newLimiter(aigateway.LimitRules{Requests: rate(1, time.Hour)})
	admits := func(key *aigateway.Key) bool { return c.Admit(t.Context(), key, 0).Reservation != nil }
	assert.True(t, admits(keyOf(1)))
	assert.True(t, admits(keyOf(2)))
	assert.False(t, admits(keyOf(1)))
	mine, mineToo, theirs := *keyOf(3), *keyOf(4), *keyOf(5)
	mine.Subject, mineToo.Subject, theirs.Subject = "user 1", "user 1", "user 2"
	assert.True(t, admits(&mine))
	assert.False(t, admits(&mineToo), "another key of the user has the same limit")
	assert.True(t, admits(&theirs))
}

// Of any number of concurrent requests, exactly as many are admitted as the limit allows.
func TestConcurrentRequestsNeverExceedALimit(t *testing.T) {
	const askers, most, tokens = 200, 100, 7
	for name, rules := range map[string]aigateway.LimitRules{
		"requests":   {Requests: rate(most, time.Hour)},
		"tokens":     {Tokens: rate(most*tokens, time.Hour)},
		"concurrent": {Concurrent: most},
		"all":        {Requests: rate(most, time.Hour), Tokens: rate(most*tokens, time.Hour), Concurrent: most},
	} {
		t.Run(name, func(t *testing.T) {
			for range 250 {
				c := newLimiter(rules)
				var all sync.WaitGroup
				var in, used atomic.Int64
				for i := range askers {
					all.Go(func() {
						if decision := c.Admit(t.Context(), alice, tokens); decision.Reservation != nil {
							in.Add(1)
							if rules.Concurrent == 0 {
								used.Add(int64(i % tokens))
								end(decision.Reservation, int64(i%tokens))
							}
						}
					})
				}
				all.Wait()
				if rules.Tokens.Most > 0 && rules.Concurrent == 0 { // subtracted tokens make room for others
					require.GreaterOrEqual(t, in.Load(), int64(most))
					require.Equal(t, rules.Tokens.Most-used.Load(), c.Admit(t.Context(), alice, math.MaxInt64).Tokens.Remaining, "the sum of the settled tokens")
					continue
				}
				require.Equal(t, int64(most), in.Load())
			}
		})
	}
}

func TestRunningRequestsNeverExceedTheirRule(t *testing.T) {
	c := newLimiter(aigateway.LimitRules{Concurrent: 3})
	var all sync.WaitGroup
	var running, in atomic.Int64
	for range 16 {
		all.Go(func() {
			for range 500 {
				if decision := c.Admit(t.Context(), alice, 0); decision.Reservation != nil {
					in.Add(1)
					assert.LessOrEqual(t, running.Add(1), int64(3))
					running.Add(-1)
					end(decision.Reservation, 0)
				}
			}
		})
	}
	all.Wait()
	assert.Positive(t, in.Load())
	assert.True(t, c.tallies[subjectOf(alice)].idle(time.Since(c.created)), "nothing is left running")
}

func TestIdleKeysFreeTheirMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newLimiter(aigateway.LimitRules{Requests: rate(9, time.Minute), Concurrent: 9})
		running := c.Admit(t.Context(), alice, 0).Reservation
		for n := range 20 * minSweep {
			end(c.Admit(t.Context(), keyOf(n+2), 0).Reservation, 0)
			if n%minSweep == 0 {
				time.Sleep(2 * time.Minute)
			}
		}
		assert.LessOrEqual(t, len(c.tallies), 2*minSweep+1)
		require.Contains(t, c.tallies, subjectOf(alice), "its request still runs")
		assert.Equal(t, int64(1), c.tallies[subjectOf(alice)].running)
		end(running, 0)
	})
}

func TestAReloadKeepsCountsUnlessTheRulesChange(t *testing.T) {
	rules := aigateway.LimitRules{Requests: rate(1, time.Hour)}
	other := aigateway.LimitRules{Requests: rate(2, time.Hour)}
	limitOf := func(m *Memory, rules aigateway.LimitRules) aigateway.Limiter {
		limit, err := m.Limiter("small", rules)
		require.NoError(t, err)
		return limit
	}
	before, after, last := new(Memory), new(Memory), new(Memory)
	running := limitOf(before, rules).Admit(t.Context(), alice, 0).Reservation
	require.NotNil(t, running)
	kept, changed := limitOf(after, rules), limitOf(after, other)
	require.NoError(t, before.Cleanup())
	assert.Nil(t, kept.Admit(t.Context(), alice, 0).Reservation)
	assert.NotNil(t, changed.Admit(t.Context(), alice, 0).Reservation)
	end(running, 0)
	require.NoError(t, after.Cleanup())
	assert.NotNil(t, limitOf(last, rules).Admit(t.Context(), alice, 0).Reservation, "no configuration used it in between")
	require.NoError(t, last.Cleanup())
	_, known := pool.References(identity{"small", rules})
	assert.False(t, known)
}

func BenchmarkAdmit(b *testing.B) {
	c := newLimiter(aigateway.LimitRules{Requests: rate(1e9, time.Minute), Tokens: rate(1e12, time.Minute), Concurrent: 8})
	b.ReportAllocs()
	for b.Loop() {
		end(c.Admit(b.Context(), alice, 1000).Reservation, 700)
	}
}
