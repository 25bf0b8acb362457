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

// admitted asks for a request and says whether it was admitted.
func admitted(t *testing.T, c *counter, tokens int64) aigateway.Reservation {
	t.Helper()
	decision := c.Admit(t.Context(), alice, tokens)
	assert.Equal(t, decision.Reached == "", decision.Reservation != nil)
	return decision.Reservation
}

// end ends a request that has used this many tokens.
func end(r aigateway.Reservation, tokens int64) {
	r.Settle(tokens)
	r.Release()
}

func TestAsManyRequestsAsAllowedAreAdmittedInAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, per = 5, time.Minute
		c := newCounter(aigateway.LimitRules{Requests: rate(most, per)})
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
			assert.Greater(t, times[i+most].Sub(times[i]), per, "more than %d within the time", most)
		}
	})
}

// What RetryAfter says is true to the nanosecond: earlier is too early.
func TestARequestThatComesAgainWhenToldIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const per = time.Hour
		c := newCounter(aigateway.LimitRules{Requests: rate(3, per), Tokens: rate(1000, per)})
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

func TestQuotasTellWhatIsLeftAndWhenAllIsThereAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(aigateway.LimitRules{Requests: rate(3, time.Minute), Tokens: rate(100, time.Hour)})
		decision := c.Admit(t.Context(), alice, 60)
		assert.Equal(t, aigateway.Quota{Limit: 3, Remaining: 2, Reset: time.Minute + time.Second}, decision.Requests)
		assert.Equal(t, aigateway.Quota{Limit: 100, Remaining: 40, Reset: time.Hour + time.Minute}, decision.Tokens)
		end(decision.Reservation, 10)
		decision = c.Admit(t.Context(), alice, 95)
		assert.Equal(t, aigateway.TokenRate, decision.Reached)
		assert.Equal(t, int64(2), decision.Requests.Remaining, "a request that is refused counts for nothing")
		assert.Equal(t, int64(90), decision.Tokens.Remaining)
		time.Sleep(2 * time.Minute)
		decision = c.Admit(t.Context(), alice, 0)
		assert.Equal(t, int64(2), decision.Requests.Remaining)
		assert.Equal(t, int64(90), decision.Tokens.Remaining)
		time.Sleep(time.Hour)
		assert.Equal(t, aigateway.Quota{Limit: 100, Remaining: 100}, c.Admit(t.Context(), alice, 0).Tokens)
	})
}

func TestOfSeveralRulesTheOneThatRefusesForLongestIsTold(t *testing.T) {
	c := newCounter(aigateway.LimitRules{Requests: rate(1, time.Minute), Tokens: rate(100, time.Hour), Concurrent: 1})
	first := admitted(t, c, 60)
	assert.Equal(t, aigateway.TokenRate, c.Admit(t.Context(), alice, 60).Reached)
	assert.Equal(t, aigateway.RequestRate, c.Admit(t.Context(), alice, 40).Reached)
	end(first, 60)
	assert.Equal(t, aigateway.RequestRate, c.Admit(t.Context(), alice, 1).Reached)

	c = newCounter(aigateway.LimitRules{Requests: rate(9, time.Minute), Concurrent: 1})
	first = admitted(t, c, 0)
	decision := c.Admit(t.Context(), alice, 0)
	assert.Equal(t, aigateway.ConcurrentRequests, decision.Reached)
	assert.Equal(t, time.Second, decision.RetryAfter)
	end(first, 0)
	assert.NotNil(t, admitted(t, c, 0))
}

func TestARequestThatIsTooLargeForTheRuleIsToldSo(t *testing.T) {
	c := newCounter(aigateway.LimitRules{Tokens: rate(100, time.Minute)})
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

func TestSettlingReplacesWhatWasReservedByWhatWasUsed(t *testing.T) {
	left := func(c *counter) int64 { return c.Admit(t.Context(), alice, 1000).Tokens.Remaining } // too many to be admitted now
	for _, c := range []struct{ used, left int64 }{
		{0, 500}, {30, 470}, {100, 400}, {400, 100}, {700, 0}, {math.MaxInt64, 0},
	} {
		t.Run(fmt.Sprint(c.used), func(t *testing.T) {
			counted := newCounter(aigateway.LimitRules{Tokens: rate(500, time.Hour)})
			end(admitted(t, counted, 100), c.used)
			assert.Equal(t, c.left, left(counted))
		})
	}
}

// Tokens that nobody expected count from when they are known, those that were
// reserved from when they were. What was given back after its time was over
// once would have made room that there was not.
func TestSettlingAfterTheTimeIsOverGivesNothingBackTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(aigateway.LimitRules{Tokens: rate(500, time.Minute)})
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

// A client could once ask for one large answer after the other, and read them so
// slowly that any number of them ran: what was settled ran no more.
func TestWhatIsSettledRunsUntilItIsReleased(t *testing.T) {
	c := newCounter(aigateway.LimitRules{Concurrent: 1})
	first := admitted(t, c, 0)
	first.Settle(0)
	assert.Equal(t, aigateway.ConcurrentRequests, c.Admit(t.Context(), alice, 0).Reached)
	first.Release()
	assert.NotNil(t, admitted(t, c, 0))
}

func TestKeysCountByThemselvesAndSubjectsTogether(t *testing.T) {
	c := newCounter(aigateway.LimitRules{Requests: rate(1, time.Hour)})
	admits := func(key *aigateway.Key) bool { return c.Admit(t.Context(), key, 0).Reservation != nil }
	assert.True(t, admits(keyOf(1)))
	assert.True(t, admits(keyOf(2)))
	assert.False(t, admits(keyOf(1)))
	mine, mineToo, theirs := *keyOf(3), *keyOf(4), *keyOf(5)
	mine.Subject, mineToo.Subject, theirs.Subject = "user 1", "user 1", "user 2"
	assert.True(t, admits(&mine))
	assert.False(t, admits(&mineToo), "another key is no way round a limit")
	assert.True(t, admits(&theirs))
}

// However many ask at once, exactly as many are admitted as may be.
func TestARaceForAQuotaIsNeverWonByTooMany(t *testing.T) {
	const askers, most, tokens = 200, 100, 7
	for name, rules := range map[string]aigateway.LimitRules{
		"requests":   {Requests: rate(most, time.Hour)},
		"tokens":     {Tokens: rate(most*tokens, time.Hour)},
		"concurrent": {Concurrent: most},
		"all":        {Requests: rate(most, time.Hour), Tokens: rate(most*tokens, time.Hour), Concurrent: most},
	} {
		t.Run(name, func(t *testing.T) {
			for range 250 {
				c := newCounter(rules)
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
				if rules.Tokens.Most > 0 && rules.Concurrent == 0 { // what is given back lets others in
					require.GreaterOrEqual(t, in.Load(), int64(most))
					require.Equal(t, rules.Tokens.Most-used.Load(), c.Admit(t.Context(), alice, math.MaxInt64).Tokens.Remaining, "the sum of what was settled")
					continue
				}
				require.Equal(t, int64(most), in.Load())
			}
		})
	}
}

func TestWhatRunsAtOnceNeverExceedsItsRule(t *testing.T) {
	c := newCounter(aigateway.LimitRules{Concurrent: 3})
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
	assert.True(t, c.accounts[subjectOf(alice)].idle(time.Since(c.born)), "nothing is left running")
}

func TestWhoeverIsIdleTakesNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(aigateway.LimitRules{Requests: rate(9, time.Minute), Concurrent: 9})
		running := c.Admit(t.Context(), alice, 0).Reservation
		for n := range 20 * leastRoom {
			end(c.Admit(t.Context(), keyOf(n+2), 0).Reservation, 0)
			if n%leastRoom == 0 {
				time.Sleep(2 * time.Minute)
			}
		}
		assert.LessOrEqual(t, len(c.accounts), 2*leastRoom+1)
		require.Contains(t, c.accounts, subjectOf(alice), "whose request still runs")
		assert.Equal(t, int64(1), c.accounts[subjectOf(alice)].running)
		end(running, 0)
	})
}

func TestAReloadForgetsNothingAndAnotherRuleBeginsAnew(t *testing.T) {
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
	assert.NotNil(t, limitOf(last, rules).Admit(t.Context(), alice, 0).Reservation, "nobody used it in between")
	require.NoError(t, last.Cleanup())
	_, known := pool.References(identity{"small", rules})
	assert.False(t, known)
}

func BenchmarkAdmit(b *testing.B) {
	c := newCounter(aigateway.LimitRules{Requests: rate(1e9, time.Minute), Tokens: rate(1e12, time.Minute), Concurrent: 8})
	b.ReportAllocs()
	for b.Loop() {
		end(c.Admit(b.Context(), alice, 1000).Reservation, 700)
	}
}
