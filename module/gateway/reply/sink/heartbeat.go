package sink

import (
	"context"
	"net/http"
	"time"
)

// heartbeat is the timer of keep-alives. The zero heartbeat is off. The sink's lock guards
// it.
type heartbeat struct {
	timer       *time.Timer   // nil while off
	commitAfter time.Duration // silence before the first keep-alive, which begins the answer; negative: never
	interval    time.Duration // silence between bytes and a keep-alive; negative: never

	written bool      // since the last flush
	flushed time.Time // when bytes were flushed last
	end     eventBoundary
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

// note records bytes that were written. The client gets them with the next flush.
func (h *heartbeat) note(p []byte) {
	h.end.note(p)
	h.written = true
}

// flush records that what was written is flushed. A flush of nothing does not end the silence.
func (h *heartbeat) flush() {
	if h.written {
		h.written, h.flushed = false, time.Now()
	}
}

// due reports whether a keep-alive must be sent now. It returns false inside an event.
func (h *heartbeat) due(committed bool) bool {
	if !committed {
		return h.commitAfter >= 0
	}
	return h.interval >= 0 && time.Since(h.flushed) >= h.interval && h.end.reached()
}

// rearm sets the timer to the end of the current period of silence.
func (h *heartbeat) rearm() {
	if h.interval <= 0 {
		return
	}
	wait := h.interval
	if silent := time.Since(h.flushed); silent < wait {
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

// Options are the options of a site for its answers. A stream gets a first keep-alive after
// CommitAfter, and further ones after each KeepAlive of silence. Negative durations switch
// them off.
type Options struct {
	CommitAfter, KeepAlive time.Duration
	ShowTarget             bool // the headers contain the target

	// Passes is true for an answer that is passed on as it is: with any status, all headers that the
	// transport has left, and nothing between its bytes.
	Passes bool
}

// Start prepares the sink for attempts. The sink calls cancel when the client disconnects,
// and when the sink is closed.
func (s *Sink) Start(cancel context.CancelFunc, o Options) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel, s.showsTarget, s.passes = cancel, o.ShowTarget, o.Passes
	if s.ex.Request.Operation.Beside() {
		o.CommitAfter = -1 // the answer may be no stream: some models ignore that one was asked for
	}
	if s.ex.Request.Streaming() && !o.Passes {
		s.heartbeat.start(o.CommitAfter, o.KeepAlive, s.tick)
	}
}

// tick sends a keep-alive if one is due. It runs in the goroutine of the heartbeat's timer,
// which ends when it returns.
func (s *Sink) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.open() || !s.answer.streams(s.ex) {
		return
	}
	if s.heartbeat.due(s.state != waiting) {
		if s.state == waiting {
			s.commitEarly()
		}
		if keepAlive := s.keepAlive(); len(keepAlive) > 0 {
			s.send(keepAlive)
			if s.state != abandoned {
				s.flush()
			}
		}
	}
	s.heartbeat.rearm()
}

// keepAlive returns the bytes of a keep-alive, none if the stream must not have one now.
func (s *Sink) keepAlive() []byte {
	switch c := s.answer.appender; {
	case c != nil:
		return c.AppendKeepAlive(nil, s.answer.sent)
	case s.state == pinged && s.ex.Opening.Early():
		return s.ex.Opening.AppendKeepAlive(nil, s.ex)
	}
	return s.ex.Request.Format.Answers.KeepAlive
}

// commitEarly sends status 200 before any content. Other targets may still be asked, so it
// sends no header of an attempt.
func (s *Sink) commitEarly() {
	s.state = pinged
	h := s.w.Header()
	setModel(h, s.ex)
	setStreamHeaders(h)
	s.heartbeat.commit()
	s.w.WriteHeader(http.StatusOK)
}

// eventBoundary keeps the last bytes of a stream, which show whether an event has ended.
type eventBoundary struct {
	bytes [4]byte
}

// note adds written bytes.
func (b *eventBoundary) note(p []byte) {
	if n := len(p); n >= len(b.bytes) {
		copy(b.bytes[:], p[n-len(b.bytes):])
	} else {
		copy(b.bytes[:], b.bytes[n:])
		copy(b.bytes[len(b.bytes)-n:], p)
	}
}

// reached reports whether the bytes end with two line breaks (CR, LF or CRLF), or no bytes
// were written.
func (b *eventBoundary) reached() bool {
	if b.bytes == [4]byte{} {
		return true
	}
	rest, ok := cutLineBreak(b.bytes[:])
	if !ok {
		return false
	}
	_, ok = cutLineBreak(rest)
	return ok
}

func cutLineBreak(p []byte) ([]byte, bool) {
	n := len(p)
	switch {
	case n >= 2 && p[n-2] == '\r' && p[n-1] == '\n':
		return p[:n-2], true
	case n >= 1 && (p[n-1] == '\n' || p[n-1] == '\r'):
		return p[:n-1], true
	}
	return p, false
}
