package transport

import (
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Only the functions of this file write the result of a call, so that all redaction is in
// one place.

// noteUnasked sets the state and the fault of a request that the target cannot take.
func (c *call) noteUnasked(f *fault.Fault) {
	c.result.State, c.result.Fault = exchange.Unasked, f
}

// noteLosses sets the fields that the translation of the request leaves out.
func (c *call) noteLosses(losses translate.Losses) { c.result.Losses = losses }

// noteCalled sets the time at which the request is sent.
func (c *call) noteCalled() { c.result.Called = time.Now() }

// noteBegan sets the time of the first content of a stream.
func (c *call) noteBegan() { c.result.Began = time.Now() }

// noteSent records whether the provider may have received a part of the request. An earlier
// true stays true.
func (c *call) noteSent(sent bool) { c.result.Sent = c.result.Sent || sent }

// noteHead sets the status, the request id and the rate limits from the headers of the
// answer.
func (c *call) noteHead(res *http.Response) {
	c.result.Status = res.StatusCode
	c.result.RequestID = c.requestID(res.Header)
	c.noteHeaders(c.rateLimits(res.Header))
}

// noteHeaders adds headers of the provider for the client.
func (c *call) noteHeaders(h http.Header) {
	if c.result.Header == nil {
		c.result.Header = h
		return
	}
	maps.Copy(c.result.Header, h)
}

// noteErrorAnswer sets an error answer that may be relayed unchanged.
func (c *call) noteErrorAnswer(a *exchange.ErrorAnswer) { c.result.Answer = a }

// noteFailure sets the fault of a call without a whole answer. The message of the fault was
// written by the gateway.
func (c *call) noteFailure(f *fault.Fault) {
	f.Redact(c.credential)
	c.result.Fail(f)
}

// noteError sets the fault of a call without a whole answer. The message of the fault may
// quote the provider, so the host of the provider is redacted, too.
func (c *call) noteError(f *fault.Fault) {
	f.Redact(c.secrets()...)
	c.noteRetryAfter(f)
	c.result.Fail(f)
}

// noteRetryAfter adds the time of an error's message to the headers, from which clients and
// the gateway read it. A header of the provider takes precedence.
func (c *call) noteRetryAfter(f *fault.Fault) {
	if f.RetryAfter > 0 && c.result.Header.Get("Retry-After") == "" && c.result.Header.Get("Retry-After-Ms") == "" {
		c.noteHeaders(http.Header{"Retry-After": {strconv.Itoa(f.RetryAfter)}})
	}
	f.RetryAfter = 0
}

// noteState sets the state of the answer.
func (c *call) noteState(s exchange.AnswerState) { c.result.State = s }

// noteAppender sets the writer of the events that the gateway adds to the stream.
func (c *call) noteAppender(a exchange.Appender) { c.result.Appender = a }

// noteAnswer sets the usage, the size of the text, the model and the losses of the answer so
// far.
func (c *call) noteAnswer(u token.Usage, text token.Text, model string, dropped translate.Losses) {
	c.result.Usage, c.result.Text = u, text
	c.result.AnsweredBy = c.redact(model)
	c.result.Dropped = c.redactLosses(dropped)
}

// noteFinished sets the state of a whole answer, its final usage, and the size of its text.
func (c *call) noteFinished(u token.Usage, text token.Text) {
	c.result.Finish(u)
	c.result.Text = text
}

// noteStopped records that the call ends at a stop text, before the end of the stream.
func (c *call) noteStopped() { c.result.Stopped = true }

// noteUnread records that the client has left before the end of a finished stream.
func (c *call) noteUnread() { c.result.Unread = true }

// noteParts adds the calls of a fan-out.
func (c *call) noteParts(parts []exchange.Part) { c.result.Parts = append(c.result.Parts, parts...) }

// noteMerged sets the merged result of a fan-out; see mergeResults.
func (c *call) noteMerged(first, failed *exchange.Result) {
	*c.result = mergeResults(*c.result, first, failed)
}

// mergeResults returns the result of a fan-out. It is the result of the failed subcall, with
// the parts and times of whole, if failed is not nil; else it is whole with the status and the
// request id of first, the subcall that has answered first.
func mergeResults(whole exchange.Result, first, failed *exchange.Result) exchange.Result {
	if failed != nil {
		merged := *failed
		merged.Parts, merged.Called, merged.Began = whole.Parts, whole.Called, whole.Began
		return merged
	}
	whole.Status, whole.RequestID = first.Status, first.RequestID
	return whole
}
