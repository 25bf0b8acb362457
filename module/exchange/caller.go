package exchange

import (
	"context"
	"net/http"
)

// Caller calls a provider.
type Caller interface {
	// Call calls the provider for an attempt. The context of r has its conduit, which gets
	// the result. Call changes r, and writes the answer to a receiver. Its error explains a
	// call that has not reached the transport.
	Call(to Receiver, r *http.Request) error

	// Query asks the provider for its models. ctx has the query, which gets the result.
	// Nothing of a client is sent.
	Query(ctx context.Context)
}

// Receiver gets the answer of a provider from a Caller. For attempts, it is the reply.
type Receiver interface {
	http.ResponseWriter
	FlushError() error
}
