// Package sink writes the answers of exchanges to their clients.
//
// Nothing else writes to the client. A client gets at most one answer, and an answer that
// did not finish never looks finished. A failed answer leaves no trace before the first
// byte of content, so that another target can be asked. Headers of a provider that are not
// listed are dropped.
package sink

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// Sink is the only writer to the client of one exchange. As the ResponseWriter behind the
// transport and reverse_proxy, it delays the status until there is content, sends only
// the listed headers, discards failed answers, and sends keep-alives. It has no Unwrap
// method, because a ResponseController would bypass its lock.
type Sink struct {
	ex     *exchange.Exchange
	w      http.ResponseWriter
	cancel context.CancelFunc // ends the provider's call when the client is gone

	mu          sync.Mutex // guards w and the fields below, because the heartbeat writes, too
	state       state
	showsTarget bool           // the answer has a header with the target
	passes      bool           // Options.Passes
	broken      bool           // an error has ended a stream
	answer      upstreamAnswer // of the current attempt
	heartbeat   heartbeat
}

// upstreamAnswer is the state of the answer of an attempt.
type upstreamAnswer struct {
	header http.Header // of the transport; only listed headers are sent to the client
	sent   int64       // number of bytes sent to the client
	// appender writes the events that the sink adds to the stream. It is nil before
	// the first content, and for a format whose added events do not depend on the stream.
	appender exchange.Appender
	accepted bool // the status is 200, so the bytes are sent to the client
	// plain is set when the headers are sent, if the answer is no stream: beside text, some
	// models ignore that one was asked for. The headers themselves cannot be read later:
	// reverse_proxy writes them while the heartbeat runs.
	plain bool
}

// streams reports whether the client of an exchange gets a stream.
func (a *upstreamAnswer) streams(ex *exchange.Exchange) bool {
	return ex.Request.Streaming() && !a.plain
}

// Init prepares a zero Sink for the answer to an exchange, which it writes to w.
func (s *Sink) Init(w http.ResponseWriter, ex *exchange.Exchange) {
	setHeaders(w.Header(), "Request-Id", ex.ID, "X-Request-Id", ex.ID,
		"X-Content-Type-Options", "nosniff") // a browser must not show a provider's text as a page
	s.ex, s.w, s.cancel = ex, w, func() {}
}

// Next prepares the sink for the answer of the current attempt of the exchange, in place of
// that of the attempt before.
func (s *Sink) Next() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = upstreamAnswer{}
}

// Header returns the header map of the current attempt.
func (s *Sink) Header() http.Header {
	if s.answer.header == nil {
		s.answer.header = make(http.Header, 4)
	}
	return s.answer.header
}

// TakeHeader sets the header map of the current attempt.
func (s *Sink) TakeHeader(h http.Header) { s.answer.header = h }

// WriteHeader accepts the current attempt if its status is 200. Nothing is sent
// before the first byte of the answer. An answer that is passed on has any status, and is sent at
// once.
func (s *Sink) WriteHeader(status int) {
	if status >= 200 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answer.accepted = status == http.StatusOK || s.passes && s.ex.Course.Result.Fault == nil
		if s.passes && s.answer.accepted { // the answer may have no bytes
			s.ex.Course.Status = int32(status)
			s.commit()
		}
	}
}

// Begin sends the status line of an accepted answer before its first bytes, as Write does. It
// returns the number of bytes of the answer that were sent so far. ok is false if Write would
// discard further ones.
func (s *Sink) Begin() (sent int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.answer.accepted || s.state.final() {
		return 0, false
	}
	s.commit()
	return s.answer.sent, true
}

// Write sends bytes of an accepted answer, and discards those of others. It never returns
// an error, because reverse_proxy would abort the whole request. If the client has
// disconnected, Write cancels the call instead.
func (s *Sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.answer.accepted || s.state.final() {
		return len(p), nil
	}
	s.commit()
	s.answer.sent += int64(len(p))
	s.send(p)
	s.advance()
	return len(p), nil
}

// advance sets the state if the answer has ended. The body of an answer without a last
// event ends after its last bytes are written, so Close calls advance again.
func (s *Sink) advance() {
	switch result := s.ex.Course.Result; {
	case result == nil, result.Reading.Unread, s.broken, s.state.final():
	case result.State == exchange.Finished:
		s.state = complete
	case result.State == exchange.Relayed:
		s.state, s.broken = cut, s.answer.streams(s.ex) && (result.Fault == nil || !result.Fault.IsBrokenOff()) // clients see the word for such an end
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
	s.ex.Request.DropBody() // no other target is asked
	s.ex.Delivery.FirstByte = time.Now()
	s.answer.appender = s.ex.Course.Result.Lane.Appender
	if s.state == pinged {
		s.state = flowing
		s.ex.Request.Unreported = len(s.ex.Course.Result.Lane.Losses) > 0
		return
	}
	s.state = flowing
	s.setAnswerHeaders(s.w.Header())
	s.w.WriteHeader(cmp.Or(int(s.ex.Course.Status), http.StatusOK))
}

// setModel sets the header with the model, unless the answer is about a stored object.
func setModel(h http.Header, ex *exchange.Exchange) {
	if ex.Request.View.Model != "" {
		h["X-Gateway-Model"] = []string{headerSafe(ex.Request.View.Model)}
	}
}

// setAnswerHeaders sets the headers of an answer.
func (s *Sink) setAnswerHeaders(h http.Header) {
	course := &s.ex.Course
	if s.passes {
		delete(s.answer.header, "Via") // of reverse_proxy
		maps.Copy(h, s.answer.header)
		setUpstreamHeaders(h, course.Result)
		if s.answer.plain = true; exchange.IsEventStream(h.Get("Content-Type")) {
			setStreamHeaders(h)
		}
		return
	}
	setModel(h, s.ex)
	if s.showsTarget {
		h["X-Gateway-Target"] = []string{course.Attempt.Provider + "/" + headerSafe(course.Attempt.Model)}
		if choice := course.Attempt.Choice.String(); choice != "" {
			h["X-Gateway-Choice"] = []string{choice}
		}
	}
	setUpstreamHeaders(h, course.Result)
	if losses := course.Result.Lane.Losses; len(losses) > 0 { // x-gateway-dropped, as clients and the documentation write it
		h["X-Gateway-Dropped"] = []string{losses.String()}
	}
	for _, name := range [...]string{"Content-Type", "Content-Length"} {
		if v := s.answer.header[name]; len(v) > 0 {
			h[name] = v[:1]
		}
	}
	contentType := s.answer.header.Get("Content-Type")
	s.answer.plain = contentType != "" && !exchange.IsEventStream(contentType)
	if s.answer.streams(s.ex) {
		setStreamHeaders(h)
		s.heartbeat.commit()
	}
}

// setUpstreamHeaders sets the headers of the provider's answer for the client. Headers of the
// gateway with the same names take precedence.
func setUpstreamHeaders(h http.Header, result *exchange.Result) {
	for name, v := range result.Head.ClientHeader() {
		if h[name] == nil {
			h[name] = v
		}
	}
	if result.Head.RequestID != "" {
		h["X-Upstream-Request-Id"] = []string{result.Head.RequestID}
	}
}

// setStreamHeaders sets the headers of a stream. They prevent handlers and proxies between
// the gateway and the client from compressing, caching or buffering events.
func setStreamHeaders(h http.Header) {
	if h["Content-Type"] == nil {
		h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	}
	setHeaders(h, "Cache-Control", "no-cache, no-transform", "X-Accel-Buffering", "no")
}

// setHeaders sets headers, which are pairs of a name and a value.
func setHeaders(h http.Header, pairs ...string) {
	values := make([]string, len(pairs)/2)
	for i := range values {
		values[i] = pairs[2*i+1]
		h[pairs[2*i]] = values[i : i+1 : i+1] // a header directive may replace the text of one
	}
}

// headerSafe returns the name of a model as a header value. Characters that a header value
// must not contain become question marks.
func headerSafe(name string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, name)
}

// send writes to the client. The caller holds the lock and has committed.
func (s *Sink) send(p []byte) {
	if _, err := s.w.Write(p); err != nil {
		s.lose()
		return
	}
	if s.answer.streams(s.ex) {
		s.heartbeat.note(p)
	}
}

func (s *Sink) flush() {
	if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.lose()
	}
	s.heartbeat.flush()
}

// lose records that the client has disconnected, and cancels the call of the provider.
func (s *Sink) lose() {
	s.state = abandoned
	s.cancel()
}

// End is how the answer of a sink ended.
type End struct {
	Outcome exchange.Outcome
	// Aborts is true if the connection has to be closed, since only that shows the client
	// that its stream has failed.
	Aborts bool
}

// Close cancels a running call, and returns the end of the answer. clientGone reports
// whether the request of the client has ended. After Close, the sink does not write. ok is
// false if it was closed before.
func (s *Sink) Close(clientGone bool) (end End, ok bool) {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == closed {
		return end, false
	}
	s.heartbeat.stop()
	s.advance()
	end = End{Outcome: s.state.outcome(s.ex, clientGone), Aborts: s.broken && s.ex.Request.Format.Errors.Aborts}
	if s.state == flowing && end.Outcome == exchange.Cut && !s.answer.streams(s.ex) {
		end.Aborts = true // so that the part of an answer that was sent does not look whole
	}
	if end.Aborts && s.state.hasContent() {
		s.flush() // what is not sent before the connection is closed is lost
	}
	s.state = closed
	return end, true
}
