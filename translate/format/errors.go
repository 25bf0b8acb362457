package format

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"

// Errors is how a format expresses that a request failed.
type Errors struct {
	*fault.Dialect
	// Status returns the HTTP status of the answer to a client.
	Status func(*fault.Fault) int
	// Append appends the body of an error answer. The request id is in it if the
	// format has a place for that.
	Append func(dst []byte, f *fault.Fault, requestID string) []byte
	// AppendEvent appends the event that ends a stream, see also Continuation. Nothing
	// may follow it, since a stream that failed must not look finished.
	AppendEvent func(dst []byte, f *fault.Fault, requestID string) []byte
	// Aborts is true if clients take a clean end of a stream for the end of the answer,
	// even behind an error event. The connection of a stream that failed is closed then.
	Aborts bool
}
