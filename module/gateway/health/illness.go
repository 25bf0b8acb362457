package health

import "time"

// illness is the recent history of a target that fails.
type illness struct {
	class    Class                     // of the last failure; Healthy after an answer
	failures [failuresToRest]time.Time // times of the last consecutive failures, as a ring
	count    int                       // of consecutive failures
	rate     rate
	last     time.Time // time of the last failure
	rests    int       // number of consecutive rests
	until    time.Time // end of the rest, or of the wait for its probe; zero before the first rest
}

// resting reports whether the target rests, or waits for its probe.
func (i *illness) resting(now time.Time) bool { return now.Before(i.until) }

// awaitsProbe reports whether a rest is over, so that the next attempt is the probe that
// shows whether the target has recovered.
func (i *illness) awaitsProbe(now time.Time) bool {
	return i.rests > 0 && !i.resting(now) && !i.forgotten(now)
}

// forgotten reports whether the illness is too old to count.
func (i *illness) forgotten(now time.Time) bool {
	return now.Sub(i.last) > forgetAfter && now.Sub(i.until) > forgetAfter
}

// answer records an answer of a target that has failed, but has not rested.
func (i *illness) answer() { i.class, i.count = Healthy, 0 }

// fail records a failure.
func (i *illness) fail(o Outcome, now time.Time, rules Rules) {
	i.class, i.last = o.Class, now
	i.rate.add(now, true)
	i.failures[i.count%failuresToRest] = now
	i.count++
	switch {
	case o.RetryAfter > 0:
		i.extend(now.Add(min(o.RetryAfter, longestRest)))
	case i.resting(now): // the attempt began before the rest, or all other targets rest, too
	case o.Class.ofKey() || i.rests > 0 || i.burst(now) || i.rate.reaches(rules.FailRate):
		i.extend(now.Add(i.nextRest(rules.First)))
	}
}

// burst reports whether the last failuresToRest failures happened within failureWindow.
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

// extend begins a rest, or extends the current one.
func (i *illness) extend(until time.Time) {
	if until.After(i.until) {
		i.until = until
		i.rests++
	}
}
