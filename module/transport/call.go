package transport

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
)

// call is one call of an attempt. It is used by one goroutine.
type call struct {
	t             *Transport
	attempt       *exchange.Attempt
	proxied       *http.Request   // the request of reverse_proxy; unproxied without it
	address       *aigateway.Call // as the protocol of the provider changes it
	result        result
	life          lifetime
	body          io.Closer                // of the answer; nil before its headers, and for a subcall, whose goroutine closes it
	answerContext *translate.AnswerContext // for the translation of the answer; nil on the byte lane
	copied        *copied                  // the answer so far, for the cache; nil if it is not kept
}

func newCall(client context.Context, t *Transport, a *exchange.Attempt, r *exchange.Result, proxied *http.Request) *call {
	a.Exchange.Opening.Reopen()
	c := &call{t: t, attempt: a, proxied: proxied, result: result{r, t.redactor(a, proxied)}}
	c.life.begin(client)
	return c
}

// do sends the request. It returns the answer when a JSON answer is complete, or the first
// event with content of a stream has arrived. Otherwise the result has a fault. do returns
// an error status of the provider as a response without a body, so that passive health
// checks see it.
func (c *call) do() (*http.Response, error) {
	err := c.authorize("")
	if err != nil {
		return nil, c.fail(err)
	}
	if c.address, err = c.t.service.address(c.attempt); err != nil {
		return c.refuse(unaddressable(c.attempt, err)), nil
	}
	request, fault := prepare(c.attempt, 0, c.t, c.address)
	switch {
	case fault != nil:
		return c.refuse(fault), nil
	case request.prompts*request.samples > 1:
		if c.attempt.Cache != nil {
			cached{c}.note(exchange.CacheBypass)
		}
		return c.fanOut(request)
	}
	c.result.Lane.Losses, c.answerContext = request.losses, request.answerContext
	res, err := ask(c, request.payload)
	if err != nil {
		return nil, c.fail(err)
	}
	c.body = res.Body
	switch {
	case res.StatusCode != http.StatusOK:
		return c.refused(res)
	case c.passesContent():
		return c.pass(res, &content{receive: c.attempt.Object().Line})
	case c.isStream(res):
		return c.stream(res)
	case passthrough.Passes(c.attempt.Exchange.Request.Operation, res.Header.Get("Content-Type")):
		return c.pass(res, &measured{ex: c.attempt.Exchange})
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
	c.life.watch.Start(watch.Headers(time.Duration(c.t.ResponseHeaderTimeout)), c.life.expire)
	c.result.Times.Called = time.Now()
	ctx := c.life.conn.Follow(c.life.ctx)
	carry := func(retry bool) (*http.Response, error) {
		request := c.request(ctx, p)
		if recorder := c.attempt.Exchange.Capture; recorder != nil {
			return c.captured(recorder, request, p, retry)
		}
		return c.carry(request, p, retry)
	}
	res, err := carry(false)
	uploads := c.uploads()
	if err != nil && !uploads && c.life.conn.WasStale(err) && c.life.ctx.Err() == nil {
		c.t.carrier.closeIdle() // other connections may have ended, too
		res, err = carry(false)
	}
	if err == nil && !uploads && res.StatusCode == http.StatusUnauthorized && c.renew() {
		_ = res.Body.Close()
		res, err = carry(true)
	}
	c.result.Sent = c.result.Sent || p.Sent() || uploads
	if err != nil {
		return nil, err
	}
	c.result.noteHead(res, c.attempt)
	return res, nil
}

// refuse ends a call without sending a request. It returns a response and not an error,
// because reverse_proxy would count an error as a failure of the provider.
func (c *call) refuse(fault *fault.Fault) *http.Response {
	c.result.Fail(fault)
	c.result.State = exchange.Unasked
	c.end()
	return emptyResponse(http.StatusBadRequest, c.proxied)
}

// emptyResponse returns a response without a body, which only reverse_proxy reads.
func emptyResponse(status int, req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header), Body: http.NoBody, Request: req,
	}
}

// fail ends a call without a usable answer. It returns the error for reverse_proxy, which
// wraps a dial error if there is one, and is context.Canceled only if the client has
// disconnected.
func (c *call) fail(err error) error {
	defer c.end()
	if gone := c.life.client.Err(); gone != nil {
		return gone
	}
	fault := callFault(cmp.Or(context.Cause(c.life.ctx), err))
	c.result.noteFailure(fault)
	return &callError{fault.Cause}
}

// unread ends a call whose answer could not be read to its end.
func (c *call) unread(err error) error { return c.fail(fmt.Errorf("reading answer: %w", err)) }

// failed ends a call with a fault of the provider. It returns a response whose status is for
// the passive health checks of reverse_proxy.
func (c *call) failed(res *http.Response, status int, fault *fault.Fault) *http.Response {
	c.result.noteError(fault)
	c.end()
	return c.response(res, status, http.NoBody, 0)
}

// rejected ends a call whose answer with status 200 is not an answer of the format.
func (c *call) rejected(res *http.Response, fault *fault.Fault) *http.Response {
	return c.failed(res, c.attempt.Format.Errors.Status(fault), c.result.hide.typed(res, fault))
}

// end ends the time of the call, and closes the body of its answer.
func (c *call) end() {
	c.life.end()
	if c.copied != nil { // a whole answer was handed over before
		c.copied.flight.Fail()
	}
	if c.body != nil {
		_ = c.body.Close()
	}
}

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream; charset=utf-8"
)

// response returns the response for the sink. It has only the headers that the sink reads:
// the content type and, for a whole answer, the length. They take the place of those of res.
// The content type is that of the provider if the answer is relayed unchanged and the type
// fits. Official SDKs read JSON with another type, or without one, as plain text.
func (c *call) response(res *http.Response, status int, body io.ReadCloser, length int64) *http.Response {
	own, contentType := exchange.IsJSON(res.Header.Get("Content-Type")), typeJSON
	switch op := c.attempt.Exchange.Request.Operation; {
	case c.passesContent():
		own = true
	case op.Beside() && (hasStreamType(res) || passthrough.Passes(op, res.Header.Get("Content-Type"))):
		own = true
	case !op.Beside() && c.attempt.Exchange.Request.Streaming():
		own, contentType = hasStreamType(res), typeStream
	}
	if c.attempt.ByteLane() && own {
		contentType = cmp.Or(c.result.hide.contentType(res), contentType)
	}
	h := res.Header
	if clear(h); h == nil { // a RoundTripper of another module has set none
		h = make(http.Header)
	}
	h["Content-Type"] = []string{contentType}
	if length > 0 {
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	return &http.Response{
		Status: res.Status, StatusCode: status,
		Proto: res.Proto, ProtoMajor: res.ProtoMajor, ProtoMinor: res.ProtoMinor,
		Header: h, Body: body, ContentLength: length, Request: c.proxied,
	}
}
