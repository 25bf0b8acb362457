package exchange

import (
	"context"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Caller calls a provider.
type Caller interface {
	// Call calls the provider for an attempt, whose conduit gets the result, and writes the
	// answer to a receiver. The call ends with ctx. client is the request of the client, of
	// which nothing is sent. The error of Call explains a call that has not reached the
	// transport.
	Call(ctx context.Context, c *Conduit, receiver Receiver, client *http.Request) error

	// Pass makes the request of a passage, and writes the answer to a receiver. It ends with ctx.
	Pass(ctx context.Context, p *Passage, receiver Receiver) error

	// Query asks the provider for its models. ctx has the query, which gets the result.
	// Nothing of a client is sent.
	Query(ctx context.Context)
}

// Dialer is an optional interface of a Caller that can open WebSockets.
type Dialer interface {
	// Dial opens a WebSocket to the endpoint of an attempt. Only the dial ends with ctx. The fault is
	// that of a call.
	Dial(ctx context.Context, a *Attempt) (*Socket, *fault.Fault)
}

// Pool is an optional interface of a Caller that chooses among several addresses.
type Pool interface {
	// Addresses returns the addresses that the configuration names, with their states.
	Addresses() []Address
}

// Address is an address of a provider, and its state.
type Address struct {
	Address   string `json:"address"`
	Available bool   `json:"available"` // not found ill by health checks, and below its bound of running requests
	Running   int    `json:"running"`   // requests
	Failures  int    `json:"failures"`  // that passive health checks remember
}

// Receiver gets the answer of a provider from a Caller. For attempts, it is the reply.
type Receiver interface {
	http.ResponseWriter
	FlushError() error

	// TakeHeader makes h what Header returns. It is called before WriteHeader.
	TakeHeader(h http.Header)
}
