// Package responses lets the demo provider speak the responses format like a provider that
// stores no responses: it refuses requests that refer to an earlier response, and its
// answers have store=false.
package responses

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// Format is the responses format.
var Format = &wire.Format{
	Family: openai.Family,
	Name:   "responses",
	Endpoints: []wire.Endpoint{
		{Path: "/v1/responses", Methods: post, Generate: generate},
		{Path: "/v1/responses/input_tokens", Methods: post, Compute: countTokens},
		{Path: "/v1/responses/compact", Methods: post, Compute: compact},
		{Path: "/v1/responses/*", Methods: []string{http.MethodGet, http.MethodDelete}, Refuse: notKept},
		{Path: "/v1/responses/*/cancel", Methods: post, Refuse: notKept},
		{Path: "/v1/responses/*/input_items", Methods: []string{http.MethodGet}, Refuse: notKept},
	},
}

var post = []string{http.MethodPost}

var notKept = &reply.Refusal{
	Status: http.StatusNotFound, Code: "not_found", Message: "no such response: this provider keeps none",
}

func generate(b *wire.Body) (*reply.Request, wire.Writer) {
	r := read(b)
	return r.Request, &r.writer
}

// countTokens returns the input tokens of a request.
func countTokens(b *wire.Body, _ reply.Seed) any {
	return struct {
		Object      string `json:"object"`
		InputTokens int    `json:"input_tokens"`
	}{"response.input_tokens", read(b).InputTokens()}
}

// compact returns a conversation as one item, with which the next request can begin.
func compact(b *wire.Body, seed reply.Seed) any {
	a := &reply.Answer{Request: read(b).Request, Seed: seed}
	a.Usage.Input = a.InputTokens()
	return struct {
		ID        string `json:"id"`
		Object    string `json:"object"`
		CreatedAt int64  `json:"created_at"`
		Output    []any  `json:"output"`
		Usage     *usage `json:"usage"`
	}{
		"resp_" + a.ID(), "response.compaction", a.Created,
		[]any{compactionItem{"cmp_" + a.ID(), "compaction", a.Sign("")}}, newUsage(a),
	}
}
