package sink

import (
	"context"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// SetHeaders sets headers of the answer to the client, which are pairs of a name in canonical
// form and a value. It has no effect after the status line was sent.
func (s *Sink) SetHeaders(pairs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	setHeaders(s.w.Header(), pairs...)
}

// Ending returns the outcome of the exchange if Fail ends it now. ok is false if Fail would
// send nothing.
func (s *Sink) Ending() (outcome exchange.Outcome, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.outcome(s.ex, false), s.state == waiting || s.state.open() && s.answer.streams(s.ex)
}

// Fail answers with a fault: by status and body if nothing was sent, else by an error event
// that ends the stream.
func (s *Sink) Fail(f *fault.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(f)
}

// fail is Fail for a caller that holds the lock. If a stream broke off inside an event, fail
// ends that event first, so that the error event is not read as a part of it.
func (s *Sink) fail(f *fault.Fault) {
	switch {
	case s.state == waiting:
		setFaultHeaders(s.w.Header(), f)
		s.state = failed
		errors := &s.ex.Request.Format.Errors
		s.reply(errors.Status(f), "application/json", errors.Append(nil, f, s.ex.ID))
	case s.state.open() && s.answer.streams(s.ex):
		end := failed
		if s.state == flowing {
			end = cut
			if !s.heartbeat.end.reached() {
				s.send([]byte("\n\n"))
			}
		}
		s.send(s.errorEvent(f))
		s.broken = true
		if s.state != abandoned {
			s.state = end
			s.flush()
		}
	}
}

// setFaultHeaders sets the headers by which client libraries decide what to do after a
// fault.
func setFaultHeaders(h http.Header, f *fault.Fault) {
	if f.Final {
		h["X-Should-Retry"] = []string{"false"}
	}
	if f.RetryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(f.RetryAfter)}
	}
	if f.Kind == fault.Unauthenticated && h["Www-Authenticate"] == nil {
		h["Www-Authenticate"] = []string{aigateway.Challenge}
	}
	if f.Kind == fault.UpgradeRefused {
		h["Connection"] = []string{"close"}
	}
}

// errorEvent returns the event that ends the stream.
func (s *Sink) errorEvent(f *fault.Fault) []byte {
	switch c := s.answer.appender; {
	case c != nil:
		return c.AppendFailure(nil, f)
	case s.state == pinged && s.ex.Opening != nil:
		return s.ex.Opening.AppendFailure(nil, s.ex, f)
	}
	return s.ex.Request.Format.Errors.AppendEvent(nil, f, s.ex.ID)
}

// reply sends a whole answer of the gateway itself. The caller holds the lock, and has set
// the state after the answer.
func (s *Sink) reply(status int, contentType string, body []byte) {
	h := s.w.Header()
	setHeaders(h, "Content-Type", contentType, "Content-Length", strconv.Itoa(len(body)))
	if status >= http.StatusBadRequest {
		for _, claim := range s.ex.Request.Format.Client.Quotas.Claims {
			delete(h, claim)
		}
	}
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

// Accept sends an answer of the gateway itself without a body, with status 202.
func Accept(s *Sink) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == waiting {
		s.state, s.ex.Course.Status = complete, http.StatusAccepted
		s.w.WriteHeader(http.StatusAccepted)
	}
}

// RelayError answers with the error answer of a provider, byte for byte. If the status line
// was sent, or there is no answer that the client can read, it is Fail with the fault.
func (s *Sink) RelayError(upstream *exchange.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == waiting {
		setUpstreamHeaders(s.w.Header(), upstream)
	}
	if s.state != waiting || upstream.Head.Answer == nil {
		s.fail(upstream.Fault)
		return
	}
	s.state = failed
	s.reply(upstream.Head.Answer.Status, upstream.Head.Answer.ContentType, upstream.Head.Answer.Body)
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
