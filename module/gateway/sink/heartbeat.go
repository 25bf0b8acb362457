package sink

import "time"

// heartbeat decides when a silent stream needs a keep-alive. The zero heartbeat is
// off. Its owner provides the lock.
type heartbeat struct {
	timer       *time.Timer   // nil while off
	commitAfter time.Duration // silence before the answer begins with a keep-alive; negative: never
	interval    time.Duration // silence between bytes and a keep-alive; negative: never

	lastWrite time.Time
	end       eventBoundary
}

// start runs tick in a goroutine of its own after each time of silence, until
// stop. Negative times switch their keep-alives off.
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

// commit begins the time of silence between bytes, which may be shorter than the time
// before the answer.
func (h *heartbeat) commit() {
	if h.timer != nil && h.interval > 0 {
		h.timer.Reset(h.interval)
	}
}

// note remembers bytes that were sent.
func (h *heartbeat) note(p []byte) {
	h.end.note(p)
	h.lastWrite = time.Now()
}

// due reports whether a keep-alive is due now: never inside an event.
func (h *heartbeat) due(committed bool) bool {
	if !committed {
		return h.commitAfter >= 0
	}
	return h.interval >= 0 && time.Since(h.lastWrite) >= h.interval && h.end.reached()
}

// rearm sets the timer to the end of the time of silence that has begun.
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

// stop stops the timer. A tick that has begun still runs.
func (h *heartbeat) stop() {
	if h.timer != nil {
		h.timer.Stop()
	}
}
