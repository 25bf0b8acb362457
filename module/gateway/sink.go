package gateway

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// sink is the only writer to the client. It stands in for the client's
// ResponseWriter before the transport and reverse_proxy: it holds the status
// back until content comes, lets through what is on its list of headers,
// discards failed answers so that the next target can be asked, and sends
// keep-alives. It has no Unwrap: a ResponseController would get round its lock.
type sink struct {
	ex     *exchange.Exchange
	w      http.ResponseWriter
	cancel context.CancelFunc // ends the provider's call when the client is gone

	mu        sync.Mutex  // guards w and all below: the keep-alive timer writes too
	header    http.Header // what the current attempt says; the client sees listed ones only
	accepting bool        // the current attempt answers: its bytes go to the client
	err       error       // what the engine returned for the current attempt

	committed bool      // the status line was sent
	content   bool      // bytes of an answer were sent: no other target any more
	gone      error     // a write failed: the client is not there any more
	last      bool      // the last event of a stream was sent: no keep-alive any more
	ended     bool      // the handler has returned: w must not be touched
	tail      tail      // the last bytes sent
	lastWrite time.Time // when they were sent
	bill      bill      // what is to be settled
	settled   bool      // it was

	timer       *time.Timer // keep-alives; nil for JSON answers
	commitAfter time.Duration
	keepAlive   time.Duration
}

func newSink(w http.ResponseWriter, ex *exchange.Exchange) *sink {
	h := w.Header()
	h["X-Content-Type-Options"] = []string{"nosniff"} // no browser takes a provider's text for a page
	h["Request-Id"] = []string{ex.ID}
	h["X-Request-Id"] = h["Request-Id"]
	return &sink{ex: ex, w: w, cancel: func() {}}
}

// reset forgets what an earlier attempt left.
func (s *sink) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header, s.accepting, s.err = make(http.Header, 4), false, nil
}

// note keeps an error of the engine, to explain an attempt without a fault.
func (s *sink) note(err error) { s.err = err }

// Header is the header map of the current attempt.
func (s *sink) Header() http.Header { return s.header }

// WriteHeader notes whether the current attempt answers. Nothing is sent: the
// first byte of the answer commits.
func (s *sink) WriteHeader(status int) {
	if status >= 200 {
		s.mu.Lock()
		s.accepting = status == http.StatusOK
		s.mu.Unlock()
	}
}

// Write sends bytes of an answer, or discards those of a failed one. It never
// fails: reverse_proxy would abort the whole request. A client that is gone is
// remembered, and its call cancelled.
func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.accepting || s.gone != nil {
		return len(p), nil
	}
	s.commitAnswer()
	s.account(p)
	s.send(p)
	s.last = s.ex.Attempt.Finished || s.ex.Attempt.Relayed
	return len(p), nil
}

// FlushError flushes what was sent.
func (s *sink) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.content && s.gone == nil {
		s.flush()
	}
	return nil
}

// commitAnswer sends the status line before the first byte of an answer.
func (s *sink) commitAnswer() {
	if s.content {
		return
	}
	s.content = true
	s.ex.FirstByte = time.Now()
	if s.committed {
		s.ex.Unreported = len(s.ex.Attempt.Losses) > 0
		return
	}
	s.committed = true
	h := s.w.Header()
	h["X-Gateway-Model"] = []string{headerSafe(s.ex.View.Model)}
	s.setUpstreamHeaders(h, s.ex.Attempt)
	if losses := s.ex.Attempt.Losses; len(losses) > 0 {
		h["X-Gateway-Dropped"] = []string{losses.String()}
	}
	for _, name := range [...]string{"Content-Type", "Content-Length"} {
		if v := s.header[name]; len(v) > 0 {
			h[name] = v[:1]
		}
	}
	if s.ex.Streaming() {
		s.setStreamHeaders(h)
	}
	s.w.WriteHeader(http.StatusOK)
}

// setUpstreamHeaders sets what the provider's headers tell the client. The
// gateway's own of the same name win.
func (s *sink) setUpstreamHeaders(h http.Header, a *exchange.Attempt) {
	for name, v := range a.Header {
		if h[name] == nil {
			h[name] = v
		}
	}
	if a.RequestID != "" {
		h["X-Upstream-Request-Id"] = []string{a.RequestID}
	}
}

// setStreamHeaders keeps everything between here and the client from
// compressing, storing or collecting events. It also starts the shorter of the
// two times of the keep-alive timer.
func (s *sink) setStreamHeaders(h http.Header) {
	if h["Content-Type"] == nil {
		h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	h["X-Accel-Buffering"] = []string{"no"}
	if s.timer != nil && s.keepAlive > 0 {
		s.timer.Reset(s.keepAlive)
	}
}

// send writes to the client. The caller holds the lock and has committed.
func (s *sink) send(p []byte) {
	if _, err := s.w.Write(p); err != nil {
		s.lose(err)
		return
	}
	if s.ex.Streaming() {
		s.tail.note(p)
		s.lastWrite = time.Now()
	}
}

func (s *sink) flush() {
	if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.lose(err)
	}
}

// lose remembers that the client is gone and ends the provider's call.
func (s *sink) lose(err error) {
	s.gone = err
	s.cancel()
}

// startKeepAlive starts the one timer of a streaming request: after
// commitAfter without anything sent the answer begins with a keep-alive, later
// ones follow after every keepAlive of silence. Negative times switch it off.
func (s *sink) startKeepAlive(commitAfter, keepAlive time.Duration) {
	if !s.ex.Streaming() || (commitAfter < 0 && keepAlive < 0) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commitAfter, s.keepAlive = commitAfter, keepAlive
	first := commitAfter
	if first < 0 {
		first = keepAlive
	}
	s.timer = time.AfterFunc(first, s.tick)
}

// tick runs in the timer's goroutine until stop.
func (s *sink) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.last || s.gone != nil {
		return
	}
	wait := s.keepAlive
	switch silent := time.Since(s.lastWrite); {
	case !s.committed && s.commitAfter < 0: // only content commits
	case !s.committed:
		s.commitEarly()
	case s.keepAlive < 0:
	case silent < s.keepAlive:
		wait -= silent
	case s.tail.endsEvent(): // never inside an event
		s.sendKeepAlive()
	}
	if s.keepAlive > 0 {
		s.timer.Reset(wait)
	}
}

// commitEarly answers 200 before any content. The attempt that will answer is
// not known yet, so failover stays possible, and no start event is invented.
func (s *sink) commitEarly() {
	s.committed = true
	h := s.w.Header()
	h["X-Gateway-Model"] = []string{headerSafe(s.ex.View.Model)}
	s.setStreamHeaders(h)
	s.w.WriteHeader(http.StatusOK)
	s.sendKeepAlive()
}

func (s *sink) sendKeepAlive() {
	s.send(translate.KeepAlive(s.ex.Format))
	if s.gone == nil {
		s.flush()
	}
}

// allow names the method that a path has, for the answer to a wrong one.
func (s *sink) allow(method string) { s.w.Header()["Allow"] = []string{method} }

// retryAfter tells the client when to come again, in seconds.
func (s *sink) retryAfter(seconds int) {
	s.w.Header()["Retry-After"] = []string{strconv.Itoa(seconds)}
}

// describe sets the headers by which client libraries act on a fault.
func describe(h http.Header, f *translate.Fault) {
	if f.Final {
		h["X-Should-Retry"] = []string{"false"}
	}
	if f.Kind == translate.Unauthenticated {
		h["Www-Authenticate"] = []string{exchange.Challenge}
	}
}

// fail tells the client about a fault: by status and body where nothing was
// sent yet, else by the error event that ends a stream.
func (s *sink) fail(f *translate.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ex.Fault = f
	switch {
	case s.ended || s.gone != nil:
	case !s.committed:
		describe(s.w.Header(), f)
		s.reply(f.Status(s.ex.Format), "application/json", translate.AppendFault(nil, f, s.ex.Format, s.ex.ID))
	case s.ex.Streaming():
		s.last = true
		s.release()
		s.closeEvent()
		s.send(translate.AppendFaultEvent(nil, f, s.ex.Format, s.ex.ID))
		if s.gone == nil {
			s.flush()
		}
	}
}

// closeEvent ends an event that the answer left open, so that the error event
// after it is read as one of its own.
func (s *sink) closeEvent() {
	if s.content && !s.tail.endsEvent() {
		s.send([]byte("\n\n"))
	}
}

// reply sends a whole answer of the gateway's own. The caller holds the lock.
func (s *sink) reply(status int, contentType string, body []byte) {
	s.committed = true
	s.release()
	h := s.w.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	s.w.WriteHeader(status)
	s.send(body)
}

// write sends a JSON answer of the gateway's own.
func (s *sink) write(body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = true
	s.reply(http.StatusOK, "application/json", body)
}

// stop ends the sink: whatever fires later must not touch the client's writer.
// What is reserved still is settled with what is known.
func (s *sink) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.release()
	if s.timer != nil {
		s.timer.Stop()
	}
}
