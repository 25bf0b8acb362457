package transport

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// call is one call of an attempt. It is used by one goroutine.
type call struct {
	t             *Transport
	attempt       *exchange.Attempt
	result        result
	proxied       *http.Request   // the request of reverse_proxy or of the direct path
	client        context.Context // ends when the client disconnects
	ctx           context.Context // ends when the call is cancelled with a cause; see leave
	cancel        context.CancelCauseFunc
	unbind        func() bool // separates the call from client
	turnOver      atomic.Bool // the stream has shown what may be the end of the turn, or a JSON answer has begun
	watch         watch.Watch
	answerContext translate.AnswerContext // for the translation of the answer; set for translated requests
}

func newCall(t *Transport, a *exchange.Attempt, r *exchange.Result, req *http.Request) *call {
	a.Exchange.Opening.Reopen()
	c := &call{t: t, attempt: a, result: result{r, t.redactor(a.APIKey, req)}, proxied: req, client: req.Context()}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(c.client))
	c.unbind = context.AfterFunc(c.client, c.leave)
	return c
}

// do sends the request. It returns the answer when a JSON answer is complete, or the first
// event with content of a stream has arrived. Otherwise the result has a fault. do returns
// an error status of the provider as a response without a body, so that passive health
// checks see it.
func (c *call) do() (*http.Response, error) {
	request, fault := prepare(c.attempt, 0, c.t.MaxEventBytes)
	switch {
	case fault != nil:
		return c.refuse(fault), nil
	case request.prompts*request.samples > 1:
		return c.fanOut(request)
	}
	c.result.Losses = request.losses
	c.answerContext = request.answerContext
	res, err := c.send(request.payload)
	switch {
	case err != nil:
		return nil, c.fail(err)
	case res.StatusCode != http.StatusOK:
		return c.refused(res)
	case c.isStream(res):
		return c.stream(res)
	default:
		return c.answer(res)
	}
}

// send sends the request and waits for the headers of its answer. It sends the request once
// more on a new connection if the provider had closed the connection of the first. Some
// servers close a connection behind an answer without a header that announces it, so that the
// next request is written before the end is noticed. net/http repeats such requests only if
// they are idempotent.
func (c *call) send(p *payload.Payload) (*http.Response, error) {
	defer p.Close()
	c.watch.Start(c.cancel, watch.Headers(time.Duration(c.t.ResponseHeaderTimeout)))
	c.result.Called = time.Now()
	var conn connection
	request := func(ctx context.Context) *http.Request {
		return c.t.request(ctx, c.attempt, c.proxied, c.result.hide.credential, p)
	}
	res, err := c.t.carry(request(conn.follow(c.ctx)))
	if err != nil && conn.wasStale(err) && c.ctx.Err() == nil {
		c.t.closeIdle() // other connections may have ended, too
		res, err = c.t.carry(request(c.ctx))
	}
	c.result.Sent = c.result.Sent || p.Sent()
	if err != nil {
		return nil, err
	}
	c.result.noteHead(res, c.attempt)
	res.Body = &unquotedBody{res.Body}
	return res, nil
}

// refuse ends a call without sending a request. It returns a response and not an error,
// because reverse_proxy would count an error as a failure of the provider.
func (c *call) refuse(fault *fault.Fault) *http.Response {
	c.result.Fail(fault)
	c.result.State = exchange.Unasked
	c.cancel(errEnded)
	return &http.Response{
		StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header), Body: http.NoBody, Request: c.proxied,
	}
}

// end stops the timer of the call and cancels its context.
func (c *call) end() {
	c.unbind()
	c.watch.Stop()
	c.cancel(errEnded)
}

var errEnded = errors.New("the call has ended")

// fail ends a call without a usable answer. It returns the error for reverse_proxy, which
// wraps a dial error if there is one, and is context.Canceled only if the client has
// disconnected.
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
	c.result.noteFailure(fault)
	return &callError{fault.Cause}
}

// callFault returns the fault of a call that ended with an error.
func callFault(cause error) *fault.Fault {
	switch {
	case timedOut(cause):
		return fault.UpstreamTimeout(cause)
	case unreadable(cause):
		return fault.Unusable(cause)
	default:
		return fault.Unreachable(cause)
	}
}

// unreadable reports whether a call ended because its answer cannot be decoded or is too
// large.
func unreadable(err error) bool {
	for _, target := range [...]error{coding.ErrUnknown, coding.ErrBroken, coding.ErrTooLarge, sse.ErrTooLarge} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// timedOut reports whether a call ended by a timeout. errors.As does not find the error
// inside a dial error of reverse_proxy (T26), so timedOut checks its text: every timeout of
// the net package ends with the same words.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	var dial reverseproxy.DialError
	return errors.As(err, &dial) && strings.HasSuffix(dial.Error(), os.ErrDeadlineExceeded.Error())
}

// callError is the error of a call for reverse_proxy. It does not unwrap to
// context.Canceled: reverse_proxy would take that for a client that has disconnected, and
// answer 499 (T29).
type callError struct{ cause error }

func (e *callError) Error() string { return "calling provider: " + e.cause.Error() }

func (e *callError) Unwrap() error {
	if errors.Is(e.cause, context.Canceled) {
		return nil
	}
	return e.cause
}

// failed ends a call with a fault of the provider. It returns a response whose status is for
// the passive health checks of reverse_proxy.
func (c *call) failed(res *http.Response, status int, fault *fault.Fault) *http.Response {
	c.result.noteError(fault)
	_ = res.Body.Close()
	c.end()
	return c.response(res, status, http.NoBody, 0)
}

// response returns the response for the sink. It has only the headers that the sink reads:
// the content type and, for a whole answer, the length.
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
		Request:       c.proxied,
	}
}
