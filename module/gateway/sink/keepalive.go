package sink

import "net/http"

// tick sends a keep-alive if one is due. It runs in the goroutine of the heartbeat's timer,
// which ends when it returns.
func (s *Sink) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.open() {
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
	return s.ex.Format.Answers.KeepAlive
}

// commitEarly sends status 200 before any content. Other targets may still be asked, so it
// sends no header of an attempt.
func (s *Sink) commitEarly() {
	s.state = pinged
	h := s.w.Header()
	h["X-Gateway-Model"] = []string{headerSafe(s.ex.View.Model)}
	setStreamHeaders(h)
	s.heartbeat.commit()
	s.w.WriteHeader(http.StatusOK)
}
