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
	Socket Socket
	// FromClient returns what the provider gets of a message of the client, nil for nothing.
	FromClient func(message []byte) []byte
	// FromProvider returns what the client gets of a message of the provider. Behind it, the client loses
	// the socket, unless end is nil.
	FromProvider func(message []byte) (passed []byte, end *End)
	// Rested returns a channel that is closed when the provider generates nothing.
	Rested func() <-chan struct{}

	ended context.Context // ends with the socket
	end   context.CancelFunc
}

// End is how the gateway ends a conversation.
type End struct {
	Last   []byte // a message; nil for none
	Closed exchange.SocketClosed
	// Hangup is a message by which the provider ends the conversation itself, so that both sides have its
	// last words; nil without one.
	Hangup []byte
}

// maxHangup is the longest time for which a provider may end a conversation itself.
const maxHangup = 5 * time.Second

// The close codes of refusals: of what the client may not have, and of a message that is not valid.
const (
	Violation = int(websocket.StatusPolicyViolation)
	Invalid   = int(websocket.StatusInvalidFramePayloadData)
)

// maxRest is the longest time for which a socket that nothing serves any more waits for the provider.
const maxRest = 5 * time.Minute

// Open answers the request for a WebSocket with status 101 and one of the subprotocols that the client
// offers, if it is among those of the gateway. An error has been answered.
func (s *Relay) Open(w http.ResponseWriter, r *http.Request) error {
	s.ended, s.end = context.WithCancel(context.Background())
	s.Socket.busy = func() bool {
		select {
		case <-s.Rested():
			return false
		default:
			return true
		}
	}
	s.Socket.quiesce = func() {
		select {
		case <-s.Rested():
		case <-s.Socket.Provider.Done():
		case <-s.ended.Done():
		case <-time.After(maxRest):
		}
	}
	return s.Socket.open(w, r)
}

// Run passes messages on until one side ends.
func (s *Relay) Run() {
	s.Socket.run(func(ctx context.Context) exchange.SocketClosed {
		defer s.end()
		s.Socket.Provider.Relay(func(message []byte, binary bool) {
			s.Socket.use()
			passed, end := s.FromProvider(message)
			_ = s.Socket.client.Write(ctx, kindOf(binary), passed)
			if end != nil {
				s.End(end)
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
	_ = s.Socket.client.Write(s.ended, websocket.MessageText, message)
}

// End ends the socket of the client. It does not wait for the client.
func (s *Relay) End(end *End) {
	if end.Last != nil {
		s.Reply(end.Last)
	}
	if end.Hangup == nil || s.Socket.Provider == nil {
		go closeWith(s.Socket.client, end.Closed)
		return
	}
	time.AfterFunc(maxHangup, func() { closeWith(s.Socket.client, end.Closed) }) // without effect on a closed one
	go func() { _ = s.Socket.Provider.Forward(s.ended, end.Hangup, false) }()
}

// kindOf returns the kind of a message.
func kindOf(binary bool) websocket.MessageType {
	if binary {
		return websocket.MessageBinary
	}
	return websocket.MessageText
}

// First gives the first message of the client to a function, before there is a socket of the provider. It
// closes the socket of a client that sends none of at most a number of bytes within a time.
func (s *Relay) First(wait time.Duration, most int64, take func(message []byte, binary bool)) error {
	late := time.AfterFunc(wait, func() {
		closeWith(s.Socket.client, exchange.SocketClosed{Code: Violation, Reason: "no first message within " + wait.String()})
	})
	defer late.Stop()
	s.Socket.client.SetReadLimit(min(most, s.Socket.MaxBody))
	defer s.Socket.client.SetReadLimit(s.Socket.MaxBody)
	err := s.read(s.ended, func(message []byte, binary bool) error {
		late.Stop()
		take(message, binary)
		return nil
	})
	if err != nil {
		closeWith(s.Socket.client, closedBy(err))
	}
	return err
}

// next passes the next message of the client on.
func (s *Relay) next(ctx context.Context) error {
	return s.read(ctx, func(message []byte, binary bool) error {
		if passed := s.FromClient(message); passed != nil {
			return s.Socket.Provider.Forward(ctx, passed, binary)
		}
		return nil
	})
}

// read gives the next message of the client to a function.
func (s *Relay) read(ctx context.Context, take func(message []byte, binary bool) error) error {
	kind, message, err := s.Socket.client.Reader(ctx)
	if err != nil {
		return err
	}
	s.Socket.use()
	lease := exchange.NewLease()
	defer lease.Release()
	text, err := coding.ReadAll(lease.Buffer(), message, -1, s.Socket.MaxBody)
	if err != nil {
		return err
	}
	lease.Keep(text)
	return take(text, kind == websocket.MessageBinary)
}
