package site

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// ErrorAnswer is an error as a client expects it, in every format.
type ErrorAnswer struct {
	Status         int
	Kind, Code     string // error.type and error.code of chat and completions
	MessagesStatus int    // the status for messages clients; 0 for Status
	MessagesKind   string // error.type of messages
	Message        string
	Final          bool // X-Should-Retry is false
}

// Assert checks that a request to the path was answered with this error.
func (want ErrorAnswer) Assert(t *testing.T, path string, answer Reply) {
	t.Helper()
	status, kind, code := want.Status, want.Kind, want.Code
	switch path {
	case MessagesPath:
		status, kind, code = cmp.Or(want.MessagesStatus, status), want.MessagesKind, ""
	case GeminiPath:
		status, kind = want.inGemini()
		code = fmt.Sprint(status)
	}
	assert.Equal(t, status, answer.Status)
	assert.Equal(t, "application/json", answer.Header.Get("Content-Type"))
	assert.Equal(t, want.Final, answer.Header.Get("X-Should-Retry") == "false", "whether another try is of use")
	assert.Equal(t, client.Failure{Type: kind, Message: want.Message, Code: code}, answer.Failure(t))
}

// geminiKinds are the words for errors of the gemini format, by status.
var geminiKinds = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED", 413: "INVALID_ARGUMENT",
	422: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 502: "UNAVAILABLE", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

// inGemini returns the status and its word for clients of the gemini format, which repeat what
// is not answered 400 for minutes, though only the operator of the gateway can mend it.
func (want ErrorAnswer) inGemini() (status int, word string) {
	if want.Code == BadCredential.Code || want.Code == Exhausted.Code {
		return http.StatusBadRequest, "FAILED_PRECONDITION"
	}
	return want.Status, geminiKinds[want.Status]
}

// Event returns the error as an event for clients of the path. id is the id of the request.
func (want ErrorAnswer) Event(path, id string) string {
	if path == MessagesPath {
		return fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":%q,\"message\":%q},\"request_id\":%q}\n\n", want.MessagesKind, want.Message, id)
	}
	if path == GeminiPath {
		status, word := want.inGemini()
		return fmt.Sprintf("data: {\"error\":{\"code\":%d,\"message\":%q,\"status\":%q}}\n\n", status, want.Message, word)
	}
	code := "null"
	if want.Code != "" {
		code = `"` + want.Code + `"`
	}
	return fmt.Sprintf("data: {\"error\":{\"message\":%q,\"type\":%q,\"param\":null,\"code\":%s}}\n\n", want.Message, want.Kind, code)
}

// AssertAfter checks that a stream is these bytes, keep-alives aside, and ends with
// the event by which a client of the path reads this error.
func (want ErrorAnswer) AssertAfter(t *testing.T, path, begin string, whole Reply) {
	t.Helper()
	if path != ResponsesPath {
		assert.Equal(t, begin+want.Event(path, whole.ID()), WithoutKeepAlives(path, whole.Body))
		return
	}
	assert.True(t, strings.HasPrefix(WithoutKeepAlives(path, whole.Body), begin), whole.Body)
	want.AssertEnds(t, path, whole)
}

// AssertEnds checks that a stream ends with the event by which a client of the path
// reads this error.
func (want ErrorAnswer) AssertEnds(t *testing.T, path string, whole Reply, about ...any) {
	t.Helper()
	failure := client.Failure{Type: "response.failed", Code: want.responseCode(), Message: want.Message}
	switch path {
	case GeminiPath: // the event may have details
		status, word := want.inGemini()
		failure.Code, failure.Type = fmt.Sprint(status), word
	case ResponsesPath:
	default:
		assert.True(t, strings.HasSuffix(whole.Body, want.Event(path, whole.ID())), append(about, whole.Body)...)
		return
	}
	assert.Equal(t, &failure, whole.Read(t, path).Failure, append(about, whole.Body)...)
}

// responseCode returns the error.code of a response that failed: clients act on these
// alone.
func (want ErrorAnswer) responseCode() string {
	switch {
	case want.Code == "context_length_exceeded" || want.Code == "insufficient_quota":
		return want.Code
	case want.Status == http.StatusBadRequest || want.Status == http.StatusRequestEntityTooLarge:
		return "invalid_prompt"
	case want.Status == http.StatusTooManyRequests:
		return "rate_limit_exceeded"
	case want.Status == http.StatusServiceUnavailable:
		return "server_is_overloaded"
	}
	return "server_error"
}

// The faults of providers that several suites expect.
var (
	BadGateway = ErrorAnswer{
		Status: 502, Kind: "server_error", MessagesKind: "api_error",
		Code: "upstream_invalid_response", Message: "the upstream returned an unusable answer",
	}
	Unreachable = ErrorAnswer{
		Status: 502, Kind: "server_error", MessagesKind: "api_error",
		Code: "upstream_unreachable", Message: "the upstream could not be reached",
	}
	TimedOut = ErrorAnswer{
		Status: 504, Kind: "server_error", MessagesKind: "timeout_error",
		Code: "upstream_timeout", Message: "the upstream did not answer in time",
	}
	BadCredential = ErrorAnswer{
		Status: 502, Kind: "server_error", MessagesKind: "api_error",
		Code: "upstream_auth", Message: "the upstream did not accept the gateway's credential", Final: true,
	}
	Exhausted = ErrorAnswer{
		Status: 429, Kind: "insufficient_quota", MessagesKind: "rate_limit_error",
		Code: "insufficient_quota", Message: "the gateway's account with the upstream is exhausted", Final: true,
	}
	Truncated = ErrorAnswer{
		Status: 502, Kind: "server_error", MessagesKind: "api_error",
		Code: "upstream_stream_truncated", Message: "the upstream closed the stream before completing the answer",
	}
)

// Unreadable returns the error with the message in place of an error body
// that cannot be relayed.
func Unreadable(status int, want ErrorAnswer) ErrorAnswer {
	want.Message = fmt.Sprintf("the upstream answered with status %d and no usable error body", status)
	return want
}

// VendorError is an error body with members that only its vendor knows.
const VendorError = `{ "type":"error", "error":{"type":"vendor_specific","message":"wording that clients match","extra":[1,2]}, "request_id":"req_vendor" }`

// AssertOurs checks the headers of an answer that the gateway itself writes, and
// that the body is this one, in which R is the id of the request.
func (r Reply) AssertOurs(t assert.TestingT, status int, body string, about ...any) {
	assert.Equal(t, status, r.Status, about...)
	id := r.Header.Get("Request-Id")
	assert.Regexp(t, `^req_[0-9A-Za-z]{24}$`, id, about...)
	assert.Equal(t, []string{id}, r.Header.Values("X-Request-Id"), about...)
	assert.Equal(t, []string{"application/json"}, r.Header.Values("Content-Type"), about...)
	assert.Equal(t, strings.ReplaceAll(body, `"R"`, `"`+id+`"`), r.Body, about...)
}

// InMessages returns an error body of messages, for AssertOurs.
func InMessages(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":"%s","message":"%s"},"request_id":"R"}`, kind, message)
}

// InChoices returns an error body of chat and completions. It takes param and
// code as JSON.
func InChoices(kind, message, param, code string) string {
	return fmt.Sprintf(`{"error":{"message":"%s","type":"%s","param":%s,"code":%s}}`, message, kind, param, code)
}
