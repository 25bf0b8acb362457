package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"syscall"
)

// connection is what net/http reports about the connection of a request. The goroutines of
// the connection may write it after the request has failed.
type connection struct {
	reused   atomic.Bool // an earlier request was sent on it
	answered atomic.Bool // a byte of the answer has arrived
}

// follow returns a context whose request reports its connection.
func (n *connection) follow(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(info httptrace.GotConnInfo) { n.reused.Store(info.Reused) },
		GotFirstResponseByte: func() { n.answered.Store(true) },
	})
}

// wasStale reports whether a request failed with err because its connection, which was used
// before, ended before any byte of the answer. The provider has most probably not seen the
// request. An error of a single stream of HTTP/2 does not count: the provider has sent it.
func (n *connection) wasStale(err error) bool {
	return n.reused.Load() && !n.answered.Load() && (err.Error() == closedIdle ||
		slices.ContainsFunc(connectionEnds, func(end error) bool { return errors.Is(err, end) }))
}

// closedIdle is the text of an error that net/http does not export.
const closedIdle = "http: server closed idle connection"

// connectionEnds are the errors of requests whose connection has ended.
var connectionEnds = []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}
