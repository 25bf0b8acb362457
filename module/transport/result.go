package transport

import (
	"maps"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The functions of this file fold what a call finds into its result. Nothing else
// writes one: what a result may hold, and what is redacted before, is here.

// noteUnasked notes that the target cannot take the request.
func (c *call) noteUnasked(f *fault.Fault) {
	c.result.State, c.result.Fault = exchange.Unasked, f
}

// noteLosses notes the fields that the request leaves behind.
func (c *call) noteLosses(losses translate.Losses) { c.result.Losses = losses }

// noteCalled notes that the request is sent now.
func (c *call) noteCalled() { c.result.Called = time.Now() }

// noteBegan notes that the first content of a stream has come.
func (c *call) noteBegan() { c.result.Began = time.Now() }

// noteSent notes whether the provider may have received a part of the request.
func (c *call) noteSent(sent bool) { c.result.Sent = c.result.Sent || sent }

// noteHead notes what the headers of the answer show of the call.
func (c *call) noteHead(res *http.Response) {
	c.result.Status = res.StatusCode
	c.result.RequestID = c.requestID(res.Header)
	c.noteHeaders(c.rateLimits(res.Header))
}

// noteHeaders adds headers that the client gets.
func (c *call) noteHeaders(h http.Header) {
	if c.result.Header == nil {
		c.result.Header = h
		return
	}
	maps.Copy(c.result.Header, h)
}

// noteErrorAnswer notes an error answer that may be relayed as it is.
func (c *call) noteErrorAnswer(a *exchange.ErrorAnswer) { c.result.Answer = a }

// noteFailure notes why the provider gave no whole answer, in words of the gateway.
func (c *call) noteFailure(f *fault.Fault) {
	f.Redact(c.credential())
	c.result.Fail(f)
}

// noteError notes why there is no whole answer, in words that may be the provider's.
func (c *call) noteError(f *fault.Fault) {
	f.Redact(c.secrets()...)
	c.result.Fail(f)
}

// noteState notes how far a stream is.
func (c *call) noteState(s exchange.AnswerState) { c.result.State = s }

// noteContinuation notes what adds events to the stream.
func (c *call) noteContinuation(a exchange.Continuation) { c.result.Continuation = a }

// noteAnswer notes what the answer has shown of itself so far.
func (c *call) noteAnswer(u token.Usage, model string, dropped translate.Losses) {
	c.result.Usage = u
	c.result.AnsweredBy = c.redact(model)
	c.result.Dropped = c.redactLosses(dropped)
}

// noteFinished notes that the answer is whole, with its final usage.
func (c *call) noteFinished(u token.Usage) { c.result.Finish(u) }

// noteMerged notes the results of the calls of a fan-out; failed is nil if none has
// failed.
func (c *call) noteMerged(first, failed *exchange.Result) {
	*c.result = mergeResults(*c.result, first, failed)
}

// mergeResults returns the result of a whole: that of the call that failed, if one
// has, else with the headers of the call that answered first.
func mergeResults(whole exchange.Result, first, failed *exchange.Result) exchange.Result {
	if failed != nil {
		return *failed
	}
	whole.Status, whole.RequestID = first.Status, first.RequestID
	return whole
}
