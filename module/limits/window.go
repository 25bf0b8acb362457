package limits

import (
	"math"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// slots is into how many parts the time of a rate is divided.
const slots = 60

// window counts what was taken of a rate within its time, slot by slot: in the
// one that runs, and in the 60 before it. What is taken stays counted for the
// whole time of the rate, and for at most one slot longer. So there is never
// more than the rate allows in any time of that length, wherever it begins,
// which a bucket that refills, or windows that begin on the minute, do not
// promise; and when there will be room again is known, not guessed.
type window struct {
	most   int64
	length time.Duration // of a slot
	newest int64         // number of the slot that runs
	used   int64         // the sum of counts, at most half of the largest number
	counts [slots + 1]int64
}

// newWindow returns the window of a rate, nil for a rate that bounds nothing.
func newWindow(rate exchange.Rate) *window {
	if rate.Most == 0 {
		return nil
	}
	return &window{most: rate.Most, length: (time.Duration(rate.Per) + slots - 1) / slots}
}

// Times are those since the counters were made. Slots count from 61 on, so that
// those before the first one have numbers too.
func (w *window) slotAt(now time.Duration) int64 { return int64(now/w.length) + slots + 1 }

// over is when a slot no longer counts.
func (w *window) over(slot int64) time.Duration { return time.Duration(slot) * w.length }

// advance forgets the slots that are over. Times from before another one that
// was seen already, as goroutines bring them, count as that.
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

// wait is how long it takes until n more fit, which are at most what the rate
// allows.
func (w *window) wait(n int64, now time.Duration) time.Duration {
	excess := w.used + n - w.most
	for slot := w.newest - slots; excess > 0; slot++ {
		if excess -= w.count(slot); excess <= 0 {
			return max(w.over(slot)-now, 1)
		}
	}
	return 0
}

func (w *window) count(slot int64) int64 { return w.counts[slot%int64(len(w.counts))] }

// take counts n in the slot that runs.
func (w *window) take(n int64) {
	n = min(n, math.MaxInt64/2-w.used)
	w.counts[w.newest%int64(len(w.counts))] += n
	w.used += n
}

// giveBack takes back n that were taken in a slot, unless that is over.
func (w *window) giveBack(n, slot int64) {
	if slot >= w.newest-slots {
		w.counts[slot%int64(len(w.counts))] -= n
		w.used -= n
	}
}

// quota is what is left.
func (w *window) quota(now time.Duration) exchange.Quota {
	return exchange.Quota{Limit: w.most, Remaining: max(0, w.most-w.used), Reset: w.reset(now)}
}

// reset is how long it takes until nothing counts any more.
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
