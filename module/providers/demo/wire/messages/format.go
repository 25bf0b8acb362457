// Package messages lets the demo provider speak the messages format.
package messages

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// Format is the messages format.
var Format = &wire.Format{
	Family: family,
	Name:   "messages",
	Endpoints: []wire.Endpoint{
		{Path: "/v1/messages", Methods: []string{http.MethodPost}, Generate: generate},
		{Path: "/v1/messages/count_tokens", Methods: []string{http.MethodPost}, Compute: countTokens},
	},
}

var family = &wire.Family{
	KeyHeader:       "X-Api-Key",
	VersionHeader:   "Anthropic-Version",
	RequestIDHeader: "Request-Id",
	DottedPaths:     true,
	Overloaded:      reply.Refusal{Status: 529, Message: "Overloaded"},
	TooLong: reply.Refusal{
		Status: http.StatusBadRequest, Message: "prompt is too long: 213462 tokens > 200000 maximum",
	},
	Error:  errorBody,
	Model:  model,
	Models: models,
}

func generate(b *wire.Body) (*reply.Request, wire.Writer) {
	r := read(b, false)
	return r.Request, &writer{ErrorBody: wire.ErrorBody{Family: family, Name: "error"}, hidden: r.hidden}
}

// countTokens returns the input tokens of a request. max_tokens is optional there.
func countTokens(b *wire.Body, _ reply.Seed) any {
	return struct {
		InputTokens int `json:"input_tokens"`
	}{read(b, true).InputTokens()}
}
