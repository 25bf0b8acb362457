// Package sockets serves WebSockets of clients, on which each message is a request, and each event of
// its answer a message.
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
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

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

// Session is the WebSocket of a client, with the one to a provider.
type Session struct {
	Provider *exchange.Socket
	MaxBody  int64 // of a message, in bytes
	// Allowed reports whether the client may still have a socket. It is called from time to time.
	Allowed func() bool
	// Serve serves a request, which has a message in its context.
	Serve func(w http.ResponseWriter, r *http.Request)

	client  *websocket.Conn
	request *http.Request            // that all requests on the socket resemble
	slots   chan struct{}            // taken by the requests that run or wait
	quiesce func()                   // waits until no request runs, and begins no other one
	tails   map[string]chan struct{} // by stream: closed when its last request has ended
}

// The bounds of a socket.
const (
	// maxRequests is the largest number of requests that run or wait. While there are as many, no
	// message is read. The vendor allows as many.
	maxRequests = 16
	// maxAge is the longest time for which a socket is open. The vendor ends it after 60 minutes.
	maxAge = 65 * time.Minute
	// checkEvery is the time between two calls of Allowed.
	checkEvery = 5 * time.Second
)

// own are the headers of the request for a socket that are not those of the requests on it.
var own = []string{"Connection", "Upgrade", "Content-Type", "Content-Encoding", "Content-Length"}

// Open answers the request for a WebSocket with status 101. An error has been answered.
func (s *Session) Open(w http.ResponseWriter, r *http.Request) (err error) {
	if s.client, err = websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}); err != nil {
		return fmt.Errorf("accepting: %w", err)
	}
	s.client.SetReadLimit(s.MaxBody)
	header := r.Header.Clone()
	for name := range header {
		if strings.HasPrefix(name, "Sec-Websocket-") {
			delete(header, name)
		}
	}
	for _, name := range own {
		delete(header, name)
	}
	s.request = r.WithContext(r.Context())
	s.request.Method, s.request.Header = http.MethodPost, header
	s.slots, s.tails = make(chan struct{}, maxRequests), make(map[string]chan struct{})
	s.quiesce = sync.OnceFunc(func() {
		for range maxRequests {
			s.slots <- struct{}{}
		}
	})
	return nil
}

// Run serves the requests on an open socket until it ends, or retire is done: then after the requests
// that run. It returns when both sides are closed, and no request runs.
func (s *Session) Run(retire <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.request.Context()), maxAge)
	defer cancel()
	s.Provider.Listen(func(message []byte) { _ = s.client.Write(ctx, websocket.MessageText, message) })
	go s.await(ctx, cancel, retire)
	closed := s.read(ctx)
	cancel()
	s.quiesce()
	s.Provider.Close(closed)
	closeWith(s.client, closed)
}

// await closes the socket of the client after that of the provider, when nothing more is served, and
// at once when the client may not have it any more.
func (s *Session) await(ctx context.Context, cancel context.CancelFunc, retire <-chan struct{}) {
	defer cancel() // a message may wait for a slot
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-retire:
			s.quiesce()
			closeWith(s.client, exchange.SocketClosed{Code: int(websocket.StatusGoingAway), Reason: "the gateway has another configuration"})
		case <-s.Provider.Done():
			s.quiesce() // each request gets the reason first
			closeWith(s.client, s.Provider.Closed())
		case <-check.C:
			if s.Allowed() {
				continue
			}
			closeWith(s.client, exchange.SocketClosed{Code: int(websocket.StatusPolicyViolation), Reason: "the key is not valid any more"})
		}
		return
	}
}

// closeWith closes a socket with a code, or without one if there is none.
func closeWith(conn *websocket.Conn, with exchange.SocketClosed) {
	if with.Code == 0 {
		_ = conn.CloseNow()
		return
	}
	_ = conn.Close(websocket.StatusCode(with.Code), with.Reason)
}

// read serves messages until one side has ended, and returns how.
func (s *Session) read(ctx context.Context) exchange.SocketClosed {
	for {
		kind, message, err := s.client.Reader(ctx)
		if err == nil && kind != websocket.MessageText {
			return exchange.SocketClosed{Code: int(websocket.StatusUnsupportedData), Reason: "messages are text"}
		}
		if err == nil {
			err = s.take(ctx, message)
		}
		var closed websocket.CloseError
		switch {
		case err == nil:
			continue
		case errors.As(err, &closed):
			return exchange.SocketClosed{Code: int(closed.Code), Reason: closed.Reason}
		case errors.Is(err, websocket.ErrMessageTooBig), errors.Is(err, coding.ErrTooLarge):
			return exchange.SocketClosed{Code: int(websocket.StatusMessageTooBig)}
		}
		return exchange.SocketClosed{}
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
	before, done := s.tails[stream], make(chan struct{})
	s.forget()
	s.tails[stream] = done
	go func() {
		defer func() { <-s.slots }()
		defer close(done)
		defer body.Close()
		if before != nil {
			<-before
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
	w := &writer{ctx: ctx, client: s.client, stream: stream, header: make(http.Header)}
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
