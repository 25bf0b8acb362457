package sockets

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// silent is a socket of a provider that sends nothing.
type silent struct{ exchange.SocketConn }

func (silent) Listen(func([]byte))         {}
func (silent) Done() <-chan struct{}       { return nil }
func (silent) Close(exchange.SocketClosed) {}

// closing is a silent one that notes how it is closed.
type closing struct {
	silent
	with chan exchange.SocketClosed
}

func (c closing) Close(with exchange.SocketClosed) { c.with <- with }

// one is a listener with a single connection.
type one struct{ conns chan net.Conn }

func (l one) Accept() (net.Conn, error) {
	if conn, ok := <-l.conns; ok {
		return conn, nil
	}
	return nil, io.EOF
}
func (l one) Close() error   { return nil }
func (l one) Addr() net.Addr { return &net.TCPAddr{} }

// A client that had forgotten its socket kept a connection to the provider until the largest age of
// sockets.
func TestASocketWithoutMessagesIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		s := &Session{
			Socket: Socket{Provider: &exchange.Socket{SocketConn: silent{}}, MaxBody: 1 << 20, Allowed: func() bool { return true }},
			Serve:  func(http.ResponseWriter, *http.Request) { <-answers },
		}
		ws, end := serve(t, s.Open, s.Run)
		assert.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte("{}")))
		go func() {
			time.Sleep(32 * time.Minute) // of the clock of the test: an answer may take longer than a socket may be idle
			close(answers)
		}()
		begin := time.Now()
		_, _, err := ws.Read(t.Context())
		assert.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), err)
		assert.Greater(t, time.Since(begin), 62*time.Minute)
		end()
	})
}

// At the end of its lifetime both sides of a socket broke off without a code, as by a fault of the network.
func TestASocketEndsItsLifetimeWithACode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := closing{with: make(chan exchange.SocketClosed, 1)}
		s := &Session{Socket: Socket{
			Provider: &exchange.Socket{SocketConn: provider}, MaxBody: 1 << 20, Lifetime: 10 * time.Minute, Allowed: func() bool { return true },
		}}
		ws, end := serve(t, s.Open, s.Run)
		_, _, err := ws.Read(t.Context())
		closed := exchange.SocketClosed{Code: int(websocket.StatusGoingAway), Reason: "the longest time of the WebSocket is over"}
		assert.Equal(t, closed, closedBy(err))
		assert.Equal(t, closed, <-provider.with)
		end()
	})
}

// serve returns the client's side of a socket that is opened and served. end waits until it is served no more.
func serve(t *testing.T, open func(http.ResponseWriter, *http.Request) error, run func()) (ws *websocket.Conn, end func()) {
	ours, theirs := net.Pipe()
	conns := make(chan net.Conn, 1)
	conns <- theirs
	served := make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if assert.NoError(t, open(w, r)) {
			run()
		}
		close(served)
	})}
	go func() { _ = server.Serve(one{conns}) }()
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil }}}
	ws, _, err := websocket.Dial(t.Context(), "http://gateway/", &websocket.DialOptions{HTTPClient: client})
	require.NoError(t, err)
	return ws, func() { <-served; close(conns) }
}
