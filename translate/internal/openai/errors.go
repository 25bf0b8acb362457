package openai

import (
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// KeepAlive is a comment, which readers of event streams skip.
var KeepAlive = []byte(": keep-alive\n\n")

// Errors writes the answers to failed requests.
var Errors = format.Errors{
	Dialect:     &dialect,
	Status:      (*fault.Fault).Status,
	Append:      appendError,
	AppendEvent: appendErrorEvent,
}

// dialect describes errors in streams: events with a member named error.
var dialect = fault.Dialect{Unknown: 502, IsError: hasError}

func hasError(_ string, body any) bool {
	object, _ := body.(map[string]any)
	return object["error"] != nil
}

// errorTypes lists the values of error.type. Official SDKs choose their exception by
// status and type, so no other value may appear.
var errorTypes = [...]string{
	fault.Internal:             "server_error",
	fault.Invalid:              invalidRequest,
	fault.Unauthenticated:      invalidRequest,
	fault.Forbidden:            invalidRequest,
	fault.NotFound:             invalidRequest,
	fault.MethodNotAllowed:     invalidRequest,
	fault.Conflict:             invalidRequest,
	fault.TooLarge:             invalidRequest,
	fault.UnsupportedMediaType: invalidRequest,
	fault.UpgradeRefused:       invalidRequest,
	fault.RateLimited:          "rate_limit_error",
	fault.Exhausted:            "insufficient_quota",
	fault.BadGateway:           "server_error",
	fault.CredentialRefused:    "server_error",
	fault.AccountExhausted:     "insufficient_quota",
	fault.Overloaded:           "server_error",
	fault.Timeout:              "server_error",
}

const invalidRequest = "invalid_request_error"

// worded returns the fault in words that clients recognize.
func worded(f *fault.Fault) *fault.Fault {
	e := f.Blame.Excess
	switch {
	case e == nil:
		return f
	case e.Asked == 0:
		return f.Reworded(fmt.Sprintf("max_tokens is too large. This model supports at most %d completion tokens.", e.Most), "max_tokens", f.Code)
	}
	message := fmt.Sprintf("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %[1]d.", e.Asked, e.Most)
	return f.Reworded(message, "max_tokens", f.Code)
}

// appendError appends an error body. It has no place for the request id.
func appendError(dst []byte, f *fault.Fault, _ string) []byte { return AppendError(dst, worded(f)) }

// AppendError appends an error body with the words of the fault, whatever these are.
func AppendError(dst []byte, f *fault.Fault) []byte {
	dst = jsonscan.AppendString(append(dst, `{"error":{"message":`...), f.Message)
	dst = append(dst, `,"type":"`...)
	dst = append(dst, errorTypes[f.Kind]...)
	dst = jsonscan.AppendStringOrNull(append(dst, `","param":`...), f.Param)
	dst = jsonscan.AppendStringOrNull(append(dst, `,"code":`...), f.Code)
	return append(dst, "}}"...)
}

// appendErrorEvent appends the event that ends a stream, which no [DONE] follows.
func appendErrorEvent(dst []byte, f *fault.Fault, requestID string) []byte {
	dst = appendError(append(dst, "data: "...), f, requestID)
	return append(dst, "\n\n"...)
}
