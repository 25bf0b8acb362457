package health_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
)

var (
	target   = health.ID{Provider: "p", Key: "{env.A}", Model: "m"}
	sibling  = health.ID{Provider: "p", Key: "{env.A}", Model: "other"}
	otherKey = health.ID{Provider: "p", Key: "{env.B}", Model: "m"}
)

// rules are the defaults.
var rules = health.Rules{First: health.DefaultRest, FailRate: health.DefaultFailRate}

func begin(m *health.Memory, t health.ID) health.Visit {
	v, _ := m.Begin(t, 0)
	return v
}

// attempt makes one attempt that ends with a class.
func attempt(m *health.Memory, t health.ID, class health.Class, retryAfter ...time.Duration) health.Change {
	o := health.Outcome{Class: class}
	for _, d := range retryAfter {
		o.RetryAfter = d
	}
	time.Sleep(time.Millisecond) // of the synctest clock, so that attempts have different times
	return begin(m, t).End(o, rules)
}

func repeat(n int, m *health.Memory, t health.ID, class health.Class) {
	for range n {
		attempt(m, t, class)
	}
}

// rest returns the remaining rest of a target.
func rest(m *health.Memory, t health.ID) time.Duration {
	until := m.RestsUntil(t)
	if until.IsZero() {
		return 0
	}
	return time.Until(until)
}

func TestFiveFailuresInARowLetATargetRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		repeat(4, &m, target, health.Failed)
		assert.Zero(t, rest(&m, target))
		assert.Equal(t, health.Down, attempt(&m, target, health.TimedOut))
		assert.Equal(t, health.DefaultRest, rest(&m, target))
		assert.Zero(t, rest(&m, sibling), "another model of the same key")
		assert.Zero(t, rest(&m, otherKey))
		time.Sleep(health.DefaultRest)
		assert.Zero(t, rest(&m, target))
	})
}

// A busy target has five failures in ten seconds even if only a small share of its
// requests fail. Only consecutive failures let it rest.
func TestASuccessBetweenFailuresBeginsTheCountAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		for range 20 {
			repeat(4, &m, target, health.Failed)
			repeat(20, &m, target, health.Healthy)
			assert.Equal(t, health.Healthy, m.State(target).Class)
		}
		assert.Zero(t, rest(&m, target))
	})
}

// A target that failed two of five calls never rested, because an answer began the count
// again.
func TestATargetThatOftenFailsRests(t *testing.T) {
	for name, test := range map[string]struct {
		failed, answered int // in turn
		pause            time.Duration
		rules            health.Rules
		rests            bool
	}{
		"two of five":                  {2, 3, 0, rules, true},
		"one of five":                  {1, 4, 0, rules, false},
		"one of five, with a low rate": {1, 4, 0, health.Rules{First: health.DefaultRest, FailRate: 20}, true},
		"switched off":                 {2, 3, 0, health.Rules{First: health.DefaultRest, FailRate: -1}, false},
		"a few calls in an hour":       {2, 3, time.Minute, rules, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m health.Memory
				end := func(class health.Class) {
					time.Sleep(time.Millisecond + test.pause)
					begin(&m, target).End(health.Outcome{Class: class}, test.rules)
				}
				for range 20 {
					for range test.failed {
						end(health.Failed)
					}
					if rest(&m, target) > 0 {
						break
					}
					for range test.answered {
						end(health.Healthy)
					}
				}
				assert.Equal(t, test.rests, rest(&m, target) > 0)
				if !test.rests {
					return
				}
				time.Sleep(health.DefaultRest)
				assert.Equal(t, health.Up, attempt(&m, target, health.Healthy))
				repeat(4, &m, target, health.Failed)
				assert.Zero(t, rest(&m, target), "the count begins again after the probe")
			})
		})
	}
}

func TestFailuresThatAreFarApartLetNothingRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		for range 20 {
			attempt(&m, target, health.Failed)
			time.Sleep(20 * time.Second)
		}
		assert.Zero(t, rest(&m, target))
	})
}

// Five timeouts one after the other are never within ten seconds or a minute: a client that waited for one answer
// after the other waited for each of them, without an end.
func TestSlowFailuresLetATargetRest(t *testing.T) {
	for name, test := range map[string]struct {
		took, pause time.Duration // of each failed call, and behind it
		answered    int           // calls behind each failed one
		calls       int           // failed ones until the rest; 0 for no rest
	}{
		"timeouts in a row":           {16 * time.Second, 0, 0, 5},
		"beside answers of others":    {16 * time.Second, 20 * time.Second, 0, 5},
		"the default timeout":         {5 * time.Minute, time.Minute, 0, 5},
		"behind a deadline":           {3 * time.Second, time.Second, 0, 5},
		"half of the calls":           {16 * time.Second, time.Second, 1, 5},
		"few of the calls":            {16 * time.Second, time.Second, 2, 0},
		"far apart":                   {16 * time.Second, 2 * time.Minute, 0, 0},
		"fast ones, far apart":        {time.Second, 20 * time.Second, 0, 0},
		"a fast row is a row as ever": {100 * time.Millisecond, 2 * time.Second, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m health.Memory
				end := func(class health.Class, took time.Duration) {
					v := begin(&m, target)
					time.Sleep(took)
					v.End(health.Outcome{Class: class}, rules)
				}
				calls := 0
				for calls < 20 && rest(&m, target) == 0 {
					calls++
					end(health.TimedOut, test.took)
					if rest(&m, target) > 0 {
						break
					}
					for range test.answered {
						end(health.Healthy, time.Second)
					}
					time.Sleep(test.pause)
				}
				if test.calls == 0 {
					assert.Zero(t, rest(&m, target))
					return
				}
				assert.Equal(t, test.calls, calls)
				assert.Equal(t, health.DefaultRest, rest(&m, target))
			})
		})
	}
}

func TestWhatShowsNothingOfTheTargetLeavesItAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		repeat(100, &m, target, health.Unknown)
		assert.Zero(t, rest(&m, target))
		repeat(4, &m, target, health.Failed)
		attempt(&m, target, health.Unknown)
		assert.Equal(t, health.Down, attempt(&m, target, health.Failed))
	})
}

func TestRestsGrowUntilAProbeSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		repeat(5, &m, target, health.Failed)
		for _, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
			assert.Equal(t, want, rest(&m, target))
			time.Sleep(want)
			assert.Equal(t, health.Same, attempt(&m, target, health.Failed), "it was down already")
		}
		time.Sleep(10 * time.Minute)
		assert.Equal(t, health.Up, attempt(&m, target, health.Healthy))
		repeat(5, &m, target, health.Failed)
		assert.Equal(t, health.DefaultRest, rest(&m, target))
	})
}

// Every request after the rest was a probe, so a provider that had just recovered got all
// of them at once.
func TestAfterARestOneAttemptIsTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		repeat(5, &m, target, health.Failed)
		time.Sleep(health.DefaultRest)
		probe := begin(&m, target)
		assert.Positive(t, rest(&m, target), "for all others")

		probe.End(health.Outcome{Class: health.Unknown}, rules)
		assert.Zero(t, rest(&m, target), "the client has left: another attempt may be the probe")

		begin(&m, target)
		time.Sleep(time.Minute)
		assert.Zero(t, rest(&m, target), "a long answer does not keep others waiting")
	})
}

// If a client left while its request was an overdue probe, it ended the rest that the
// failure of the next probe had begun.
func TestAProbeThatEndsLateEndsNoLaterRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		repeat(5, &m, target, health.Failed)
		time.Sleep(health.DefaultRest)
		slow := begin(&m, target)
		time.Sleep(time.Minute)
		attempt(&m, target, health.RateLimited, 5*time.Minute)
		slow.End(health.Outcome{Class: health.Unknown}, rules)
		assert.Equal(t, 5*time.Minute, rest(&m, target))
	})
}

// The success of a stream that began before the failures does not prove that the target
// has recovered.
func TestAnAttemptFromBeforeTheFailuresEndsNoRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		early := begin(&m, target)
		repeat(5, &m, target, health.Failed)
		assert.Equal(t, health.Same, early.End(health.Outcome{Class: health.Healthy}, rules))
		assert.Equal(t, health.DefaultRest, rest(&m, target))
	})
}

// With a hundred running requests, the failure of each doubled the rest.
func TestFailuresDuringARestDoNotMakeItLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		var visits []health.Visit
		for range 100 {
			visits = append(visits, begin(&m, target))
		}
		for _, v := range visits {
			v.End(health.Outcome{Class: health.Failed}, rules)
		}
		assert.Equal(t, health.DefaultRest, rest(&m, target))
	})
}

func TestAnAPIKeyThatIsRefusedRestsWithAllModels(t *testing.T) {
	for _, class := range []health.Class{health.CredentialRefused, health.AccountExhausted} {
		synctest.Test(t, func(t *testing.T) {
			var m health.Memory
			assert.Equal(t, health.Down, attempt(&m, target, class))
			assert.Equal(t, health.DefaultRest, rest(&m, target))
			assert.Equal(t, health.DefaultRest, rest(&m, sibling))
			assert.Zero(t, rest(&m, otherKey))
			assert.Equal(t, class, m.State(sibling).Class)
			time.Sleep(time.Minute)
			assert.Equal(t, health.Up, attempt(&m, sibling, health.Healthy))
			assert.Equal(t, health.State{Class: health.Healthy}, m.State(target))
		})
	}
}

// After the rotation of a refused key, requests once avoided the new one until the rest of
// the old one was over.
func TestAChangedAPIKeyIsProbedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		attempt(&m, target, health.CredentialRefused)
		attempt(&m, otherKey, health.CredentialRefused)
		m.EndRest(target.Provider, target.Key)
		assert.Zero(t, rest(&m, target))
		assert.NotZero(t, rest(&m, otherKey))
		probe := begin(&m, target)
		assert.NotZero(t, rest(&m, target), "a single attempt is the probe")
		assert.Equal(t, health.Up, probe.End(health.Outcome{Class: health.Healthy}, rules))
	})
}

func TestARateLimitRestsForAsLongAsTheProviderWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		assert.Equal(t, health.Down, attempt(&m, target, health.RateLimited, 7*time.Second))
		assert.Equal(t, 7*time.Second, rest(&m, target))
		attempt(&m, otherKey, health.Overloaded, 23*time.Hour)
		assert.Equal(t, 10*time.Minute, rest(&m, otherKey), "no longer than any rest")
		attempt(&m, sibling, health.RateLimited)
		assert.Zero(t, rest(&m, sibling), "without a time, it is a failure like others")
	})
}

func TestTargetsWithoutCooldownNeverRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		for range 10 {
			begin(&m, target).End(health.Outcome{Class: health.RateLimited, RetryAfter: time.Minute}, health.Rules{})
		}
		assert.Zero(t, rest(&m, target))
	})
}

func TestAnOldIllnessIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		repeat(5, &m, target, health.Failed)
		assert.Equal(t, health.Failed, m.State(target).Class)
		time.Sleep(time.Hour)
		assert.Equal(t, health.Healthy, m.State(target).Class)
		repeat(4, &m, target, health.Failed)
		assert.Zero(t, rest(&m, target), "the first failure is not taken for a failed probe of the old rest")
	})
}

// Clients may use any number of model names of some providers.
func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		for i := range 10_000 {
			attempt(&m, health.ID{Provider: "p", Model: fmt.Sprint(i)}, health.RateLimited, time.Minute)
		}
		remembered := 0
		for i := range 10_000 {
			if rest(&m, health.ID{Provider: "p", Model: fmt.Sprint(i)}) > 0 {
				remembered++
			}
		}
		assert.LessOrEqual(t, remembered, 4096)
		assert.Positive(t, rest(&m, health.ID{Provider: "p", Model: "9999"}), "the last one")
	})
}

func TestRunningAttemptsAreCountedForTargetsAndProviders(t *testing.T) {
	var m health.Memory
	first, second := begin(&m, target), begin(&m, otherKey)
	assert.Equal(t, 2, m.State(health.ID{Provider: "p"}).Running)
	assert.Equal(t, 1, m.State(target).Running)
	first.End(health.Outcome{}, health.Rules{})
	assert.Equal(t, 1, m.State(health.ID{Provider: "p"}).Running)
	assert.Zero(t, m.State(target).Running)
	second.End(health.Outcome{Class: health.Failed}, rules)
	assert.Zero(t, m.State(health.ID{Provider: "p"}).Running)
}

func TestAProviderTakesNoMoreAttemptsAtOnceThanItMay(t *testing.T) {
	var m health.Memory
	first, ok := m.Begin(target, 2)
	assert.True(t, ok)
	_, ok = m.Begin(otherKey, 2)
	assert.True(t, ok)
	_, ok = m.Begin(sibling, 2)
	assert.False(t, ok, "of the same provider")
	_, ok = m.Begin(health.ID{Provider: "other"}, 2)
	assert.True(t, ok)
	first.End(health.Outcome{}, health.Rules{})
	_, ok = m.Begin(sibling, 2)
	assert.True(t, ok)
	assert.Equal(t, 2, m.State(health.ID{Provider: "p"}).Running)
}

func TestModelsAreThoseThatFailedOrRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		repeat(5, &m, target, health.Failed)
		begin(&m, sibling)
		begin(&m, otherKey)
		assert.ElementsMatch(t, []string{"m", "other"}, m.Models("p", "{env.A}"))
		assert.Equal(t, []string{"m"}, m.Models("p", "{env.B}"))
		assert.Empty(t, m.Models("other", "{env.A}"))
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"other"}, m.Models("p", "{env.A}"))
	})
}

func TestMemoryMayBeUsedFromManyGoroutines(t *testing.T) {
	var m health.Memory
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 200 {
				m.RestsUntil(target)
				begin(&m, target).End(health.Outcome{Class: health.Class((i + n) % 4)}, health.Rules{First: time.Nanosecond})
				m.State(target)
			}
		})
	}
	all.Wait()
	assert.Zero(t, m.State(health.ID{Provider: "p"}).Running)
}

// A target whose rest is over was shown as available until its next failure, so that a
// provider that was down all day looked well every ten minutes.
func TestATargetIsDownUntilItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		assert.False(t, m.IsDown(target))
		repeat(4, &m, target, health.Failed)
		assert.False(t, m.IsDown(target), "a few failures are no rest")
		attempt(&m, target, health.Failed)
		assert.True(t, m.IsDown(target))
		assert.False(t, m.IsDown(sibling))
		time.Sleep(health.DefaultRest + time.Second)
		assert.Zero(t, rest(&m, target))
		assert.True(t, m.IsDown(target), "its probe has not come yet")
		attempt(&m, target, health.Healthy)
		assert.False(t, m.IsDown(target))
		attempt(&m, target, health.CredentialRefused)
		assert.True(t, m.IsDown(sibling), "the key is refused for all models")
		assert.False(t, m.IsDown(otherKey))
	})
}

func TestAllModelsAreDownIfNoneHasAnsweredSinceOneFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m health.Memory
		all := func() bool { return m.AllDown("p", "{env.A}") }
		assert.False(t, all(), "of a new provider nothing is known")
		repeat(5, &m, target, health.Failed)
		assert.True(t, all(), "no other model was asked")
		assert.False(t, m.AllDown("p", "{env.B}"))
		attempt(&m, sibling, health.Healthy)
		assert.False(t, all())
		repeat(5, &m, sibling, health.Failed)
		assert.True(t, all())
		attempt(&m, target, health.Healthy)
		assert.False(t, all())
		attempt(&m, sibling, health.Healthy)
		repeat(5, &m, target, health.Failed)
		assert.True(t, all(), "what was answered before is no proof")
	})
}
