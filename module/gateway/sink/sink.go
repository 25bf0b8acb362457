// Package sink writes the answers of exchanges to their clients.
//
// It promises that nothing else writes to the client, that a client sees one
// answer at most, and that an answer which did not finish never looks finished.
// Until the first byte of content, a failed answer leaves no trace, so that
// another target can be asked. It refuses every header of a provider that is not
// on its list.
package sink

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
)

// Sink is the only writer to the client of one exchange. It is the ResponseWriter
// of the transport and of reverse_proxy: it holds the status back until content
// comes, sends the listed headers only, discards failed answers, and sends
// keep-alives. It has no Unwrap: a ResponseController would bypass its lock.
type Sink struct {
	ex     *exchange.Exchange
	w      http.ResponseWriter
	cancel context.CancelFunc // ends the provider's call when the client is gone

	mu        sync.Mutex // guards w and all below: the heartbeat writes too
	state     state
	answer    upstreamAnswer // of the current attempt
	meter     meter.Meter
	heartbeat heartbeat
}

// upstreamAnswer is the beginning of what an attempt answers.
type upstreamAnswer struct {
	header   http.Header // the client gets listed headers only
	accepted bool        // status 200: the bytes go to the client
	sent     int64       // bytes that went to the client
	// continuation adds events to the stream; nil before the first content, and if
	// the format has the same events for all streams.
	continuation exchange.Continuation
}

// New returns the sink of an exchange, whose answer is written to w.
func New(w http.ResponseWriter, ex *exchange.Exchange) *Sink {
	h := w.Header()
	h["X-Content-Type-Options"] = []string{"nosniff"} // no browser takes a provider's text for a page
	h["Request-Id"] = []string{ex.ID}
	h["X-Request-Id"] = h["Request-Id"]
	return &Sink{ex: ex, w: w, cancel: func() {}}
}

// Exchange returns the exchange of the sink.
func (s *Sink) Exchange() *exchange.Exchange { return s.ex }

// Charge has m count the answer, and settle it when the exchange ends.
func (s *Sink) Charge(m meter.Meter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter = m
}

// Start prepares the sink for attempts. It calls cancel when the client is gone,
// and when the sink is closed. If the client wants a stream, the answer begins with
// a keep-alive after commitAfter, and others follow after each keepAlive of silence;
// negative times switch them off.
func (s *Sink) Start(cancel context.CancelFunc, commitAfter, keepAlive time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	if s.ex.Streaming() {
		s.heartbeat.start(commitAfter, keepAlive, s.tick)
	}
}

// Next makes c the attempt of the exchange, whose answer the sink takes from now
// on. It discards the answer of an earlier attempt.
func (s *Sink) Next(c *exchange.Conduit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ex.Result != nil {
		s.meter.AddEarlier(s.ex)
	}
	s.ex.Attempt, s.ex.Result = &c.Attempt, &c.Result
	s.ex.Attempts++
	s.answer = upstreamAnswer{header: make(http.Header, 4)}
}

// Header returns the header map of the current attempt.
func (s *Sink) Header() http.Header { return s.answer.header }

// WriteHeader accepts the current attempt if its status is 200. Nothing is sent
// before the first byte of the answer.
func (s *Sink) WriteHeader(status int) {
	if status >= 200 {
		s.mu.Lock()
		s.answer.accepted = status == http.StatusOK
		s.mu.Unlock()
	}
}

// Write sends bytes of an answer, or discards those of a failed one. It never
// returns an error, with which reverse_proxy would abort the whole request: the
// loss of the client cancels the call instead.
func (s *Sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.answer.accepted || s.state.final() {
		return len(p), nil
	}
	s.commit()
	s.meter.Count(s.ex, s.answer.header, p)
	s.answer.sent += int64(len(p))
	s.send(p)
	s.advance()
	return len(p), nil
}

// advance enters the state that the end of an answer leads to. An answer without a
// last event ends with its body, after the last bytes.
func (s *Sink) advance() {
	switch result := s.ex.Result; {
	case result == nil, s.state.final():
	case result.State == exchange.Finished:
		s.state = complete
	case result.State == exchange.Relayed:
		s.state = cut
	}
}

// FlushError flushes sent bytes. Like Write, it never returns an error.
func (s *Sink) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.hasContent() {
		s.flush()
	}
	return nil
}

// commit sends the status line before the first byte of an answer.
func (s *Sink) commit() {
	if s.state.hasContent() {
		return
	}
	s.ex.DropBody() // no other target is asked
	s.ex.FirstByte = time.Now()
	s.answer.continuation = s.ex.Result.Continuation
	if s.state == pinged {
		s.state = flowing
		s.ex.Unreported = len(s.ex.Result.Losses) > 0
		return
	}
	s.state = flowing
	s.setAnswerHeaders(s.w.Header())
	s.w.WriteHeader(http.StatusOK)
}

// send writes to the client. The caller holds the lock and has committed.
func (s *Sink) send(p []byte) {
	if _, err := s.w.Write(p); err != nil {
		s.lose()
		return
	}
	if s.ex.Streaming() {
		s.heartbeat.note(p)
	}
}

func (s *Sink) flush() {
	if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.lose()
	}
}

// lose notes that the client is gone and ends the provider's call.
func (s *Sink) lose() {
	s.state = abandoned
	s.cancel()
}

// Close ends the sink, cancels a call that still runs, settles what is still
// reserved, and sets the outcome of the exchange. The client's writer must not be
// used after that. Further calls have no effect.
func (s *Sink) Close(clientGone bool) {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == closed {
		return
	}
	s.heartbeat.stop()
	s.advance()
	s.ex.Outcome = s.outcome(clientGone)
	s.meter.Release(s.ex, s.ex.Outcome)
	s.state = closed
}

// Calls returns the calls of providers that the exchange has paid for, once the sink is
// closed.
func (s *Sink) Calls() []aigateway.Call { return s.meter.Calls() }
