package socket

import (
	"context"
	"net"
)

// Conn is a connection to a provider, which is read by a Reader.
type Conn struct {
	net.Conn
	Reader *Reader // nil if the connection cannot have one
}

// DialFunc opens a connection, as http.Transport.DialContext does.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// Dialing returns a dial whose connections are *Conn.
func Dialing(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &Conn{Conn: conn, Reader: NewReader(conn)}, nil
	}
}

// Read reads from the connection.
func (c *Conn) Read(p []byte) (int, error) {
	if c.Reader == nil {
		return c.Conn.Read(p)
	}
	return c.Reader.Read(p)
}
