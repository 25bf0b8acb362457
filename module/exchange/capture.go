package exchange

import (
	"io"
	"net/http"
)

// Capture keeps both sides of the wire of an exchange, for the client that has asked for it. The
// answer to the client is captured by its writer.
type Capture interface {
	// Request adds the body of the client's request, after its decoding.
	Request(body []byte)

	// Call adds a request to a provider with its body. hide is called when the answer is read: it
	// returns the body without what clients must not read. The returned function adds the status
	// and the headers of the answer, and returns its body, which adds what is read from it.
	Call(provider, model, format string, r *http.Request, body io.WriterTo, hide func(status int, body []byte) []byte) func(*http.Response) io.ReadCloser

	// End adds what else is known of the exchange at its end.
	End(summary map[string]any)
}
