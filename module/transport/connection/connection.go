// Package connection reports on which connection a request was sent, whether that was stale, and with what its
// answer is read.
//
// It promises that neither an error of net/http nor a line of the standard log quotes what a provider has sent. It
// refuses to decide whether a request is sent again.
package connection

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/http1"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

// Connection is what net/http reports about the connection of a request. The goroutines of
// the connection may write it after the request has failed. It is not copied.
type Connection struct {
	trace    httptrace.ClientTrace
	reused   atomic.Bool                   // an earlier request was sent on it
	answered atomic.Bool                   // a byte of the answer has arrived
	reader   atomic.Pointer[socket.Reader] // what the answer is read with; nil if the connection has none, or the answer has ended
	own      atomic.Pointer[http1.Conn]    // closed by Close; nil for a request of net/http, which ends with its context
}

// Follow returns a context whose requests, one after the other, report their connections.
func (n *Connection) Follow(ctx context.Context) context.Context {
	n.trace.GotConn = func(info httptrace.GotConnInfo) {
		n.reused.Store(info.Reused)
		n.reader.Store(nil)
		switch conn := info.Conn.(type) {
		case *http1.Conn:
			n.reader.Store(conn.Reader)
			n.own.Store(conn)
		case *socket.Conn:
			n.reader.Store(conn.Reader)
		case *tls.Conn:
			if inner, ok := conn.NetConn().(*socket.Conn); ok {
				n.reader.Store(inner.Reader)
			}
		}
	}
	n.trace.GotFirstResponseByte = func() { n.answered.Store(true) }
	return httptrace.WithClientTrace(ctx, &n.trace)
}

// Reader returns what the answer is read with; nil if the connection has no reader, or the answer has ended.
func (n *Connection) Reader() *socket.Reader { return n.reader.Load() }

// Body returns the body of an answer that arrives on the connection. Its errors quote nothing of the answer: net/http
// also quotes malformed trailers.
func (n *Connection) Body(body io.ReadCloser) io.ReadCloser { return &answer{body, n} }

// Close ends the request that runs.
func (n *Connection) Close() {
	if c := n.own.Load(); c != nil {
		_ = c.Close()
	}
}

// WasStale reports whether a request failed with err because its connection was stale: it was used
// before, and ended before any byte of the answer. The provider has most probably not seen the
// request. An error of a single stream of HTTP/2 does not count: the provider has sent it.
func (n *Connection) WasStale(err error) bool {
	return n.reused.Load() && !n.answered.Load() && (err.Error() == closedIdle ||
		slices.ContainsFunc(connectionEnds, func(end error) bool { return errors.Is(err, end) }))
}

// closedIdle is the text of an error that net/http does not export.
const closedIdle = "http: server closed idle connection"

// connectionEnds are the errors of requests whose connection has ended.
var connectionEnds = []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}

// answer is the body of an answer.
type answer struct {
	io.ReadCloser
	carrier *Connection // which may serve another call after the end
}

func (b *answer) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.carrier.reader.Store(nil)
	}
	if err != nil && err != io.EOF {
		err = unquoted{err}
	}
	return n, err
}
