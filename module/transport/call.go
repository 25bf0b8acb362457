package transport

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// call is one attempt on its way: created for each, used by one goroutine.
type call struct {
	t       *Transport
	attempt *exchange.Attempt
	result  *exchange.Result
	request *http.Request // as reverse_proxy or the direct path gave it
	client  context.Context
	ctx     context.Context // of the provider's call: ends with the client, or with a named cause of ours
	cancel  context.CancelCauseFunc
	watch   watch

	// Of a translated request: what is sent, and what the way back needs.
	rendered *payload
	memory   translate.Memory
	subcalls []*call // what the request became, if that is several calls

	filled []translate.Edit // of a request whose prompt and suffix become one prompt
}

func newCall(t *Transport, a *exchange.Attempt, result *exchange.Result, req *http.Request) *call {
	c := &call{t: t, attempt: a, result: result, request: req, client: req.Context()}
	c.ctx, c.cancel = context.WithCancelCause(c.client)
	return c
}

// do sends the request and returns the answer once it is known to be one: a
// complete JSON answer, or a stream whose first meaningful event has arrived.
// Everything else leaves its fault in the result. A provider's error status is
// returned as a response without a body, so that passive health checks see it.
func (c *call) do() (*http.Response, error) {
	if fault := c.prepare(); fault != nil {
		return c.refuse(fault), nil
	}
	if c.subcalls != nil {
		return newFanOut(c).do()
	}
	res, err := c.send()
	switch {
	case err != nil:
		return nil, c.fail(err)
	case res.StatusCode != http.StatusOK:
		return c.refused(res)
	case isEventStream(res) && c.attempt.Exchange.Streaming():
		return c.stream(res)
	default:
		return c.answer(res)
	}
}

// prepare finds out what is sent instead of the client's own bytes. A fault means
// that this target cannot be asked in any faithful way.
func (c *call) prepare() *translate.Fault {
	if !c.attempt.ByteLane() {
		return c.translate()
	}
	if fault := c.refuseLateSystem(); fault != nil {
		return fault
	}
	c.result.Losses = c.attempt.Exchange.View.Losses()
	fillIn := c.attempt.Format.Requests.FillIn
	if fillIn == nil || c.traits().FIMTemplate == "" {
		return nil
	}
	edits, fault := fillIn(c.attempt.Exchange.Body, c.info())
	c.filled = edits
	return fault
}

// refuseLateSystem refuses system turns in the middle of a messages body where the
// provider does not take them: its bytes cannot be changed.
func (c *call) refuseLateSystem() *translate.Fault {
	ex := c.attempt.Exchange
	if ex.View.LateSystem == 0 || ex.Operation != translate.Generate || c.traits().TakesLateSystem() {
		return nil
	}
	return translate.RefuseLateSystem("messages." + strconv.Itoa(ex.View.LateSystem-1) + ".role")
}

// send sends the request and waits for the headers of its answer.
func (c *call) send() (*http.Response, error) {
	p := c.payload()
	defer p.close()
	c.watch.start(c.cancel, phase{time.Duration(c.t.ResponseHeaderTimeout), errHeaders})
	res, err := c.t.carry(c.render(c.request, p))
	if p.sent.Load() {
		c.result.Sent = true
	}
	if err == nil {
		c.noteHeaders(res)
		res.Body = &unquotedBody{res.Body}
	}
	return res, err
}

// refuse answers for the provider, which is not asked at all. An error would
// make reverse_proxy count a failure of the provider's.
func (c *call) refuse(fault *translate.Fault) *http.Response {
	c.result.State, c.result.Fault = exchange.Unasked, fault
	c.cancel(errEnded)
	return &http.Response{
		StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header), Body: http.NoBody, Request: c.request,
	}
}

// end releases all that the call holds. The cause is only a formality: nothing
// waits for the call any more.
func (c *call) end() {
	c.watch.stop()
	c.cancel(errEnded)
}

var errEnded = errors.New("the call has ended")

// noteHeaders keeps what the provider's headers say about the call.
func (c *call) noteHeaders(res *http.Response) {
	c.result.Status = res.StatusCode
	c.keepRateLimits(res.Header)
	for _, name := range [...]string{"Request-Id", "X-Request-Id"} {
		if id := c.presentableHeader(res.Header.Get(name)); id != "" {
			c.result.RequestID = id
			return
		}
	}
}

// fail ends a call that gave no usable answer, and leaves the reason in the
// result. The returned error is for reverse_proxy: it is a dial error where
// one happened, and context.Canceled only if the client itself went away.
func (c *call) fail(err error) error {
	defer c.end()
	if c.client.Err() != nil {
		return c.client.Err()
	}
	cause := context.Cause(c.ctx)
	if cause == nil {
		cause = err
	}
	fault := callFault(cause)
	fault.Redact(c.t.credential())
	c.result.Fail(fault)
	return &callError{fault.Cause}
}

// callFault returns the fault of a call that ended with an error.
func callFault(cause error) *translate.Fault {
	switch {
	case timedOut(cause):
		return translate.UpstreamTimeout(cause)
	case unreadable(cause):
		return translate.Unusable(cause)
	default:
		return translate.Unreachable(cause)
	}
}

// unreadable reports whether a call ended by an answer that came, but was coded
// in a way that cannot be read, or too large.
func unreadable(err error) bool {
	for _, target := range [...]error{coding.ErrUnknown, coding.ErrBroken, coding.ErrTooLarge, sse.ErrTooLarge} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// timedOut reports whether a call ended by a timeout. The dial errors of
// reverse_proxy hide what they wrap from errors.As; the text that every timeout
// of the net package ends with is all they show.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	var dial reverseproxy.DialError
	return errors.As(err, &dial) && strings.HasSuffix(dial.Error(), os.ErrDeadlineExceeded.Error())
}

// callError is the error of a call as reverse_proxy sees it. A cancellation
// that came from inside is not shown as context.Canceled, which reverse_proxy
// would take for the client's and answer with status 499.
type callError struct{ cause error }

func (e *callError) Error() string { return "calling provider: " + e.cause.Error() }

func (e *callError) Unwrap() error {
	if errors.Is(e.cause, context.Canceled) {
		return nil
	}
	return e.cause
}

// failed returns a response that stands for a fault: the status tells
// reverse_proxy about the provider's health, the fault itself is in the result.
func (c *call) failed(res *http.Response, status int, fault *translate.Fault) *http.Response {
	fault.Redact(c.secrets()...)
	c.result.Fail(fault)
	_ = res.Body.Close()
	c.end()
	return c.response(res, status, http.NoBody, 0)
}

// response builds the response that is handed on. Only headers that the sink
// needs are in it: the content type and, of a whole answer, the length.
func (c *call) response(res *http.Response, status int, body readCloser, length int64) *http.Response {
	h := make(http.Header, 2)
	h["Content-Type"] = []string{c.contentType(res)}
	if length > 0 {
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	return &http.Response{
		Status:        res.Status,
		StatusCode:    status,
		Proto:         res.Proto,
		ProtoMajor:    res.ProtoMajor,
		ProtoMinor:    res.ProtoMinor,
		Header:        h,
		Body:          body,
		ContentLength: length,
		Request:       c.request,
	}
}
