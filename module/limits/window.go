package limits

import (
	"math"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// slots is the number of parts into which the period of a rate is divided.
const slots = 60

// window counts the use of a rate in slots: the current slot and the 60 before it.
// Use stays counted for the whole period of the rate, and for at most one slot
// longer. So no period of that length, wherever it begins, has more use than the
// rate allows, and the time at which there is room again is known. A bucket that
// refills, or windows that begin on the minute, do not guarantee that.
type window struct {
	limit  int64         // the amount of the rate
	length time.Duration // of a slot
	newest int64         // number of the current slot
	used   int64         // the sum of counts, at most math.MaxInt64/2
	counts [slots + 1]int64
}

// newWindow returns the window of a rate, nil for the zero Rate.
func newWindow(rate aigateway.Rate) *window {
	if rate.Most == 0 {
		return nil
	}
	return &window{limit: rate.Most, length: (time.Duration(rate.Per) + slots - 1) / slots}
}

// slotAt returns the number of the slot at a time since the limiter was created.
// Numbers begin at 61, so that the slots before the first one have numbers, too.
func (w *window) slotAt(now time.Duration) int64 { return int64(now/w.length) + slots + 1 }

// over returns the time from which a slot no longer counts.
func (w *window) over(slot int64) time.Duration { return time.Duration(slot) * w.length }

// advance clears the slots that are over. Goroutines may pass times out of order; an
// earlier time has no effect.
func (w *window) advance(now time.Duration) {
	slot := w.slotAt(now)
	if slot > w.newest+slots {
		w.newest, w.used, w.counts = slot, 0, [slots + 1]int64{}
	}
	for w.newest < slot {
		w.newest++
		oldest := &w.counts[w.newest%int64(len(w.counts))]
		w.used -= *oldest
		*oldest = 0
	}
}

// wait returns the time until the rate has room for n, which is at most the limit.
func (w *window) wait(n int64, now time.Duration) time.Duration {
	excess := w.used + n - w.limit
	for slot := w.newest - slots; excess > 0; slot++ {
		if excess -= w.count(slot); excess <= 0 {
			return max(w.over(slot)-now, 1)
		}
	}
	return 0
}

func (w *window) count(slot int64) int64 { return w.counts[slot%int64(len(w.counts))] }

// add counts n in the current slot.
func (w *window) add(n int64) {
	n = min(n, math.MaxInt64/2-w.used)
	w.counts[w.newest%int64(len(w.counts))] += n
	w.used += n
}

// subtract removes n from the count of a slot, unless the slot is over.
func (w *window) subtract(n, slot int64) {
	if slot >= w.newest-slots {
		w.counts[slot%int64(len(w.counts))] -= n
		w.used -= n
	}
}

// quota returns the unused part of the rate.
func (w *window) quota(now time.Duration) aigateway.Quota {
	return aigateway.Quota{Limit: w.limit, Remaining: max(0, w.limit-w.used), Reset: w.reset(now)}
}

// reset returns the time until all slots with a count are over.
func (w *window) reset(now time.Duration) time.Duration {
	if w.used == 0 {
		return 0
	}
	slot := w.newest
	for w.count(slot) == 0 {
		slot--
	}
	return max(w.over(slot)-now, 1)
}
