package counters

import (
	"math"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// window counts the use in a period: in the current slot, and in the earlier slots that
// still count. No count is negative.
type window struct {
	pace   pace
	newest int64   // number of the current slot
	used   int64   // the sum of counts, at most math.MaxInt64/2
	counts []int64 // by the number of the slot, modulo their length
}

// pace divides time into slots, whose numbers grow.
type pace interface {
	// slots returns the number of slots that count, including the current one.
	slots() int64
	// slot returns the number of the slot at a point in time.
	slot(now time.Time) int64
	// expiryOf returns the time from which a slot no longer counts; zero for never.
	expiryOf(slot int64) time.Time
}

func newWindow(p pace) *window {
	return &window{pace: p, counts: make([]int64, p.slots())}
}

// advance makes a slot the current one, and clears the slots that no longer count. It reports
// whether the clock was set back, so that the use of the current slot is unknown.
func (w *window) advance(slot int64) (setBack bool) {
	if slot < w.newest || slot >= w.newest+int64(len(w.counts)) {
		setBack = slot < w.newest
		w.newest, w.used = slot, 0
		clear(w.counts)
	}
	for w.newest < slot {
		w.newest++
		oldest := w.count(w.newest)
		w.used -= *oldest
		*oldest = 0
	}
	return setBack
}

// count returns the count of a slot, which must still count.
func (w *window) count(slot int64) *int64 { return &w.counts[slot%int64(len(w.counts))] }

// counted reports whether a slot still counts.
func (w *window) counted(slot int64) bool {
	return slot <= w.newest && slot > w.newest-int64(len(w.counts))
}

// wait returns the time until there is room for n, which must be at most the limit. It
// returns forever if there will never be room.
func (w *window) wait(n, limit int64, now time.Time) time.Duration {
	excess := w.used + n - limit
	for slot := w.newest - int64(len(w.counts)) + 1; excess > 0; slot++ {
		if excess -= *w.count(slot); excess <= 0 {
			return w.left(slot, now)
		}
	}
	return 0
}

// forever is the result of wait if there will never be room.
const forever time.Duration = math.MaxInt64

// left returns the time until a slot no longer counts.
func (w *window) left(slot int64, now time.Time) time.Duration {
	expiry := w.pace.expiryOf(slot)
	if expiry.IsZero() {
		return forever
	}
	return max(expiry.Sub(now), 1)
}

// add counts n in the current slot.
func (w *window) add(n int64) { w.addAt(n, w.newest) }

// addAt counts n, which may be negative, in a slot. It does nothing if the slot no longer
// counts.
func (w *window) addAt(n, slot int64) {
	if !w.counted(slot) {
		return
	}
	n = max(min(n, math.MaxInt64/2-w.used), -*w.count(slot))
	*w.count(slot) += n
	w.used += n
}

// quota returns the unused part of a rate.
func (w *window) quota(limit int64, now time.Time) aigateway.Quota {
	return aigateway.Quota{Limit: limit, Remaining: max(0, limit-w.used), Reset: w.reset(now)}
}

// reset returns the time until the present use no longer counts.
func (w *window) reset(now time.Time) time.Duration {
	if w.used == 0 {
		return 0
	}
	slot := w.newest
	for *w.count(slot) == 0 {
		slot--
	}
	return w.left(slot, now)
}
