package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/http1"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

// carry sends a request by the inner transport. Its error is logged, so it must not quote
// the provider's answer: net/http quotes lines of malformed headers, which may contain a
// credential or a prompt.
func (t *Transport) carry(req *http.Request) (*http.Response, error) {
	var carrier http.RoundTripper
	if t.http1 != nil && t.http1.Takes(req) {
		carrier = t.http1
	} else {
		carrier = t.inner
		filterStdLog()
	}
	res, err := outbound.Final(carrier.RoundTrip(req))
	if err != nil {
		return nil, unquoted{err}
	}
	return res, nil
}

// connection is what net/http reports about the connection of a request. The goroutines of
// the connection may write it after the request has failed.
type connection struct {
	trace    httptrace.ClientTrace
	reused   atomic.Bool                   // an earlier request was sent on it
	answered atomic.Bool                   // a byte of the answer has arrived
	reader   atomic.Pointer[socket.Reader] // what the answer is read with; nil if the connection has none, or the answer has ended
	own      atomic.Pointer[http1.Conn]    // closed by close; nil for a request of net/http, which ends with its context
}

// follow returns a context whose requests, one after the other, report their connections.
func (n *connection) follow(ctx context.Context) context.Context {
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

// close ends the request that runs.
func (n *connection) close() {
	if c := n.own.Load(); c != nil {
		_ = c.Close()
	}
}

// wasStale reports whether a request failed with err because its connection was stale: it was used
// before, and ended before any byte of the answer. The provider has most probably not seen the
// request. An error of a single stream of HTTP/2 does not count: the provider has sent it.
func (n *connection) wasStale(err error) bool {
	return n.reused.Load() && !n.answered.Load() && (err.Error() == closedIdle ||
		slices.ContainsFunc(connectionEnds, func(end error) bool { return errors.Is(err, end) }))
}

// closedIdle is the text of an error that net/http does not export.
const closedIdle = "http: server closed idle connection"

// connectionEnds are the errors of requests whose connection has ended.
var connectionEnds = []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}

// unquoted is an error of net/http whose text ends before the first quotation mark. The text
// up to there describes the error.
type unquoted struct{ error }

func (e unquoted) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), `"`)
	return strings.TrimRight(text, " :=")
}

func (e unquoted) Unwrap() error { return e.error }

// carried is the body of an answer. Its errors do not quote it: net/http also quotes malformed
// trailers.
type carried struct {
	io.ReadCloser
	carrier *connection // whose connection may serve another call after the end
}

func (b *carried) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.carrier.reader.Store(nil)
	}
	if err != nil && err != io.EOF {
		err = unquoted{err}
	}
	return n, err
}

// unsolicited is the beginning of the line that net/http writes to the standard logger when
// a provider sends bytes after the end of its answer. The line quotes up to 4 KiB of them.
var unsolicited = []byte("Unsolicited response received on idle HTTP channel")

var filtering sync.Mutex // guards the check for a filter and its installation

// filterStdLog keeps texts of providers out of the standard logger. net/http has no option
// for another logger, and the content of a TLS connection cannot be filtered below
// net/http. The filter is checked before every call, because Caddy redirects the standard
// logger when it loads a configuration, and when it unloads the old one.
func filterStdLog() {
	filtering.Lock()
	defer filtering.Unlock()
	if _, ok := log.Writer().(*stdLogFilter); !ok {
		log.SetOutput(&stdLogFilter{log.Writer()})
	}
}

// stdLogFilter removes the provider's text from the lines that quote it.
type stdLogFilter struct{ next io.Writer }

func (f *stdLogFilter) Write(p []byte) (int, error) {
	i := bytes.Index(p, unsolicited)
	if i < 0 {
		return f.next.Write(p)
	}
	end := i + len(unsolicited)
	_, err := fmt.Fprintf(f.next, "%s (%d bytes left out)\n", p[:end], len(p)-end)
	return len(p), err
}
