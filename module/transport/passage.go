package transport

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/connection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// passage is the call of a request that is passed on as it is.
type passage struct {
	asked  *exchange.Passage
	t      *Transport
	result result
	life   lifetime
	answer io.ReadCloser // of the provider; nil before its headers
	src    io.Reader     // of the answer that the client gets
	tap    tap           // of that answer
	left   int64         // bytes of the answer that have not arrived, negative if its length is unknown
}

// passOn makes the request of a passage. It answers reverse_proxy as a call does: with an empty
// response for what is not a failure of the provider's connection.
func (t *Transport) passOn(req *http.Request, asked *exchange.Passage) (*http.Response, error) {
	a, r := asked.Begin()
	p := &passage{asked: asked, t: t, result: result{r, t.redactor(a, req)}}
	p.life.begin(req.Context())
	request, refused := p.request(req)
	if refused != nil {
		return p.refuse(req, refused), nil
	}
	res, err := t.carrier.send(request)
	p.result.Sent = true
	if err != nil {
		return p.fail(req, err)
	}
	p.answer = res.Body
	p.result.noteHead(res, a)
	switch status := res.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden: // for the gateway's credential, whose masked form its text may have
		return p.refuse(req, fault.Read(http.StatusUnauthorized, "", nil)), nil
	case status >= 300 && status < 400 && status != http.StatusNotModified:
		return p.refuse(req, fault.Redirected()), nil
	}
	p.life.watch.Enter(watch.Rest(time.Duration(t.IdleTimeout)))
	if p.src = res.Body; !asked.Unsealed {
		if err := p.seal(res); err != nil {
			return p.fail(req, err)
		}
	}
	p.result.State, p.left, p.tap = exchange.Content, res.ContentLength, t.tapOf(a, res)
	p.life.watch.Hold()
	return &http.Response{
		Status: res.Status, StatusCode: res.StatusCode, Proto: res.Proto, ProtoMajor: res.ProtoMajor, ProtoMinor: res.ProtoMinor,
		Header: p.headers(res), Body: p, ContentLength: res.ContentLength, Request: req,
	}, nil
}

// request returns the request to the provider, or why there is none. Nothing repeats it once a part
// of its body was read: it has no GetBody.
func (p *passage) request(req *http.Request) (*http.Request, *fault.Fault) {
	t, asked := p.t, p.asked
	sent, ok := below(t.service.base.EscapedPath(), asked.Path)
	if !ok {
		return nil, fault.NotPassed()
	}
	credential, err := t.credentials.get(p.life.ctx, asked.Attempt.APIKey, "")
	if err != nil {
		return nil, callFault(err)
	}
	p.life.watch.Start(watch.Headers(time.Duration(t.ResponseHeaderTimeout)), p.life.expire)
	p.result.Times.Called = time.Now()
	request := t.outgoing(p.life.ctx, asked.Method, req, asked.Header.Clone(), credential)
	setAddress(request, sent, asked.Query)
	if asked.Length != 0 {
		request.Body, request.ContentLength = &upload{asked.Body, &p.life.watch}, asked.Length
	}
	return request, nil
}

// below returns a path below that of a base URL. Clients send the version that a base URL ends with,
// since their own base URL has it; ok is false for a path without it.
func below(base, sent string) (joined string, ok bool) {
	if version := path.Base(base); len(version) > 1 && version[0] == 'v' && '0' <= version[1] && version[1] <= '9' {
		return strings.TrimSuffix(base, "/"+version) + sent, strings.HasPrefix(sent, "/"+version+"/")
	}
	return base + sent, true
}

// headers returns the headers of the answer that the client gets: those with names that are passed
// on, unless they repeat a credential.
func (p *passage) headers(res *http.Response) http.Header {
	h := make(http.Header)
	for _, name := range p.asked.Incoming {
		if v := res.Header[name]; len(v) > 0 && p.result.hide.text(strings.Join(v, ",")) != "" {
			h[name] = v
		}
	}
	return h
}

// refuse ends the call with a fault that says nothing about the provider's connection.
func (p *passage) refuse(req *http.Request, f *fault.Fault) *http.Response {
	p.result.noteError(f)
	p.end()
	return emptyResponse(http.StatusBadGateway, req)
}

// fail ends the call without an answer.
func (p *passage) fail(req *http.Request, err error) (*http.Response, error) {
	var large *http.MaxBytesError
	switch {
	case p.life.client.Err() != nil:
		p.end()
		return nil, p.life.client.Err()
	case errors.As(err, &large):
		return p.refuse(req, fault.BodyTooLarge(large.Limit)), nil
	}
	f := callFault(cmp.Or(context.Cause(p.life.ctx), err))
	p.result.noteFailure(f)
	p.end()
	return nil, &callError{f.Cause}
}

// Read returns the next bytes of the answer. It always ends with io.EOF; the result has the state in
// which the answer ended.
func (p *passage) Read(buf []byte) (int, error) {
	if p.result.State != exchange.Content {
		return 0, io.EOF
	}
	p.life.watch.Resume()
	n, err := p.src.Read(buf)
	p.life.watch.Touch()
	p.life.watch.Hold()
	p.left -= int64(n)
	p.tap.take(buf[:n])
	switch {
	case err == io.EOF, p.left == 0:
		p.tap.note(&p.result, true)
		p.result.Finish(p.result.Usage)
	case err != nil:
		p.tap.note(&p.result, false)
		if p.life.client.Err() == nil && !p.result.Whole() {
			p.result.noteFailure(brokenOff(connection.Unquoted(err), context.Cause(p.life.ctx)))
		}
	}
	if n == 0 && err != nil {
		return 0, io.EOF
	}
	return n, nil
}

// Close ends the call.
func (p *passage) Close() error {
	if p.result.State == exchange.Content { // the client has left
		p.tap.note(&p.result, false)
	}
	p.end()
	return nil
}

func (p *passage) end() {
	p.life.end()
	if p.answer != nil {
		_ = p.answer.Close()
	}
}

// upload is the body of a request that the client still sends. The time of a slow client does not
// count as silence of the provider.
type upload struct {
	io.ReadCloser
	watch *watch.Watch
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (int, error) {
	u.watch.Hold()
	defer u.watch.Touch()
	defer u.watch.Resume()
	return u.ReadCloser.Read(p)
}

// Close does nothing: reverse_proxy may call another address after one that could not be reached.
func (u *upload) Close() error { return nil }
