package sockets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
)

// Socket is the WebSocket of a client, with the one to a provider.
type Socket struct {
	Provider *exchange.Socket
	MaxBody  int64         // of a message, in bytes
	Protocol string        // the subprotocol; "" for none
	Lifetime time.Duration // the longest time for which the socket is open; 0 for maxAge
	// Allowed reports whether the client may still have a socket. It is called from time to time.
	Allowed func() bool
	// Retired is closed when what serves the socket is replaced. Succeed then returns the channel of what
	// serves it from then on, nil if nothing does.
	Retired <-chan struct{}
	Succeed func() (retired <-chan struct{})

	client  *websocket.Conn
	request *http.Request // that all requests on the socket resemble
	busy    func() bool   // reports whether the socket waits for the provider
	quiesce func()        // waits until the socket is not busy, and keeps it so
	used    atomic.Int64  // the latest use, in nanoseconds since 1970
}

// The bounds of a socket.
const (
	// maxAge is the usual longest time for which a socket is open. OpenAI ends one after 60 minutes.
	maxAge = 65 * time.Minute
	// maxIdle is the longest time for which a socket is open without a message.
	maxIdle = 30 * time.Minute
	// checkEvery is the time between two checks of an open socket.
	checkEvery = 5 * time.Second
)

// own are the headers of the request for a socket that are not those of the requests on it.
var own = []string{"Connection", "Upgrade", "Content-Type", "Content-Encoding", "Content-Length"}

// open answers the request for a WebSocket with status 101. An error has been answered.
func (s *Socket) open(w http.ResponseWriter, r *http.Request) (err error) {
	if s.client, err = websocket.Accept(slim{w}, r, &websocket.AcceptOptions{InsecureSkipVerify: true, Subprotocols: s.subprotocols()}); err != nil {
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
	s.use()
	return nil
}

// subprotocols returns the subprotocols that clients may choose.
func (s *Socket) subprotocols() []string {
	if s.Protocol == "" {
		return nil
	}
	return []string{s.Protocol}
}

// slim is a ResponseWriter whose connection is taken over with small buffers: most sockets are idle most
// of the time. Longer messages are read and written past the buffers.
type slim struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (w slim) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("taking over the connection: %w", err)
	}
	const size = 1 << 10
	early, _ := buffered.Peek(buffered.Reader.Buffered()) // which are there
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(early)), conn), max(size, len(early)))
	_, _ = r.Peek(len(early)) // so that the buffer has them again
	return conn, bufio.NewReadWriter(r, bufio.NewWriterSize(conn, size)), nil
}

// use notes that a message has come.
func (s *Socket) use() { s.used.Store(time.Now().UnixNano()) }

// run serves an open socket by a function, which returns how one side has ended it. run returns when
// both sides are closed, and the socket is not busy.
func (s *Socket) run(serve func(ctx context.Context) exchange.SocketClosed) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.request.Context()))
	defer cancel()
	var awaited sync.WaitGroup
	awaited.Go(func() { s.await(ctx, cancel) })
	defer awaited.Wait()
	closed := serve(ctx)
	cancel()
	s.quiesce()
	s.Provider.Close(closed)
	closeWith(s.client, closed)
}

// await closes the socket of the client after that of the provider, when nothing more is served, and
// at once at the end of its lifetime and when the client may not have it any more. A context with a
// deadline would break both sides off without a code.
func (s *Socket) await(ctx context.Context, cancel context.CancelFunc) {
	defer cancel() // a message may wait for a slot
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	lifetime := time.NewTimer(cmp.Or(s.Lifetime, maxAge))
	defer lifetime.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Retired:
			if s.Retired = s.Succeed(); s.Retired == nil {
				s.quiesce()
				closeWith(s.client, exchange.SocketClosed{Code: int(websocket.StatusGoingAway), Reason: "the gateway has another configuration"})
				return
			}
		case <-s.Provider.Done():
			s.quiesce() // each request gets the reason first
			closeWith(s.client, s.Provider.Closed())
			return
		case <-lifetime.C:
			closeWith(s.client, exchange.SocketClosed{Code: int(websocket.StatusGoingAway), Reason: "the longest time of the WebSocket is over"})
			return
		case <-check.C:
		}
		if closed := s.check(); closed.Code != 0 {
			closeWith(s.client, closed)
			return
		}
	}
}

// check returns why an open socket has to be closed, with the code 0 if it has not.
func (s *Socket) check() (closed exchange.SocketClosed) {
	switch {
	case !s.Allowed():
		return exchange.SocketClosed{Code: int(websocket.StatusPolicyViolation), Reason: "the key is not valid any more"}
	case !s.busy() && time.Since(time.Unix(0, s.used.Load())) > maxIdle:
		return exchange.SocketClosed{Code: int(websocket.StatusGoingAway), Reason: "no message for 30 minutes"}
	}
	return closed
}

// closeWith closes a socket with a code, or without one if there is none.
func closeWith(conn *websocket.Conn, closed exchange.SocketClosed) {
	if closed.Code == 0 {
		_ = conn.CloseNow()
		return
	}
	_ = conn.Close(websocket.StatusCode(closed.Code), closed.Reason)
}

// errNoText is the end of a socket with a message that is not text.
var errNoText = websocket.CloseError{Code: websocket.StatusUnsupportedData, Reason: "messages are text"}

// closedBy returns how a socket is closed after an error of a read.
func closedBy(err error) exchange.SocketClosed {
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed):
		return exchange.SocketClosed{Code: int(closed.Code), Reason: closed.Reason}
	case errors.Is(err, websocket.ErrMessageTooBig), errors.Is(err, coding.ErrTooLarge):
		return exchange.SocketClosed{Code: int(websocket.StatusMessageTooBig)}
	}
	return exchange.SocketClosed{}
}
