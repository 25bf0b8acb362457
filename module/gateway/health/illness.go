package health

import "time"

// illness is what is remembered of a target that fails.
type illness struct {
	class    Class
	failures [failuresToRest]time.Time // the last ones in a row, as a ring
	count    int                       // of failures in a row
	last     time.Time                 // when the last failure was noted
	rests    int                       // in a row
	until    time.Time                 // end of the rest, or of the wait for its probe; zero before the first rest
}

// resting reports whether the target rests, or waits for its probe.
func (i *illness) resting(now time.Time) bool { return now.Before(i.until) }

// awaitsProbe reports whether a rest is over, and the next attempt shows whether the
// target has recovered.
func (i *illness) awaitsProbe(now time.Time) bool {
	return i.rests > 0 && !i.resting(now) && !i.forgotten(now)
}

// forgotten reports whether the illness is too old to count.
func (i *illness) forgotten(now time.Time) bool {
	return now.Sub(i.last) > forgetAfter && now.Sub(i.until) > forgetAfter
}

// fail notes a failure. first is the length of the first rest.
func (i *illness) fail(o Outcome, now time.Time, first time.Duration) {
	i.class, i.last = o.Class, now
	i.failures[i.count%failuresToRest] = now
	i.count++
	switch {
	case o.RetryAfter > 0:
		i.extend(now.Add(min(o.RetryAfter, longestRest)))
	case i.resting(now): // began before the rest, or was asked for want of a better one
	case o.Class.ofKey() || i.rests > 0 || i.burst(now):
		i.extend(now.Add(i.nextRest(first)))
	}
}

// burst reports whether the last failures came within the window.
func (i *illness) burst(now time.Time) bool {
	oldest := i.failures[i.count%failuresToRest]
	return i.count >= failuresToRest && now.Sub(oldest) <= failureWindow
}

// nextRest returns the length of the next rest.
func (i *illness) nextRest(first time.Duration) time.Duration {
	rest := first
	for range i.rests {
		if rest *= 2; rest > longestRest {
			return longestRest
		}
	}
	return min(rest, longestRest)
}

// extend begins a rest, or makes the current one longer.
func (i *illness) extend(until time.Time) {
	if until.After(i.until) {
		i.until = until
		i.rests++
	}
}
