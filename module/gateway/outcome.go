package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// unexplained is the fault of an attempt of which the transport knows nothing:
// reverse_proxy found no address to send it to, or something went wrong in it.
func (s *sink) unexplained() *translate.Fault {
	err := s.err
	if err == nil {
		err = errors.New("the call returned without an answer")
	}
	var handled caddyhttp.HandlerError
	if errors.As(err, &handled) && handled.StatusCode == http.StatusServiceUnavailable {
		f := translate.NoUpstream(s.ex.View.Model)
		f.Cause = err
		return f
	}
	return translate.InternalFault(err)
}

// statusClientClosed is what the access log shows for a client that went away
// before anything was sent. Nobody receives it.
const statusClientClosed = 499

// abandoned reports whether the client went away. Nothing is told to it then:
// an error status would only stand in the access log, as ours.
func (s *sink) abandoned(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil && ctx.Err() == nil {
		return false
	}
	if !s.committed {
		s.committed = true
		s.w.WriteHeader(statusClientClosed)
	}
	return true
}

// finish ends an exchange in which content was sent. A stream that broke off
// gets the error event, unless the provider's own has gone out already.
func (s *sink) finish(a *exchange.Attempt) {
	switch {
	case a.Fault == nil || a.Finished:
	case a.Relayed:
		s.ex.Fault = a.Fault
	default:
		s.fail(a.Fault)
	}
}

// relayError tells the client what came of a failed attempt: the provider's
// own error answer byte for byte where that is possible, else the fault that
// is returned.
func (s *sink) relayError(a *exchange.Attempt) *translate.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.committed {
		return a.Fault
	}
	s.setUpstreamHeaders(s.w.Header(), a)
	if a.Answer == nil {
		return a.Fault
	}
	s.ex.Fault = a.Fault
	s.reply(a.Answer.Status, a.Answer.ContentType, a.Answer.Body)
	return nil
}
