package demo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// refusal is an error answer before it has the shape of a format.
type refusal struct {
	status     int
	message    string
	param      string // path of the field at fault, chat and completions only
	code       string // chat and completions only
	retryAfter string
	details    any // messages only: what a client's program reads
}

func invalid(path, sentence, code string) *refusal {
	return &refusal{status: http.StatusBadRequest, message: path + ": " + sentence, param: path, code: code}
}

func unknownModel(name string) *refusal {
	return &refusal{
		status: http.StatusNotFound, param: "model", code: "model_not_found",
		message: fmt.Sprintf("model: %q is not known", name),
	}
}

// contextOverflow refuses a prompt in the words of the format's vendor: clients
// know it by them.
func contextOverflow(format translate.Format) *refusal {
	r := &refusal{status: http.StatusBadRequest, message: "prompt is too long: 213462 tokens > 200000 maximum"}
	if format != translate.Messages {
		r.code = "context_length_exceeded"
		r.message = "This model's maximum context length is 128000 tokens. However, your messages resulted in 213462 tokens. Please reduce the length of the messages."
	}
	return r
}

// noThread refuses a conversation that is continued by the id of its last
// answer. Clients that read the details send it whole instead.
func noThread() *refusal {
	details := struct {
		ErrorCode   string   `json:"error_code"`
		Unsupported []string `json:"unsupported"`
	}{"thread_unsupported_request", []string{"thread"}}
	return &refusal{status: http.StatusBadRequest, message: "thread: is not supported", details: details}
}

// messagesTypes are the error types of the messages format.
var messagesTypes = map[int]string{
	401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 409: "conflict_error", 413: "request_too_large",
	429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}

func messagesType(status int) string {
	if name, ok := messagesTypes[status]; ok {
		return name
	}
	if status < 500 {
		return "invalid_request_error"
	}
	return "api_error"
}

func chatType(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status < 500:
		return "invalid_request_error"
	default:
		return "server_error"
	}
}

type messagesError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Details any    `json:"details,omitempty"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

type chatError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	} `json:"error"`
}

// errorBody is the refusal in the shape of the exchange's format.
func (x *exchange) errorBody(f *refusal) any {
	if x.route.format == translate.Messages {
		body := messagesError{Type: "error", RequestID: x.requestID()}
		body.Error.Type, body.Error.Message, body.Error.Details = messagesType(f.status), f.message, f.details
		return body
	}
	var body chatError
	body.Error.Message, body.Error.Type = f.message, chatType(f.status)
	body.Error.Param, body.Error.Code = optional(f.param), optional(f.code)
	return body
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (x *exchange) refuse(f *refusal) {
	if f.retryAfter != "" {
		x.w.Header().Set("Retry-After", f.retryAfter)
	}
	x.writeJSON(f.status, x.errorBody(f))
}

// requestID is the same for the same body, like everything here.
func (x *exchange) requestID() string { return "req_" + hex.EncodeToString(x.hash[16:28]) }

// setRequestID announces the request id in the header of the format.
func (x *exchange) setRequestID() {
	if x.route.format == translate.Messages {
		x.w.Header().Set("Request-Id", x.requestID())
		return
	}
	x.w.Header().Set("X-Request-Id", x.requestID())
}

func (x *exchange) writeJSON(status int, v any) {
	x.setRequestID()
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(encode(v)) // a client that left needs no answer
}

// encode writes JSON without HTML escapes. What it is given always encodes.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("encoding an answer: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
