package transport

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

// payload is the body that a call sends. It may be opened more than once: net/http
// repeats a request, up to six times, that the provider never accepted, because it
// refused the stream, was about to close the connection (GOAWAY), or had closed it
// before anything was written.
type payload struct {
	parts  [][]byte
	length int64           // of all parts
	lease  *exchange.Lease // of their memory, held until close
	sent   atomic.Bool     // it was read: that is done once there is a connection
}

// splicedPayload returns a body with edits, in the order of the body. What lies
// between them is not copied: the lease of the body is retained.
func splicedPayload(body []byte, edits []edit.Edit, lease *exchange.Lease) *payload {
	lease.Retain()
	p, at := &payload{lease: lease}, 0
	for _, e := range edits {
		p.add(body[at:e.Start], e.With)
		at = e.End
	}
	p.add(body[at:])
	return p
}

func (p *payload) add(parts ...[]byte) {
	for _, part := range parts {
		p.parts = append(p.parts, part)
		p.length += int64(len(part))
	}
}

// share returns the same payload for another call.
func (p *payload) share() *payload {
	p.lease.Retain()
	return &payload{parts: p.parts, length: p.length, lease: p.lease}
}

// close gives back what the payload holds. It must not be opened again. net/http keeps
// the request, and with it the payload, until the answer has ended.
func (p *payload) close() {
	p.parts = nil
	p.lease.Release()
}

// open returns a reader of the payload from its beginning, which keeps the lease
// until it is closed.
func (p *payload) open() io.ReadCloser {
	p.lease.Retain()
	if len(p.parts) == 1 {
		return &outgoing{src: bytes.NewReader(p.parts[0]), lease: p.lease, sent: &p.sent}
	}
	parts := net.Buffers(slices.Clone(p.parts)) // reading consumes them
	return &outgoing{src: &parts, lease: p.lease, sent: &p.sent}
}

// reopen is open, as the GetBody of a request.
func (p *payload) reopen() (io.ReadCloser, error) { return p.open(), nil }

// claimsIdempotency reports whether a request has a header that lets net/http repeat it
// even if the provider may have begun to work on it. A configuration can set one; a
// client cannot.
func claimsIdempotency(h http.Header) bool {
	return h["Idempotency-Key"] != nil || h["X-Idempotency-Key"] != nil
}

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
