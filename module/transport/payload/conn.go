package payload

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

// Conn is a connection to a provider that writes the head and the payload of a request with
// one call of the system. net/http writes them one after the other, and copies the payload
// into memory that it allocates for each request.
type Conn struct {
	net.Conn
	Reader *socket.Reader // of the same connection; nil if it cannot have one
	joins  atomic.Bool    // the next write may be a head that a payload follows; requests share a connection of HTTP/2
	head   []byte         // a head that was not written yet; memory of net/http, which is valid until ReadFrom
}

// DialFunc opens a connection, as http.Transport.DialContext does.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// Joining returns a dial whose connections are *Conn.
func Joining(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &Conn{Conn: conn, Reader: socket.NewReader(conn)}, nil
	}
}

// Read reads from the connection.
func (c *Conn) Read(p []byte) (int, error) {
	if c.Reader == nil {
		return c.Conn.Read(p)
	}
	return c.Reader.Read(p)
}

// Join announces the request of a payload. It is called when net/http has chosen the
// connection for the request, and before it writes.
func (c *Conn) Join() { c.joins.Store(true) }

// Write writes p, or keeps it for ReadFrom if it is the whole head of the announced request.
// It may be something else: a part of a long head, or a frame of HTTP/2.
func (c *Conn) Write(p []byte) (int, error) {
	if c.joins.Swap(false) && bytes.HasPrefix(p, []byte("POST ")) && bytes.HasSuffix(p, []byte("\r\n\r\n")) {
		c.head = p
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// ReadFrom writes the body of a request.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	head := c.head
	c.head = nil
	if limited, ok := r.(*io.LimitedReader); ok { // net/http limits a body to its length
		if o, ok := limited.R.(*outgoing); ok {
			return o.writeBehind(head, c.Conn)
		}
	}
	if _, err := c.Conn.Write(head); err != nil {
		return 0, err
	}
	return io.Copy(c.Conn, r)
}
