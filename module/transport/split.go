package transport

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// preparedCall is one of the calls of a fan-out, with its payload.
type preparedCall struct {
	call    *call
	payload *payload.Payload
}

// fanOut makes the calls of a request with several prompts or samples. first is the request
// with the first prompt.
func (c *call) fanOut(first prepared) (*http.Response, error) {
	calls, fault := c.split(first)
	if fault != nil {
		return c.refuse(fault), nil
	}
	return newFanOut(c, calls).do()
}

// split prepares a call for each sample of each prompt. It sends nothing, because a later
// prompt may be invalid.
func (c *call) split(first prepared) (calls []preparedCall, fault *fault.Fault) {
	for n, r := 0, first; n < first.prompts; n++ {
		if n > 0 {
			if r, fault = prepare(c.attempt, n, c.t.MaxEventBytes); fault != nil {
				drop(calls)
				return nil, fault
			}
		}
		c.result.Losses = r.losses
		for range first.samples {
			calls = append(calls, preparedCall{c.subcall(r.answerContext), r.payload.Share()})
		}
		r.payload.Close()
	}
	return calls, nil
}

// subcall returns one of the calls of a fan-out. It has its own result and lifetime, because
// it runs in its own goroutine.
func (c *call) subcall(answer translate.AnswerContext) *call {
	own := *c.result.Result
	own.Parts = nil
	s := &call{t: c.t, attempt: c.attempt, result: result{&own, c.result.hide}, proxied: c.proxied, answerContext: answer}
	s.life.beginWithin(&c.life)
	return s
}

// partsOf returns the parts of the result that the calls of a fan-out have.
func partsOf(calls []preparedCall) []exchange.Part {
	var length int64
	for _, p := range calls {
		length += p.payload.Length()
	}
	parts := make([]exchange.Part, len(calls))
	for i, p := range calls {
		parts[i] = exchange.Part{Result: p.call.result.Result, Share: float64(p.payload.Length()) / float64(length)}
	}
	return parts
}

// drop releases calls that are not made.
func drop(calls []preparedCall) {
	for _, p := range calls {
		p.payload.Close()
		p.call.life.cancel(errEnded)
	}
}
