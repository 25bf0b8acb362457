package sink

import (
	"context"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// SetHeader sets a header of the answer to the client. The name must be in canonical form.
// SetHeader has no effect after the status line was sent.
func (s *Sink) SetHeader(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w.Header()[name] = []string{value}
}

// Fail answers with a fault: by status and body if nothing was sent, else by an error event
// that ends the stream.
func (s *Sink) Fail(f *fault.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ex.Fault = f
	switch {
	case s.state == waiting:
		setFaultHeaders(s.w.Header(), f)
		s.state = failed
		as := &s.ex.Format.Errors
		s.reply(as.Status(f), "application/json", as.Append(nil, f, s.ex.ID))
	case s.state.open() && s.ex.Streaming():
		s.failStream(f)
	}
}

// failStream ends a stream with an error event. If the stream broke off inside an event, it
// ends that event first, so that the error event is not read as a part of it.
func (s *Sink) failStream(f *fault.Fault) {
	s.meter.Release(s.ex, s.outcome(false))
	begun := s.state == flowing
	if begun && !s.heartbeat.end.reached() {
		s.send([]byte("\n\n"))
	}
	s.send(s.errorEvent(f))
	if s.state == abandoned {
		return
	}
	s.state = failed
	if begun {
		s.state = cut
	}
	s.flush()
}

// errorEvent returns the event that ends the stream.
func (s *Sink) errorEvent(f *fault.Fault) []byte {
	switch c := s.answer.continuation; {
	case c != nil:
		return c.AppendFailure(nil, f)
	case s.state == pinged && s.ex.Opening != nil:
		return s.ex.Opening.AppendFailure(nil, s.ex, f)
	}
	return s.ex.Format.Errors.AppendEvent(nil, f, s.ex.ID)
}

// reply sends a whole answer of the gateway itself. The caller holds the lock, and has set
// the state after the answer.
func (s *Sink) reply(status int, contentType string, body []byte) {
	s.meter.Release(s.ex, s.outcome(false))
	h := s.w.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	s.w.WriteHeader(status)
	s.send(body)
}

// WriteJSON sends a whole JSON answer of the gateway itself, with status 200.
func (s *Sink) WriteJSON(body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = complete
	s.reply(http.StatusOK, "application/json", body)
}

// RelayError answers with the error answer of the provider, byte for byte. It returns a
// fault instead if the status line was sent, or there is no answer that the client can
// read; the caller then answers with this fault.
func (s *Sink) RelayError(upstream *exchange.Result) *fault.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != waiting {
		return upstream.Fault
	}
	setUpstreamHeaders(s.w.Header(), upstream)
	if upstream.Answer == nil {
		return upstream.Fault
	}
	s.ex.Fault = upstream.Fault
	s.state = failed
	s.reply(upstream.Answer.Status, upstream.Answer.ContentType, upstream.Answer.Body)
	return nil
}

// Finish ends an exchange after content was sent. A stream that broke off gets an error
// event, unless the provider's own error event was relayed.
func (s *Sink) Finish(result *exchange.Result) {
	switch result.State {
	case exchange.Relayed:
		s.ex.Fault = result.Fault
	case exchange.Broken:
		s.Fail(result.Fault)
	}
}

// statusClientClosed is the status in the access log for a client that disconnected before
// anything was sent. No client receives it.
const statusClientClosed = 499

// Abandon reports whether the client has disconnected. If nothing was sent, it sets the
// status in the access log to 499, so that the access log shows no error of the gateway.
func (s *Sink) Abandon(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != abandoned && ctx.Err() == nil {
		return false
	}
	if s.state == waiting {
		s.state = abandoned
		s.w.WriteHeader(statusClientClosed)
	}
	return true
}
