package sockets

import (
	"context"
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

// newRelay returns a relay to a client that is not served yet.
func newRelay() *Relay {
	return &Relay{Socket: Socket{MaxBody: 1 << 20, Allowed: func() bool { return true }}}
}

// A client that opened a socket and sent nothing kept it, although nobody had checked what it asks for.
func TestTheFirstMessageMustComeInTime(t *testing.T) {
	const wait = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		s := newRelay()
		ws, end := serve(t, s.Open, func() {
			assert.Error(t, s.First(wait, 1<<10, func([]byte, bool) { assert.Fail(t, "there is none") }))
		})
		begin := time.Now()
		_, _, err := ws.Read(context.Background())
		var closed websocket.CloseError
		assert.ErrorAs(t, err, &closed)
		assert.Equal(t, websocket.CloseError{Code: websocket.StatusPolicyViolation, Reason: "no first message within 10s"}, closed)
		assert.Equal(t, wait, time.Since(begin))
		end()
	})
}

// A provider that was asked to end a conversation, and did not, kept it open without a reservation.
func TestAProviderThatDoesNotHangUpLosesTheSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, s := deaf{got: make(chan string, 1)}, newRelay()
		s.Socket.Provider = &exchange.Socket{SocketConn: provider}
		ws, end := serve(t, s.Open, func() {
			s.End(&End{Last: []byte("sorry"), Hangup: []byte("bye"), Closed: exchange.SocketClosed{Code: Violation, Reason: "refused"}})
		})
		begin := time.Now()
		_, text, err := ws.Read(context.Background())
		assert.NoError(t, err)
		assert.Equal(t, []string{"sorry", "bye"}, []string{string(text), <-provider.got})
		_, _, err = ws.Read(context.Background())
		assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err))
		assert.Equal(t, maxHangup, time.Since(begin))
		end()
	})
}
