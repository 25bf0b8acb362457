package throttle

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// newNames returns a throttle with the parameters for names in networks.
func newNames() *Throttle { return New(5, time.Minute) }

// try makes an attempt with an outcome, and returns the time to wait, 0 if it was
// admitted.
func try(t *Throttle, key string, o Outcome) time.Duration {
	c, wait := t.Begin(key)
	if c != nil {
		t.End(c, o)
	}
	return wait
}

func TestThrottleBlocksForTwiceAsLongEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := newNames()
		for range 5 {
			assert.Zero(t, try(names, "alice", Failed))
		}
		for _, minutes := range []int{1, 2, 4, 8, 16, 16, 16} {
			wait := try(names, "alice", Failed)
			assert.Equal(t, time.Duration(minutes)*time.Minute, wait)
			assert.Zero(t, try(names, "bob", Undecided), "another name")
			time.Sleep(wait) // on the fake clock
			for try(names, "alice", Failed) == 0 {
			}
		}
		time.Sleep(maxBlock + resetAfter + time.Minute)
		for range 5 {
			assert.Zero(t, try(names, "alice", Failed))
		}
		assert.Equal(t, time.Minute, try(names, "alice", Failed), "the failures have decayed")
	})
}

func TestThrottleAdmitsNoMoreThanItsBurst(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Millisecond, time.Second, 10 * time.Second, 29 * time.Second, 59 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			names := newNames()
			var let []time.Time
			for start := time.Now(); time.Since(start) < 3*time.Hour; time.Sleep(max(pause, time.Millisecond)) {
				if wait := try(names, "alice", Failed); wait > 0 {
					time.Sleep(wait)
					continue
				}
				let = append(let, time.Now())
			}
			for i := range let {
				if i >= 5 {
					assert.GreaterOrEqual(t, let[i].Sub(let[i-5]), time.Minute, "pause %s, attempt %d", pause, i)
				}
			}
			assert.Less(t, len(let), 200, "in three hours, with a pause of %s", pause)
		})
	}
}

func TestSuccessClearsTheFailuresOfAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := newNames()
		for range 10 {
			for range 4 {
				assert.Zero(t, try(names, "alice", Failed))
			}
			assert.Zero(t, try(names, "alice", Succeeded))
		}
	})
}

// Parallel attempts were once all admitted before the first of them had failed.
func TestThrottleCountsRunningAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := newNames()
		var running []*Counter
		for {
			c, wait := names.Begin("alice")
			if c == nil {
				assert.Equal(t, time.Second, wait)
				break
			}
			running = append(running, c)
		}
		assert.Len(t, running, 5)
		for _, c := range running {
			names.End(c, Undecided)
		}
		assert.Zero(t, try(names, "alice", Undecided), "an undecided attempt does not count")
	})
}

func TestThrottleHasABoundedNumberOfKeys(t *testing.T) {
	names := newNames()
	kept, _ := names.Begin("kept")
	for i := range 3 * maxCounters {
		try(names, fmt.Sprint(i), Failed)
	}
	assert.Len(t, names.counters, maxCounters)
	assert.Equal(t, maxCounters, names.recent.Len())
	names.End(kept, Failed)
	assert.Contains(t, names.counters, "kept", "a key with a running attempt is not evicted")
}

// Many other names once made the throttle forget a blocked name.
func TestManyNamesEvictNoBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pairs := newNames()
		for range 5 {
			try(pairs, "alice", Failed)
		}
		for i := range 2 * maxCounters {
			try(pairs, fmt.Sprint(i), Failed)
		}
		assert.Equal(t, time.Minute, try(pairs, "alice", Failed))
	})
}
