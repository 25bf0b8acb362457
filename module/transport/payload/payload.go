// Package payload is the body of a request to a provider. A payload consists of parts of
// leased memory and edits between them, and copies nothing. It may be sent again while the
// provider has not accepted the request.
package payload

import (
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
)

// Payload is the body of a call. It may be opened several times: net/http repeats a request
// up to six times if the provider has not accepted it, because the provider refused the
// stream, sent GOAWAY, or closed the connection before anything was written. The transport
// repeats it once if a connection that was used before ended before any answer.
type Payload struct {
	parts  [][]byte
	length int64           // of all parts
	lease  *exchange.Lease // of the memory of the parts, held until Close
	sent   atomic.Bool     // a part was read, which happens when there is a connection
}

// New returns a payload of one part. It takes over the caller's hold of the lease.
func New(body []byte, lease *exchange.Lease) *Payload {
	return &Payload{parts: [][]byte{body}, length: int64(len(body)), lease: lease}
}

// Splice returns a payload of a body with edits, which are in the order of the body. It does
// not copy the body, but retains the lease.
func Splice(body []byte, edits []edit.Edit, lease *exchange.Lease) *Payload {
	lease.Retain()
	p, offset := &Payload{parts: make([][]byte, 0, 2*len(edits)+1), lease: lease}, 0
	for _, e := range edits {
		p.add(body[offset:e.Start], e.With)
		offset = e.End
	}
	p.add(body[offset:])
	return p
}

func (p *Payload) add(parts ...[]byte) {
	for _, part := range parts {
		p.parts = append(p.parts, part)
		p.length += int64(len(part))
	}
}

// Share returns a payload with the same bytes for another call.
func (p *Payload) Share() *Payload {
	p.lease.Retain()
	return &Payload{parts: p.parts, length: p.length, lease: p.lease}
}

// Close releases the lease. The payload must not be opened again. Close is necessary
// because net/http keeps the request, and so the payload, until the answer has ended.
func (p *Payload) Close() {
	p.parts = nil
	p.lease.Release()
}

// WriteTo writes the payload, which does not count as sent, from its beginning.
func (p *Payload) WriteTo(w io.Writer) (written int64, err error) {
	for _, part := range p.parts {
		n, err := w.Write(part)
		if written += int64(n); err != nil {
			return written, err
		}
	}
	return written, nil
}

// Open returns a reader of the payload from its beginning. The reader holds the lease until
// it is closed.
func (p *Payload) Open() io.ReadCloser {
	p.lease.Retain()
	return &outgoing{unread: p.parts, lease: p.lease, sent: &p.sent}
}

// Reopen is Open with the signature of http.Request.GetBody.
func (p *Payload) Reopen() (io.ReadCloser, error) { return p.Open(), nil }

// Length returns the length of the payload in bytes.
func (p *Payload) Length() int64 { return p.length }

// Sent reports whether a part of the payload was read. Nothing is read before there is a
// connection.
func (p *Payload) Sent() bool { return p.sent.Load() }

// outgoing is a reader of a payload. The http transport may close it while another
// goroutine reads from it. The lock ensures that no read uses the leased memory after Close
// has returned.
type outgoing struct {
	mu     sync.Mutex
	closed bool
	begun  bool        // unread is a copy, which reading consumes
	unread net.Buffers // at first the parts of the payload
	lease  *exchange.Lease
	sent   *atomic.Bool
}

func (o *outgoing) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	if !o.begun {
		o.begun, o.unread = true, slices.Clone(o.unread)
	}
	o.sent.Store(true)
	return o.unread.Read(p)
}

// WriteBehind writes the payload behind the head of its request, with one call of the system
// if w is a socket. It returns the number of bytes of the payload that were written. It may
// still write after Close, because it holds the lease itself.
func (o *outgoing) WriteBehind(head []byte, w io.Writer) (int64, error) {
	parts, err := o.take(head)
	if err != nil {
		return 0, err
	}
	defer o.lease.Release()
	before := o.sent.Swap(true) // while it is written, too: the call may end before
	n, err := parts.WriteTo(w)
	if n == 0 {
		o.sent.Store(before)
	}
	return max(0, n-int64(len(head))), err
}

// take returns head and the unread parts, and retains the lease. Read then returns nothing
// more.
func (o *outgoing) take(head []byte) (net.Buffers, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, http.ErrBodyReadAfterClose
	}
	o.lease.Retain()
	parts := slices.Concat(net.Buffers{head}, o.unread)
	o.begun, o.unread = true, nil
	return parts, nil
}

func (o *outgoing) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed, o.unread = true, nil
		o.lease.Release()
	}
	return nil
}
