package transport

import (
	"maps"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// result is the result of a call while it is written. Only the methods of result set the
// fields that may contain text of the provider, so that all redaction is in one place.
type result struct {
	*exchange.Result
	hide redactor
}

// noteHead sets the status, the request id and the rate limits from the headers of the
// answer. The rate limits describe the operator's account, so they are set only if a trait
// of the attempt allows it. A client of another format would not understand them.
func (r *result) noteHead(res *http.Response, a *exchange.Attempt) {
	r.Status, r.Head.RequestID = res.StatusCode, r.hide.requestID(res.Header)
	if a.Traits.ForwardRateLimitHeaders && a.ByteLane() {
		r.noteHeaders(r.hide.rateLimits(res.Header))
	}
}

// noteHeaders adds headers for the client.
func (r *result) noteHeaders(h http.Header) {
	if r.Head.Header == nil {
		r.Head.Header = h
		return
	}
	maps.Copy(r.Head.Header, h)
}

// noteAnswer sets the usage, the size of the text, the model and the losses of the answer so
// far.
func (r *result) noteAnswer(u token.Usage, text token.Text, model string, dropped translate.Losses) {
	r.Usage, r.Text = u, text
	r.Head.AnsweredBy, r.Lane.Dropped = r.hide.text(model), r.hide.losses(dropped)
}

// finished is a whole answer.
type finished interface {
	Usage() token.Usage
	Text() token.Text
	Reason() event.FinishReason
}

// noteFinished sets the state of a whole answer, its final usage, the size of its text, and why it ended.
func (r *result) noteFinished(a finished) {
	r.Finish(a.Usage())
	r.Text, r.EndedBy = a.Text(), a.Reason()
}

// noteFailure sets the fault of a call without a whole answer. The message of the fault was
// written by the gateway.
func (r *result) noteFailure(f *fault.Fault) {
	f.Redact(r.hide.secrets()...)
	r.Fail(f)
}

// noteError sets the fault of a call without a whole answer. The message of the fault may
// quote the provider. It may also contain when to try again: that becomes a header, from
// which clients and the gateway read it, unless the provider has sent one.
func (r *result) noteError(f *fault.Fault) {
	r.hide.fault(f)
	if f.RetryAfter > 0 && r.Head.Header.Get("Retry-After") == "" && r.Head.Header.Get("Retry-After-Ms") == "" {
		r.noteHeaders(http.Header{"Retry-After": {strconv.Itoa(f.RetryAfter)}})
	}
	f.RetryAfter = 0
	r.Fail(f)
}

// noteErrorAnswer sets the provider's error answer for a client of the same format: the
// provider's bytes, masked, if they are JSON; else an error body of the format, because
// official SDKs read no other. f is the fault of the answer.
func (r *result) noteErrorAnswer(res *http.Response, body []byte, f *fault.Fault, a *exchange.Attempt) {
	r.Head.Answer = &exchange.ErrorAnswer{Status: res.StatusCode, ContentType: typeJSON, Body: fault.Mask(body, r.hide.host)}
	if !fault.IsJSON(r.Head.Answer.Body) || r.hide.leaks(string(body)) {
		r.hide.fault(f)
		r.Head.Answer.Body = a.Format.Errors.Append(nil, f.WithStatus(res.StatusCode), a.Exchange.ID)
	} else if own := r.hide.contentType(res); exchange.IsJSON(own) {
		r.Head.Answer.ContentType = own
	}
}

// mergeResults returns the result of a fan-out. It is the result of the failed subcall, with
// the parts and times of whole, if failed is not nil; else it is whole with the status and the
// request id of first, the subcall that has answered first.
func mergeResults(whole exchange.Result, first, failed *exchange.Result) exchange.Result {
	if failed != nil {
		merged := *failed
		merged.Parts, merged.Times.Called, merged.Times.Began = whole.Parts, whole.Times.Called, whole.Times.Began
		return merged
	}
	whole.Status, whole.Head.RequestID = first.Status, first.Head.RequestID
	return whole
}
