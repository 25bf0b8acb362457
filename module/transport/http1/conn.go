package http1

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

// conn is a connection. It is read by one goroutine at a time.
type conn struct {
	*socket.Conn
	host   string // of the URLs of its requests
	reader *bufio.Reader
	left   int64       // bytes that may still be read
	sent   atomic.Bool // the request is written completely
	idle   time.Time   // the end of the last answer; zero before
}

func newConn(inner *socket.Conn, host string, buffer int) *conn {
	c := &conn{Conn: inner, host: host}
	if buffer <= 0 {
		buffer = 4 << 10
	}
	c.reader = bufio.NewReaderSize(c, buffer)
	return c
}

// longRequest is the length of a body, in bytes, up to which the send buffer of a socket
// probably takes it at once.
const longRequest = 64 << 10

// send sends a request. A long one is written while the answer is awaited: a provider may
// answer before it has read all of it, and may then not read the rest.
func (c *conn) send(r *http.Request) {
	c.sent.Store(false)
	if r.ContentLength > longRequest {
		go c.write(r)
		return
	}
	c.write(r)
}

// write writes a request. If the provider has closed the connection, its answer may have
// arrived nevertheless: what has happened is found by reading.
func (c *conn) write(r *http.Request) {
	defer r.Body.Close()
	head := heads.Get().(*bytes.Buffer)
	defer heads.Put(head)
	head.Reset()
	writeHead(head, r)
	_, err := r.Body.(Body).WriteBehind(head.Bytes(), c.Conn.Conn)
	switch {
	case err == nil:
		c.sent.Store(true)
	case !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE):
		_ = c.Close()
	}
}

// receive waits for the head of the answer, without informational ones before it.
func (c *conn) receive(r *http.Request, maxHead int64, trace *httptrace.ClientTrace) (*http.Response, error) {
	c.left = maxHead
	if _, err := c.reader.Peek(1); err != nil {
		return nil, err
	}
	if trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	for {
		res, err := http.ReadResponse(c.reader, r)
		if err != nil {
			return nil, err
		}
		if res.StatusCode/100 != 1 || res.StatusCode == http.StatusSwitchingProtocols {
			c.left = math.MaxInt64
			return res, nil
		}
	}
}

var errLongHead = errors.New("the head of the answer is too long")

// Read reads from the connection.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLongHead
	}
	n, err := c.Reader.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// renew reports whether an idle connection can serve another request.
func (c *conn) renew() bool {
	return c.reader.Buffered() == 0 && c.Reader.Renew()
}
