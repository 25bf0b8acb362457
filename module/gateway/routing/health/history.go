package health

import (
	"time"
)

// history is the recent history of a target that fails.
type history struct {
	class    Class                     // of the last failure; Healthy after an answer
	failures [failuresToRest]time.Time // times of the last consecutive failures, as a ring
	count    int                       // of consecutive failures
	rate     rate
	last     time.Time // time of the last failure
	rests    int       // number of consecutive rests
	end      time.Time // end of the rest, or of the wait for its probe; zero before the first rest
}

// resting reports whether the target rests, or waits for its probe.
func (h *history) resting(now time.Time) bool { return now.Before(h.end) }

// awaitsProbe reports whether a rest is over, so that the next attempt is the probe that
// shows whether the target has recovered.
func (h *history) awaitsProbe(now time.Time) bool {
	return h.rests > 0 && !h.resting(now) && !h.forgotten(now)
}

// isDown reports whether the target has rested, and has not answered since.
func (h *history) isDown(now time.Time) bool { return h.rests > 0 && !h.forgotten(now) }

// forgotten reports whether the history is too old to count.
func (h *history) forgotten(now time.Time) bool {
	return now.Sub(h.last) > forgetAfter && now.Sub(h.end) > forgetAfter
}

// answer records an answer of a target that has failed, but has not rested.
func (h *history) answer() { h.class, h.count = Healthy, 0 }

// fail records the failure of an attempt that began then.
func (h *history) fail(o Outcome, began, now time.Time, rules Rules) {
	slow := slowFailures * now.Sub(began)
	h.class, h.last = o.Class, now
	h.rate.add(now, true)
	h.rate.window = max(h.rate.window, slow)
	h.failures[h.count%failuresToRest] = now
	h.count++
	switch {
	case o.RetryAfter > 0:
		h.extend(now.Add(min(o.RetryAfter, longestRest)))
	case h.resting(now): // the attempt began before the rest, or all other targets rest, too
	case o.Class.ofKey() || h.rests > 0 || h.burst(now, max(failureWindow, slow)) || h.rate.reaches(rules.FailRate):
		h.extend(now.Add(h.nextRest(rules.First)))
	}
}

// burst reports whether the last failuresToRest failures happened within window.
func (h *history) burst(now time.Time, window time.Duration) bool {
	oldest := h.failures[h.count%failuresToRest]
	return h.count >= failuresToRest && now.Sub(oldest) <= window
}

// nextRest returns the length of the next rest.
func (h *history) nextRest(first time.Duration) time.Duration {
	rest := first
	for range h.rests {
		if rest *= 2; rest > longestRest {
			return longestRest
		}
	}
	return min(rest, longestRest)
}

// extend begins a rest, or extends the current one.
func (h *history) extend(end time.Time) {
	if end.After(h.end) {
		h.end = end
		h.rests++
	}
}

// rate counts the calls of a target that fails from time to time.
type rate struct {
	start         time.Time     // of the first call that is counted
	window        time.Duration // in which calls are counted, if it is longer than rateWindow
	calls, failed int
}

// hasEnded reports whether the counts are older than the window.
func (r *rate) hasEnded(now time.Time) bool { return now.Sub(r.start) > max(rateWindow, r.window) }

// add counts a call. The counts begin again with the first call after the window.
func (r *rate) add(now time.Time, failed bool) {
	if r.hasEnded(now) {
		*r = rate{start: now}
	}
	r.calls++
	if failed {
		r.failed++
	}
}

// reaches reports whether there were failuresToRest failures, and they are at least percent
// of the calls.
func (r *rate) reaches(percent int) bool {
	return percent > 0 && r.failed >= failuresToRest && r.failed*100 >= r.calls*percent
}
