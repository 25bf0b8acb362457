package http1

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

// Conn is the connection of a request. Close ends the request, and does nothing after the end of
// the answer, when the connection may serve another request. It may be called at any time.
type Conn struct {
	*socket.Conn
	answer *body
}

// Close implements net.Conn.
func (c *Conn) Close() error { return c.answer.Close() }

// body is the body of an answer. Its end frees the connection for the next request.
type body struct {
	reader io.Reader            // nil before the head
	conn   atomic.Pointer[conn] // nil after the end
	ctx    context.Context      // of the request
	last   bool                 // the connection ends with this answer
	pool   *pool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.reader.Read(p)
	if err == nil {
		return n, nil
	}
	complete := errors.Is(err, io.EOF)
	b.end(complete)
	if !complete {
		err = cmp.Or(context.Cause(b.ctx), err)
	}
	return n, err
}

// Close closes the connection, unless the body has been read to its end. It may be called
// while Read runs, and before the head has arrived.
func (b *body) Close() error {
	b.end(false)
	return nil
}

// end keeps the connection for the next request, if the answer is complete, or closes it.
func (b *body) end(complete bool) {
	switch c := b.conn.Swap(nil); {
	case c == nil:
	case complete && !b.last && c.sent.Load():
		b.pool.put(c)
	default:
		_ = c.Close()
	}
}
