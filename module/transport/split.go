package transport

import (
	"context"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// preparedCall is one of the calls that a request becomes, with what it sends.
type preparedCall struct {
	call    *call
	payload *payload.Payload
}

// fanOut makes the calls that the request becomes, of which first has the first
// prompt.
func (c *call) fanOut(first rendered) (*http.Response, error) {
	calls, fault := c.split(first)
	if fault != nil {
		return c.refuse(fault), nil
	}
	return newFanOut(c, calls).do()
}

// split prepares a call for each prompt, as often as samples are wanted of it.
// Nothing is sent yet: a later prompt may be at fault.
func (c *call) split(first rendered) (calls []preparedCall, fault *fault.Fault) {
	for n, r := 0, first; n < first.prompts; n++ {
		if n > 0 {
			if r, fault = c.translate(n); fault != nil {
				drop(calls)
				return nil, fault
			}
		}
		c.noteLosses(r.losses)
		for range first.samples {
			calls = append(calls, preparedCall{c.subcall(r.answerContext), r.payload.Share()})
		}
		r.payload.Close()
	}
	return calls, nil
}

// subcall returns one of the calls that this one becomes. It has a result, a watch
// and variables of its own, so that a goroutine of its own can carry it.
func (c *call) subcall(answer translate.AnswerContext) *call {
	result := *c.result
	s := &call{t: c.t, attempt: c.attempt, result: &result, proxied: c.proxied, client: c.client, answerContext: answer}
	s.ctx, s.cancel = context.WithCancelCause(exchange.WithOwnVars(c.ctx))
	return s
}

// drop gives up calls that are not made.
func drop(calls []preparedCall) {
	for _, prepared := range calls {
		prepared.payload.Close()
		prepared.call.cancel(errEnded)
	}
}
