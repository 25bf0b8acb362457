package exchange

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Socket is a WebSocket of one client to a provider. Each request of the client is a message on it.
type Socket struct {
	Provider string // name of the provider in the configuration
	APIKey   int    // index in the API keys of the provider
	SocketConn

	mu      sync.Mutex // guards the fields below
	used    bool       // a request was checked
	checked []string   // names of the guards that have checked each request, and have passed each answer
}

// SocketConn is the connection of a Socket. Its methods may be called concurrently.
type SocketConn interface {
	// Listen begins to read from the provider. other gets the messages that belong to no answer, one
	// after the other, and must not keep them. It or Relay must be called once, before Send.
	Listen(other func(message []byte))

	// Relay is Listen for a socket without answers: all gets every message, and whether it is binary.
	// Send must not be called.
	Relay(all func(message []byte, binary bool))

	// Forward sends a message that has no answer of its own.
	Forward(ctx context.Context, message []byte, binary bool) error

	// Send sends a request as a message of a stream, "" for the unnamed one, and returns its answer
	// as a provider gives it by HTTP: a stream of events, or an error status with its body. A
	// stream has one request at a time. An answer whose body is closed before its end closes the
	// socket, because nothing else ends a response.
	Send(ctx context.Context, stream string, request io.Reader) (*http.Response, error)

	// Began reports whether an answer on the socket has the id of a response. The provider keeps
	// such responses for the socket alone.
	Began(response []byte) bool

	// Done is closed when the socket has ended, with the cause that Closed returns.
	Done() <-chan struct{}
	Closed() SocketClosed

	// Close sends a close code with a reason, and ends the socket. It does not wait for the
	// provider. Further calls have no effect.
	Close(closed SocketClosed)
}

// SocketClosed is how a WebSocket was closed. Its code is 0 for a connection that broke off.
type SocketClosed struct {
	Code   int
	Reason string
}

func (c SocketClosed) Error() string {
	if c.Code == 0 {
		return "the WebSocket broke off"
	}
	return fmt.Sprintf("the WebSocket was closed with %d", c.Code)
}

// Message is the message of a client on a WebSocket that is a request. Its exchange has InMessage.
type Message struct {
	*Socket
	Stream string // on which the answer comes; "" for the unnamed one

	// Continues is the path of a field that names a response of the socket, "" if there is none.
	Continues string
}

// Forget removes the references to responses of the socket, which isOwn recognizes, and sets Continues to the path of
// the first one.
func (m *Message) Forget(reach *translate.Beyond, isOwn func(*translate.ObjectID) bool) {
	for i, id := range slices.Backward(reach.ObjectIDs()) {
		if isOwn(&id) {
			m.Continues = id.Path
			reach.Forget(i)
		}
	}
}

// NoteGuards notes the names of the guards that check the request, before it is sent.
func (m *Message) NoteGuards(names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.used {
		m.used, m.checked = true, slices.Clone(names)
	}
	m.checked = slices.DeleteFunc(m.checked, func(name string) bool { return !slices.Contains(names, name) })
}

// NoteCut notes that a guard has not passed the answer, which the provider keeps nevertheless. m may be nil.
func (m *Message) NoteCut(guard string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checked = slices.DeleteFunc(m.checked, func(name string) bool { return name == guard })
}

// Unchecked returns the path of a field that names a response of the socket, "" if there is none, or if a guard has
// checked all that the socket has. m may be nil.
func (m *Message) Unchecked(guard string) string {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.checked, guard) {
		return ""
	}
	return m.Continues
}

type messageKey struct{}

// WithMessage returns a context with m.
func WithMessage(ctx context.Context, m *Message) context.Context {
	return context.WithValue(ctx, messageKey{}, m)
}

// MessageFrom returns the message in ctx, nil if there is none.
func MessageFrom(ctx context.Context) *Message {
	m, _ := ctx.Value(messageKey{}).(*Message)
	return m
}

// Has reports whether an id in the body of a request is that of a response of the socket. m may be nil.
func (m *Message) Has(request *Request, id *translate.ObjectID) bool {
	return m != nil && m.Began(request.IDText(id))
}
