package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Dialect is how errors are expressed in the format.
var Dialect = fault.Dialect{Unknown: 500, IsError: hasError}

// hasError reports whether a body has an error, which may be in a list.
func hasError(_ string, body any) bool {
	if list, ok := body.([]any); ok && len(list) > 0 {
		body = list[0]
	}
	object, _ := body.(map[string]any)
	failure, _ := object["error"].(map[string]any)
	return failure != nil
}

// Status returns the HTTP status of an error answer.
func Status(f *fault.Fault) int { return f.Status() }

// statusWords are the words for the kinds of errors.
var statusWords = [...]string{
	fault.Internal:             "INTERNAL",
	fault.Invalid:              "INVALID_ARGUMENT",
	fault.Unauthenticated:      "UNAUTHENTICATED",
	fault.Forbidden:            "PERMISSION_DENIED",
	fault.NotFound:             "NOT_FOUND",
	fault.MethodNotAllowed:     "INVALID_ARGUMENT",
	fault.Conflict:             "ABORTED",
	fault.TooLarge:             "INVALID_ARGUMENT",
	fault.UnsupportedMediaType: "INVALID_ARGUMENT",
	fault.UpgradeRefused:       "INVALID_ARGUMENT",
	fault.RateLimited:          "RESOURCE_EXHAUSTED",
	fault.Exhausted:            "RESOURCE_EXHAUSTED",
	fault.BadGateway:           "UNAVAILABLE",
	fault.CredentialRefused:    "FAILED_PRECONDITION",
	fault.AccountExhausted:     "FAILED_PRECONDITION",
	fault.Overloaded:           "UNAVAILABLE",
	fault.Timeout:              "DEADLINE_EXCEEDED",
}

// AppendError appends an error body. The format has no place for the id of the request.
func AppendError(dst []byte, f *fault.Fault, _ string) []byte {
	dst = strconv.AppendInt(append(dst, `{"error":{"code":`...), int64(Status(f)), 10)
	dst = jsonscan.AppendString(append(dst, `,"message":`...), f.Message)
	return append(append(append(dst, `,"status":"`...), statusWords[f.Kind]...), `"}}`...)
}

// AppendErrorEvent appends the event that ends a stream.
func AppendErrorEvent(dst []byte, f *fault.Fault, requestID string) []byte {
	return append(AppendError(append(dst, "data: "...), f, requestID), "\n\n"...)
}
