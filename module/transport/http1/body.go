package http1

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// body is the body of an answer. Its end frees the connection for the next request.
type body struct {
	of   io.Reader
	conn atomic.Pointer[conn] // nil after the end
	ctx  context.Context      // of the request
	stop func() bool          // separates the connection from ctx
	last bool                 // the connection ends with this answer
	pool *pool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.of.Read(p)
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
// while Read runs.
func (b *body) Close() error {
	b.end(false)
	return nil
}

// end keeps the connection for the next request, if the answer is complete, or closes it.
func (b *body) end(complete bool) {
	c := b.conn.Swap(nil)
	if c == nil {
		return
	}
	if b.stop() && complete && !b.last && c.sent.Load() {
		b.pool.put(c)
		return
	}
	_ = c.Close()
}
