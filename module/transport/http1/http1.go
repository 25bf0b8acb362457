// Package http1 sends the requests of calls to providers without TLS, such as model servers
// in the same network. The goroutine of the caller writes a request and reads its answer; only a
// long request is written by one of its own. net/http has two more goroutines for each
// connection: waking them takes a tenth of the time of a stream and a fifth of that of a short
// answer, and each open stream holds their stacks.
//
// The package sends POST requests with a body in memory over HTTP/1.1, and net/http parses
// their answers. Takes reports whether the package sends a request. All others, and transports
// with TLS, a proxy, or options that the package does not have, are left to net/http.
//
// A connection serves one request at a time. It serves another one only if the answer has
// arrived completely and nothing has arrived behind it. The package repeats no
// request: package transport does, if a kept connection turns out to be stale. The context of a
// request ends it while it connects; afterwards, closing its Conn does, which a trace gets.
package http1

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

// Transport sends requests with the options of a transport of Caddy.
type Transport struct {
	options *reverseproxy.HTTPTransport
	dial    socket.DialFunc
	maxHead int64 // of an answer, in bytes, with informational heads before it
	pool    pool
}

// defaultMaxHead is the limit of net/http for the head of an answer, in bytes.
const defaultMaxHead = 10 << 20

// New returns a transport with the options of a transport of Caddy whose dial is
// socket.Dialing; nil if some of the options are only those of net/http, or the system cannot
// check idle connections.
func New(transport *reverseproxy.HTTPTransport) *Transport {
	o := transport.Transport
	switch {
	case !socket.ReadsWithoutWaiting || !slices.Contains(transport.Versions, "1.1"):
		return nil
	case transport.TLS != nil || o.Protocols != nil || transport.ProxyProtocol != "" || transport.ReadTimeout > 0 || transport.WriteTimeout > 0:
		return nil
	case o.ResponseHeaderTimeout > 0 || o.MaxConnsPerHost > 0 || o.MaxIdleConns > 0 || o.DisableKeepAlives || o.MaxIdleConnsPerHost < 0 || o.IdleConnTimeout < 0:
		return nil
	}
	return &Transport{
		options: transport, dial: o.DialContext,
		maxHead: cmp.Or(o.MaxResponseHeaderBytes, defaultMaxHead),
		pool:    pool{limit: cmp.Or(o.MaxIdleConnsPerHost, http.DefaultMaxIdleConnsPerHost), timeout: o.IdleConnTimeout},
	}
}

// RoundTrip sends a request that Takes has accepted. It closes the body of the request, also
// after an error, and possibly after it has returned. The trace of the request gets a Conn.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, trace := r.Context(), httptrace.ContextClientTrace(r.Context())
	c, err := t.connect(r)
	if err != nil {
		_ = r.Body.Close()
		return nil, err
	}
	b := &body{ctx: ctx, pool: &t.pool}
	b.conn.Store(c)
	if trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: &Conn{c.Conn, b}, Reused: !c.idle.IsZero()})
	}
	if ctx.Err() != nil { // before the trace had what it closes
		_ = b.Close()
	}
	c.send(r)
	res, err := c.receive(r, t.maxHead, trace)
	if err != nil {
		_ = b.Close()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	b.reader, b.last = res.Body, res.Close || res.StatusCode < http.StatusOK
	if res.Body == http.NoBody {
		b.end(true)
	}
	res.Body = b
	return res, nil
}

// connect returns a connection for a request: an idle one, or a new one.
func (t *Transport) connect(r *http.Request) (*conn, error) {
	if err := context.Cause(r.Context()); err != nil {
		return nil, err
	}
	if c := t.pool.take(r.URL.Host); c != nil {
		return c, nil
	}
	address := r.URL.Host
	if r.URL.Port() == "" {
		address = net.JoinHostPort(r.URL.Hostname(), "80")
	}
	dialed, err := t.dial(r.Context(), "tcp", address)
	if err != nil {
		return nil, cmp.Or(context.Cause(r.Context()), err)
	}
	inner, ok := dialed.(*socket.Conn)
	if !ok || inner.Reader == nil {
		_ = dialed.Close()
		return nil, fmt.Errorf("connecting: %T is no socket", dialed)
	}
	return newConn(inner, r.URL.Host, t.options.Transport.ReadBufferSize), nil
}

// CloseIdleConnections closes the connections that are idle now.
func (t *Transport) CloseIdleConnections() { t.pool.clear() }

// Close closes the idle connections now, and all others after their answers.
func (t *Transport) Close() { t.pool.close() }

var _ http.RoundTripper = (*Transport)(nil)
