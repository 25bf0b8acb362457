package sink

import "time"

// heartbeat is the timer of keep-alives. The zero heartbeat is off. The sink's lock guards
// it.
type heartbeat struct {
	timer       *time.Timer   // nil while off
	commitAfter time.Duration // silence before the first keep-alive, which begins the answer; negative: never
	interval    time.Duration // silence between bytes and a keep-alive; negative: never

	lastWrite time.Time
	end       eventBoundary
}

// start calls tick in its own goroutine after each period of silence, until stop. Negative
// durations switch their keep-alives off.
func (h *heartbeat) start(commitAfter, interval time.Duration, tick func()) {
	h.commitAfter, h.interval = commitAfter, interval
	first := commitAfter
	if first < 0 {
		first = interval
	}
	if first >= 0 {
		h.timer = time.AfterFunc(first, tick)
	}
}

// commit sets the timer to interval, which may be shorter than commitAfter.
func (h *heartbeat) commit() {
	if h.timer != nil && h.interval > 0 {
		h.timer.Reset(h.interval)
	}
}

// note records bytes that were sent.
func (h *heartbeat) note(p []byte) {
	h.end.note(p)
	h.lastWrite = time.Now()
}

// due reports whether a keep-alive must be sent now. It returns false inside an event.
func (h *heartbeat) due(committed bool) bool {
	if !committed {
		return h.commitAfter >= 0
	}
	return h.interval >= 0 && time.Since(h.lastWrite) >= h.interval && h.end.reached()
}

// rearm sets the timer to the end of the current period of silence.
func (h *heartbeat) rearm() {
	if h.interval <= 0 {
		return
	}
	wait := h.interval
	if silent := time.Since(h.lastWrite); silent < wait {
		wait -= silent
	}
	h.timer.Reset(wait)
}

// stop stops the timer. A running tick is not interrupted.
func (h *heartbeat) stop() {
	if h.timer != nil {
		h.timer.Stop()
	}
}
