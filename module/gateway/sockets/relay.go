package sockets

import (
	"context"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
)

// Relay is a WebSocket whose messages pass to a provider and back.
type Relay struct {
	Socket
	// FromClient returns what the provider gets of a message of the client, nil for nothing.
	FromClient func(message []byte) []byte
	// FromProvider is called with each message of the provider before the client has it. The client gets last
	// behind it, unless it is nil, and then loses the socket.
	FromProvider func(message []byte) (last []byte)
	// Rested returns a channel that is closed when the provider generates nothing.
	Rested func() <-chan struct{}

	ended context.Context // ends with the socket
	end   context.CancelFunc
}

// maxRest is the longest time for which a socket that nothing serves any more waits for the provider.
const maxRest = 5 * time.Minute

// Open answers the request for a WebSocket with status 101 and one of the subprotocols that the client
// offers, if it is among those of the gateway. An error has been answered.
func (s *Relay) Open(w http.ResponseWriter, r *http.Request) error {
	s.ended, s.end = context.WithCancel(context.Background())
	s.busy = func() bool {
		select {
		case <-s.Rested():
			return false
		default:
			return true
		}
	}
	s.quiesce = func() {
		select {
		case <-s.Rested():
		case <-s.Provider.Done():
		case <-s.ended.Done():
		case <-time.After(maxRest):
		}
	}
	return s.open(w, r)
}

// Run passes messages on until one side ends.
func (s *Relay) Run() {
	s.run(func(ctx context.Context) exchange.SocketClosed {
		defer s.end()
		s.Provider.Relay(func(message []byte) {
			s.use()
			last := s.FromProvider(message)
			_ = s.client.Write(ctx, websocket.MessageText, message)
			if last != nil {
				s.Reply(last)
				go closeWith(s.client, exchange.SocketClosed{Code: int(websocket.StatusPolicyViolation), Reason: "refused"})
			}
		})
		for {
			if err := s.next(ctx); err != nil {
				return closedBy(err)
			}
		}
	})
}

// Reply sends a message of the gateway itself to the client.
func (s *Relay) Reply(message []byte) {
	_ = s.client.Write(s.ended, websocket.MessageText, message)
}

// next passes the next message of the client on.
func (s *Relay) next(ctx context.Context) error {
	kind, message, err := s.client.Reader(ctx)
	if err != nil {
		return err
	}
	s.use()
	if kind != websocket.MessageText {
		return errNoText
	}
	lease := exchange.NewLease()
	defer lease.Release()
	text, err := coding.ReadAll(lease.Buffer(), message, -1, s.MaxBody)
	if err != nil {
		return err
	}
	lease.Keep(text)
	if passed := s.FromClient(text); passed != nil {
		return s.Provider.Forward(ctx, passed)
	}
	return nil
}
