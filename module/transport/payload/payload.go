// Package payload is the body of a request to a provider: parts of leased memory, with
// edits between them, which may be sent again as long as the provider has not accepted
// the request. Nothing is copied.
package payload

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
)

// Payload is the body that a call sends. It may be opened more than once: net/http
// repeats a request, up to six times, that the provider never accepted, because it
// refused the stream, was about to close the connection (GOAWAY), or had closed it
// before anything was written.
type Payload struct {
	parts  [][]byte
	length int64           // of all parts
	lease  *exchange.Lease // of their memory, held until Close
	sent   atomic.Bool     // it was read: that is done once there is a connection
}

// New returns a payload of one part. It takes over the caller's hold of the lease.
func New(body []byte, lease *exchange.Lease) *Payload {
	return &Payload{parts: [][]byte{body}, length: int64(len(body)), lease: lease}
}

// Splice returns a payload of a body with edits, in the order of the body. What lies
// between them is not copied: the lease of the body is retained.
func Splice(body []byte, edits []edit.Edit, lease *exchange.Lease) *Payload {
	lease.Retain()
	p, at := &Payload{lease: lease}, 0
	for _, e := range edits {
		p.add(body[at:e.Start], e.With)
		at = e.End
	}
	p.add(body[at:])
	return p
}

func (p *Payload) add(parts ...[]byte) {
	for _, part := range parts {
		p.parts = append(p.parts, part)
		p.length += int64(len(part))
	}
}

// Share returns the same payload for another call.
func (p *Payload) Share() *Payload {
	p.lease.Retain()
	return &Payload{parts: p.parts, length: p.length, lease: p.lease}
}

// Close gives back what the payload holds. It must not be opened again. net/http keeps
// the request, and with it the payload, until the answer has ended.
func (p *Payload) Close() {
	p.parts = nil
	p.lease.Release()
}

// Open returns a reader of the payload from its beginning, which keeps the lease
// until it is closed.
func (p *Payload) Open() io.ReadCloser {
	p.lease.Retain()
	if len(p.parts) == 1 {
		return &outgoing{src: bytes.NewReader(p.parts[0]), lease: p.lease, sent: &p.sent}
	}
	parts := net.Buffers(slices.Clone(p.parts)) // reading consumes them
	return &outgoing{src: &parts, lease: p.lease, sent: &p.sent}
}

// Reopen is Open, as the GetBody of a request.
func (p *Payload) Reopen() (io.ReadCloser, error) { return p.Open(), nil }

// Length returns the length of the payload in bytes.
func (p *Payload) Length() int64 { return p.length }

// Sent reports whether a part of the payload was read, which is done once there is a
// connection.
func (p *Payload) Sent() bool { return p.sent.Load() }

// outgoing is a reader of a payload. The http transport may close it while another
// goroutine still reads from it: the lock keeps reads from touching the leased memory
// once Close has returned.
type outgoing struct {
	mu    sync.Mutex
	src   io.Reader // nil once closed
	lease *exchange.Lease
	sent  *atomic.Bool
}

func (o *outgoing) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.src == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	o.sent.Store(true)
	return o.src.Read(p)
}

func (o *outgoing) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.src != nil {
		o.src = nil
		o.lease.Release()
	}
	return nil
}
