package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// sink is the only writer to the client. It is the ResponseWriter of the transport
// and of reverse_proxy: it holds the status back until content comes, sends the
// listed headers only, discards failed answers so that the next target can be
// asked, and sends keep-alives. It has no Unwrap: a ResponseController would get
// round its lock.
type sink struct {
	ex     *exchange.Exchange
	w      http.ResponseWriter
	cancel context.CancelFunc // ends the provider's call when the client is gone

	mu        sync.Mutex // guards w and all below: the heartbeat writes too
	state     sinkState
	answer    upstreamAnswer // of the current attempt
	meter     meter.Meter
	heartbeat heartbeat
}

// upstreamAnswer is the beginning of what an attempt answers.
type upstreamAnswer struct {
	header   http.Header // the client gets listed headers only
	accepted bool        // status 200: the bytes go to the client
}

func newSink(w http.ResponseWriter, ex *exchange.Exchange) *sink {
	h := w.Header()
	h["X-Content-Type-Options"] = []string{"nosniff"} // no browser takes a provider's text for a page
	h["Request-Id"] = []string{ex.ID}
	h["X-Request-Id"] = h["Request-Id"]
	return &sink{ex: ex, w: w, cancel: func() {}}
}

// reset discards the answer of an earlier attempt.
func (s *sink) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = upstreamAnswer{header: make(http.Header, 4)}
}

// Header returns the header map of the current attempt.
func (s *sink) Header() http.Header { return s.answer.header }

// WriteHeader accepts the current attempt if its status is 200. Nothing is sent
// before the first byte of the answer.
func (s *sink) WriteHeader(status int) {
	if status >= 200 {
		s.mu.Lock()
		s.answer.accepted = status == http.StatusOK
		s.mu.Unlock()
	}
}

// Write sends bytes of an answer, or discards those of a failed one. It never
// returns an error, with which reverse_proxy would abort the whole request: the
// loss of the client cancels the call instead.
func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.answer.accepted || s.state.final() {
		return len(p), nil
	}
	s.commit()
	s.meter.Count(s.ex, s.answer.header, p)
	s.send(p)
	s.advance()
	return len(p), nil
}

// advance enters the state that the end of an answer leads to. Without a last
// event that is the end of the body, behind the last bytes.
func (s *sink) advance() {
	switch result := s.ex.Result; {
	case result == nil, s.state.final():
	case result.State == exchange.Finished:
		s.state = complete
	case result.State == exchange.Relayed:
		s.state = cut
	}
}

// FlushError flushes sent bytes. It never returns an error, as Write.
func (s *sink) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.hasContent() {
		s.flush()
	}
	return nil
}

// commit sends the status line before the first byte of an answer.
func (s *sink) commit() {
	if s.state.hasContent() {
		return
	}
	s.ex.DropBody() // no other target is asked
	s.ex.FirstByte = time.Now()
	if s.state == pinged {
		s.state = flowing
		s.ex.Unreported = len(s.ex.Result.Losses) > 0
		return
	}
	s.state = flowing
	s.setAnswerHeaders(s.w.Header())
	s.w.WriteHeader(http.StatusOK)
}

// commitEarly answers 200 before any content. The attempt that will answer is
// not known yet, so failover stays possible, and no start event is invented.
func (s *sink) commitEarly() {
	s.state = pinged
	h := s.w.Header()
	h["X-Gateway-Model"] = []string{headerSafe(s.ex.View.Model)}
	s.setStreamHeaders(h)
	s.w.WriteHeader(http.StatusOK)
}

// send writes to the client. The caller holds the lock and has committed.
func (s *sink) send(p []byte) {
	if _, err := s.w.Write(p); err != nil {
		s.lose()
		return
	}
	if s.ex.Streaming() {
		s.heartbeat.note(p)
	}
}

func (s *sink) flush() {
	if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.lose()
	}
}

// lose notes that the client is gone and ends the provider's call.
func (s *sink) lose() {
	s.state = abandoned
	s.cancel()
}

// startKeepAlive starts the keep-alives of a streaming request: the answer begins
// with one after commitAfter, others follow after each keepAlive of silence.
// Negative times switch them off.
func (s *sink) startKeepAlive(commitAfter, keepAlive time.Duration) {
	if !s.ex.Streaming() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heartbeat.start(commitAfter, keepAlive, s.tick)
}

// tick runs in the goroutine of the heartbeat's timer.
func (s *sink) tick() {
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

func (s *sink) sendKeepAlive() {
	if s.state == waiting {
		s.commitEarly()
	}
	s.send(translate.KeepAlive(s.ex.Format))
	if s.state != abandoned {
		s.flush()
	}
}

// close ends the sink and sets the outcome of the exchange. The client's writer
// must not be used after that. It settles what is still reserved. Further calls
// have no effect.
func (s *sink) close(clientGone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == closed {
		return
	}
	s.meter.Release(s.ex)
	s.heartbeat.stop()
	s.advance()
	s.ex.Outcome = s.outcome(clientGone)
	s.state = closed
}
