package endpoint

import (
	"errors"
	"io"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// passStream passes the messages of a stream on, until the one that answers the request.
func (c *call) passStream(status int, body io.Reader) {
	u := c.use
	c.result.State, c.result.Times.Began = exchange.Content, time.Now()
	u.answer.WriteHeader(status)
	_ = u.answer.FlushError()
	for events := u.server.Events(body); !c.result.Whole(); {
		event, err := events.Next()
		if err != nil {
			c.noteEnd(err)
			return
		}
		c.resumable = c.resumable || !u.joined && u.hasSession() && wire.HasEventID(event)
		event, refused := c.passed(event)
		switch {
		case refused != nil && refused.IsUnusable():
			c.result.Fail(refused)
			return
		case refused != nil:
			event = c.block(refused)
		}
		_, _ = u.answer.Write(event)
		_ = u.answer.FlushError()
	}
}

// noteEnd notes the end of a stream behind its last event. It is no failure of a stream that the client may
// resume, or that answers no request.
func (c *call) noteEnd(err error) {
	message := c.use.message
	switch {
	case c.ctx.Err() != nil: // which is the reason
	case errors.Is(err, io.EOF) && (c.resumable || !message.IsRequest() || message.IsSubscription()):
		c.result.Finish(token.Usage{})
	case mcp.IsUnusable(err):
		c.result.Fail(fault.Unusable(err))
	default:
		c.result.Fail(fault.Truncated(err))
	}
}

// block returns the event that ends a stream that a guard has blocked. The call ends as whole: the server
// has answered.
func (c *call) block(refused *fault.Fault) []byte {
	c.use.answer.Exchange.Delivery.Fault = refused
	c.result.Finish(token.Usage{})
	return c.errorEvent(refused)
}

// passed returns an event as the client gets it, and notes the end of the answer.
func (c *call) passed(event []byte) ([]byte, *fault.Fault) {
	data, replace := wire.Event(event)
	if len(data) == 0 {
		return event, nil
	}
	answer, refused := c.read(data)
	if refused != nil {
		return nil, refused
	}
	if message := c.use.message; message != nil && message.ID != nil && wire.SameID(answer.ID, message.ID) {
		if !answer.Answers {
			return nil, fault.Unusable(errNoAnswer)
		}
		c.finish(answer)
	}
	if len(answer.Body) == len(data) && &answer.Body[0] == &data[0] {
		return event, nil
	}
	return replace(answer.Body), nil
}

// endStream ends a stream that has failed with an error as the answer to the request: without it, the client
// waits until its own timeout. A client that can resume the stream gets the answer there, and no error.
func (c *call) endStream(f *fault.Fault) {
	if c.result.Times.Began.IsZero() || c.resumable || !c.use.message.IsRequest() {
		return
	}
	c.result.State = exchange.Relayed
	_, _ = c.use.answer.Write(c.errorEvent(f))
	_ = c.use.answer.FlushError()
}

// errorEvent returns the event of a fault, as the answer to the request.
func (c *call) errorEvent(f *fault.Fault) []byte {
	ex := c.use.answer.Exchange
	return append(ex.Request.Format.Errors.Append([]byte("data: "), f, ex.ID), "\n\n"...)
}
