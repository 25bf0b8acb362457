package messages

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
)

type failure struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Details any    `json:"details,omitempty"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

func errorBody(r *reply.Refusal, requestID string) any {
	body := failure{Type: "error", RequestID: requestID}
	body.Error.Type, body.Error.Message, body.Error.Details = errorType(r.Status), r.Message, r.Details
	return body
}

var errorTypes = map[int]string{
	401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 409: "conflict_error", 413: "request_too_large",
	429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}

func errorType(status int) string {
	if name, ok := errorTypes[status]; ok {
		return name
	}
	if status < 500 {
		return "invalid_request_error"
	}
	return "api_error"
}

// noThread returns the refusal of a request that continues a conversation by the id of an
// answer. Clients that read its details send the whole conversation instead.
func noThread() *reply.Refusal {
	details := struct {
		ErrorCode   string   `json:"error_code"`
		Unsupported []string `json:"unsupported"`
	}{"thread_unsupported_request", []string{"thread"}}
	return &reply.Refusal{Status: http.StatusBadRequest, Message: "thread: is not supported", Details: details}
}
