// Package sockets serves WebSockets of clients: those on which each message is a request, and each event of
// its answer a message, and those whose messages pass to a provider and back.
//
// It promises that the requests of a stream are answered one after the other, and that a socket ends
// with the code with which the other side has closed it. It agrees to no compression, so that the
// bounds of messages are those of memory. It refuses messages that are not text, or too large, with a
// close code.
package sockets

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Check refuses a request for a WebSocket that the library would refuse with a text.
func Check(r *http.Request) *fault.Fault {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(r.Header.Get("Sec-WebSocket-Key")))
	switch {
	case r.Method != http.MethodGet, r.ProtoMajor != 1, !r.ProtoAtLeast(1, 1),
		r.Header.Get("Sec-WebSocket-Version") != "13", len(r.Header["Sec-Websocket-Key"]) != 1, err != nil, len(key) != 16,
		!strings.Contains(strings.ToLower(strings.Join(r.Header["Connection"], ",")), "upgrade"):
		return fault.NotWebSocket()
	}
	return nil
}

// Session is a WebSocket whose messages are requests.
type Session struct {
	Socket
	// Serve serves a request, which has a message in its context.
	Serve func(w http.ResponseWriter, r *http.Request)

	slots chan struct{}            // taken by the requests that run or wait
	tails map[string]chan struct{} // by stream: closed when its last request has ended
}

// maxRequests is the largest number of requests that run or wait. While there are as many, no message
// is read. The vendor allows as many.
const maxRequests = 16

// Open answers the request for a WebSocket with status 101. An error has been answered.
func (s *Session) Open(w http.ResponseWriter, r *http.Request) error {
	s.slots, s.tails = make(chan struct{}, maxRequests), make(map[string]chan struct{})
	s.busy = func() bool { return len(s.slots) > 0 }
	s.quiesce = sync.OnceFunc(func() {
		for range maxRequests {
			s.slots <- struct{}{}
		}
	})
	return s.open(w, r)
}

// Run serves the requests on an open socket until it ends. It returns when both sides are closed, and no
// request runs.
func (s *Session) Run() {
	s.run(func(ctx context.Context) exchange.SocketClosed {
		s.Provider.Listen(func(message []byte) { _ = s.client.Write(ctx, websocket.MessageText, message) })
		return s.read(ctx)
	})
}

// read serves messages until one side has ended, and returns how.
func (s *Session) read(ctx context.Context) exchange.SocketClosed {
	for {
		kind, message, err := s.client.Reader(ctx)
		s.use()
		if err == nil && kind != websocket.MessageText {
			err = errNoText
		}
		if err == nil {
			err = s.take(ctx, message)
		}
		if err != nil {
			return closedBy(err)
		}
	}
}

// take reads a message, and serves it in a goroutine of its own behind those of its stream.
func (s *Session) take(ctx context.Context, message io.Reader) error {
	body := &leased{lease: exchange.NewLease()}
	text, err := coding.ReadAll(body.lease.Buffer(), message, -1, s.MaxBody)
	if err != nil {
		_ = body.Close()
		return err
	}
	body.lease.Keep(text)
	body.Reader.Reset(text)
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		_ = body.Close()
		return ctx.Err()
	}
	stream := jsonscan.TextOf(jsonscan.MemberOf(text, "stream_id"))
	previous, done := s.tails[stream], make(chan struct{})
	s.forget()
	s.tails[stream] = done
	go func() {
		defer func() { s.use(); <-s.slots }()
		defer close(done)
		defer body.Close()
		if previous != nil {
			<-previous
		}
		s.serve(ctx, stream, int64(len(text)), body)
	}()
	return nil
}

// forget forgets the streams whose requests have ended.
func (s *Session) forget() {
	for stream, done := range s.tails {
		select {
		case <-done:
			delete(s.tails, stream)
		default:
		}
	}
}

// serve serves a request.
func (s *Session) serve(ctx context.Context, stream string, length int64, body io.ReadCloser) {
	r := s.request.WithContext(exchange.WithMessage(ctx, &exchange.Message{Socket: s.Provider, Stream: stream}))
	r.Body, r.ContentLength = body, length
	w := &writer{ctx: ctx, client: s.client, closed: s.Provider.Closed, stream: stream, header: make(http.Header)}
	s.Serve(w, r)
	w.finish()
}

// leased is a body in leased memory, which is released when it is read.
type leased struct {
	bytes.Reader
	lease *exchange.Lease
}

// Read implements io.Reader.
func (b *leased) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		_ = b.Close()
	}
	return n, err
}

// Close implements io.Closer.
func (b *leased) Close() error {
	b.Reset(nil)
	b.lease.Release()
	b.lease = nil
	return nil
}
