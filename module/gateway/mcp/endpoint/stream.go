package endpoint

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// stream is the answer of a server that is a stream of messages.
type stream struct {
	*use
	ctx    context.Context // of the call
	result *exchange.Result
}

// pass passes messages on, until the one that answers the request.
func (s *stream) pass(status int, body io.Reader) {
	s.result.State, s.result.Times.Began = exchange.Content, time.Now()
	s.answer.WriteHeader(status)
	_ = s.answer.FlushError()
	for events := s.Events(body); !s.result.Whole(); {
		event, err := events.Next()
		if err != nil {
			s.end(err)
			return
		}
		s.resumable = s.resumable || !s.joined && s.hasSession() && wire.HasEventID(event)
		event, refused := s.passed(event)
		switch {
		case refused != nil && refused.IsUnusable():
			s.result.Fail(refused)
			return
		case refused != nil:
			event = s.refusal(refused)
		}
		_, _ = s.answer.Write(event)
		_ = s.answer.FlushError()
	}
}

// end notes the end of a stream behind its last event. It is no failure of a stream that the client may
// resume, or that answers no request.
func (s *stream) end(err error) {
	switch {
	case s.ctx.Err() != nil: // which is the reason
	case errors.Is(err, io.EOF) && (s.resumable || !s.message.IsRequest() || s.message.IsSubscription()):
		s.result.Finish(token.Usage{})
	case mcp.IsUnusable(err):
		s.result.Fail(fault.Unusable(err))
	default:
		s.result.Fail(fault.Truncated(err))
	}
}

// refusal returns the event that ends a stream that a guard has blocked. The call ends as whole: the server
// has answered.
func (s *stream) refusal(refused *fault.Fault) []byte {
	s.answer.Exchange.Delivery.Fault = refused
	s.result.Finish(token.Usage{})
	return s.errorEvent(refused)
}

// passed returns an event as the client gets it, and notes the end of the answer.
func (s *stream) passed(event []byte) ([]byte, *fault.Fault) {
	data, replace := wire.Event(event)
	if len(data) == 0 {
		return event, nil
	}
	answer, refused := s.read(s.ctx, data)
	if refused != nil {
		return nil, refused
	}
	if s.message != nil && s.message.ID != nil && wire.SameID(answer.ID, s.message.ID) {
		if !answer.Answers {
			return nil, fault.Unusable(errNoAnswer)
		}
		s.finish(answer, s.result)
	}
	if len(answer.Body) == len(data) && &answer.Body[0] == &data[0] {
		return event, nil
	}
	return replace(answer.Body), nil
}
