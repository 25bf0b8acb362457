package sink

import (
	"net/http"
)

// tick runs in the goroutine of the heartbeat's timer.
func (s *Sink) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.open() {
		return
	}
	if s.heartbeat.due(s.state != waiting) {
		s.sendKeepAlive()
	}
	s.heartbeat.rearm()
}

func (s *Sink) sendKeepAlive() {
	if s.state == waiting {
		s.commitEarly()
	}
	keepAlive := s.keepAlive()
	if len(keepAlive) == 0 {
		return
	}
	s.send(keepAlive)
	if s.state != abandoned {
		s.flush()
	}
}

// keepAlive returns what the stream may have between two events now.
func (s *Sink) keepAlive() []byte {
	if c := s.answer.continuation; c != nil {
		return c.AppendKeepAlive(nil, s.answer.sent)
	}
	return s.ex.Format.Answers.KeepAlive
}

// commitEarly answers 200 before any content. The attempt that will answer is
// not known yet, so failover stays possible, and no start event is invented.
func (s *Sink) commitEarly() {
	s.state = pinged
	h := s.w.Header()
	h["X-Gateway-Model"] = []string{headerSafe(s.ex.View.Model)}
	s.setStreamHeaders(h)
	s.w.WriteHeader(http.StatusOK)
}
