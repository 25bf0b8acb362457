package answer

import (
	"fmt"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// KeepAlive is an event without a meaning, which clients skip.
var KeepAlive = []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n")

// Dialect is how streams express errors: by the name of the event, and by a type that
// names the kind of error.
var Dialect = fault.Dialect{
	Unknown:       500,
	IsError:       func(name string, _ any) bool { return name == "error" },
	KnowsOverflow: knowsOverflow,
}

// statusOverloaded is the status by which clients recognize an overloaded provider.
const statusOverloaded = 529

// Status returns the HTTP status of an error answer: that of the fault, but 529 for an
// overloaded provider.
func Status(f *fault.Fault) int {
	if f.Kind == fault.Overloaded {
		return statusOverloaded
	}
	return f.Status()
}

// errorTypes lists the values of error.type. Official SDKs choose their exception by
// status and type, so no other value may appear.
var errorTypes = [...]string{
	fault.Internal:             "api_error",
	fault.Invalid:              "invalid_request_error",
	fault.Unauthenticated:      "authentication_error",
	fault.Forbidden:            "permission_error",
	fault.NotFound:             "not_found_error",
	fault.MethodNotAllowed:     "invalid_request_error",
	fault.Conflict:             "conflict_error",
	fault.TooLarge:             "request_too_large",
	fault.UnsupportedMediaType: "invalid_request_error",
	fault.UpgradeRefused:       "invalid_request_error",
	fault.RateLimited:          "rate_limit_error",
	fault.Exhausted:            "rate_limit_error", // billing_error is about the account at the vendor
	fault.BadGateway:           "api_error",
	fault.CredentialRefused:    "api_error",
	fault.AccountExhausted:     "rate_limit_error",
	fault.Overloaded:           "overloaded_error",
	fault.Timeout:              "timeout_error",
}

// Clients recognize these texts. After promptTooLong, a prompt longer than the context,
// they shorten the conversation; after the others they ask for fewer tokens.
const (
	promptTooLong = "prompt is too long"
	exceedLimit   = "exceed context limit"
	exceedMost    = "which is the maximum allowed number of output tokens"
)

// knowsOverflow reports whether clients recognize by a message that a prompt is too long, or
// that an answer would be.
func knowsOverflow(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, promptTooLong) || strings.Contains(message, exceedLimit) || strings.Contains(message, exceedMost)
}

// messageOf returns the message for the client.
func messageOf(f *fault.Fault) string {
	switch {
	case knowsOverflow(f.Message):
	case f.Blame.Excess != nil:
		return excessMessage(f.Blame.Excess)
	case f.Code == fault.CodeOverflow:
		return promptTooLong + ": " + f.Message
	}
	return f.Message
}

// excessMessage words an excess as the vendor of the format does. Clients compute from the
// numbers for how many tokens they ask again.
func excessMessage(e *fault.Excess) string {
	switch {
	case e.Context > 0:
		return fmt.Sprintf("input length and `max_tokens` "+exceedLimit+": %d + %d > %d, decrease input length or `max_tokens` and try again", e.Input, e.Asked, e.Context)
	case e.Asked > 0:
		return fmt.Sprintf("max_tokens: %d > %d, "+exceedMost, e.Asked, e.Most)
	}
	return fmt.Sprintf("max_tokens: more than %d, "+exceedMost, e.Most)
}

// AppendError appends an error body.
func AppendError(dst []byte, f *fault.Fault, requestID string) []byte {
	dst = append(dst, `{"type":"error","error":{"type":"`...)
	dst = append(dst, errorTypes[f.Kind]...)
	dst = jsonscan.AppendString(append(dst, `","message":`...), messageOf(f))
	if f.Details != nil {
		dst = append(append(dst, `,"details":`...), f.Details...)
	}
	dst = append(dst, '}')
	if requestID != "" {
		dst = jsonscan.AppendString(append(dst, `,"request_id":`...), requestID)
	}
	return append(dst, '}')
}

// AppendErrorEvent appends the event that ends a stream, which no message_stop
// follows.
func AppendErrorEvent(dst []byte, f *fault.Fault, requestID string) []byte {
	dst = append(dst, "event: error\ndata: "...)
	dst = AppendError(dst, f, requestID)
	return append(dst, "\n\n"...)
}
