// Package openai has the parts that the formats of the OpenAI API share: errors, lists of
// models, sampling parameters, usage, and the chunks of several choices.
package openai

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// Family describes these formats.
var Family = &wire.Family{
	RequestIDHeader: "X-Request-Id",
	Overloaded: reply.Refusal{
		Status: http.StatusServiceUnavailable, Message: "the server is overloaded", Code: "server_is_overloaded",
	},
	TooLong: reply.Refusal{
		Status: http.StatusBadRequest, Code: "context_length_exceeded",
		Message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 213462 tokens. Please reduce the length of the messages.",
	},
	Error:  errorBody,
	Model:  model,
	Models: models,
}
