package sockets

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// deaf is a socket of a provider that takes messages, and ends nothing.
type deaf struct {
	silent
	got chan string
}

func (deaf) Relay(func([]byte, bool))      {}
func (deaf) Closed() exchange.SocketClosed { return exchange.SocketClosed{} }
func (d deaf) Forward(_ context.Context, message []byte, _ bool) error {
	d.got <- string(message)
	return nil
}

// inBubble serves a relay to a client, by the clock of a test.
func inBubble(t *testing.T, serve func(s *Relay), client func(ws *websocket.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		conns := make(chan net.Conn, 1)
		conns <- theirs
		served := make(chan struct{})
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(served)
			s := &Relay{Socket: Socket{MaxBody: 1 << 20, Allowed: func() bool { return true }}}
			if assert.NoError(t, s.Open(w, r)) {
				serve(s)
			}
		})}
		go func() { _ = server.Serve(one{conns}) }()
		ws, _, err := websocket.Dial(t.Context(), "http://gateway/", &websocket.DialOptions{HTTPClient: &http.Client{
			Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil }},
		}})
		if assert.NoError(t, err) {
			client(ws)
		}
		<-served
		close(conns)
	})
}

// A client that opened a socket and sent nothing kept it, although nobody had checked what it asks for.
func TestTheFirstMessageMustComeInTime(t *testing.T) {
	const wait = 10 * time.Second
	inBubble(t, func(s *Relay) {
		assert.Error(t, s.First(wait, 1<<10, func([]byte, bool) { assert.Fail(t, "there is none") }))
	}, func(ws *websocket.Conn) {
		begin := time.Now()
		_, _, err := ws.Read(context.Background())
		var closed websocket.CloseError
		assert.ErrorAs(t, err, &closed)
		assert.Equal(t, websocket.CloseError{Code: websocket.StatusPolicyViolation, Reason: "no first message within 10s"}, closed)
		assert.Equal(t, wait, time.Since(begin))
	})
}

// A provider that was asked to end a conversation, and did not, kept it open without a reservation.
func TestAProviderThatDoesNotHangUpLosesTheSocket(t *testing.T) {
	provider := deaf{got: make(chan string, 1)}
	inBubble(t, func(s *Relay) {
		s.Provider = &exchange.Socket{SocketConn: provider}
		s.End(&End{Last: []byte("sorry"), Hangup: []byte("bye"), Closed: exchange.SocketClosed{Code: Violation, Reason: "refused"}})
	}, func(ws *websocket.Conn) {
		begin := time.Now()
		_, text, err := ws.Read(context.Background())
		assert.NoError(t, err)
		assert.Equal(t, []string{"sorry", "bye"}, []string{string(text), <-provider.got})
		_, _, err = ws.Read(context.Background())
		assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err))
		assert.Equal(t, maxHangup, time.Since(begin))
	})
}
