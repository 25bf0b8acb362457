// Package gemini lets the demo provider speak the gemini format.
package gemini

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// Format is the gemini format.
var Format = &wire.Format{
	Family: family,
	Name:   "gemini",
	Endpoints: []wire.Endpoint{
		{Path: models + ":generateContent", Methods: post, Generate: generate},
		{Path: models + ":streamGenerateContent", Methods: post, Generate: generate},
		{Path: models + ":countTokens", Methods: post, Compute: countTokens},
	},
}

// models is the beginning of the paths: a version, and the name of a model.
const models = "/v1*/models/*"

var post = []string{http.MethodPost}

var family = &wire.Family{
	KeyHeader:       "X-Goog-Api-Key",
	RequestIDHeader: "X-Request-Id",
	Overloaded:      reply.Refusal{Status: http.StatusServiceUnavailable, Message: "The model is overloaded."},
	TooLong: reply.Refusal{
		Status: http.StatusBadRequest, Message: "The input token count (213462) exceeds the maximum number of tokens allowed (131072).",
	},
	Error: errorBody,
}

// generate reads a request. The name of the model and the kind of the answer are in the path.
func generate(b *wire.Body) (*reply.Request, wire.Writer) {
	r := read(b)
	segment := path.Base(b.Path)
	method := strings.LastIndexByte(segment, ':')
	r.Model, _ = url.PathUnescape(segment[:method]) // it is part of a valid path
	r.Stream = segment[method:] == ":streamGenerateContent"
	return r.Request, &writer{ErrorBody: wire.ErrorBody{Family: family}, hidden: r.hidden}
}

// countTokens returns the input tokens of a request, which may be in a member.
func countTokens(b *wire.Body, _ reply.Seed) any {
	request := b
	if inner, there := b.Sub("generateContentRequest"); there {
		request = b.Of(inner)
	}
	r := read(request)
	b.Refuse(request.Refused())
	return struct {
		TotalTokens int `json:"totalTokens"`
	}{r.InputTokens()}
}

type failure struct {
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	} `json:"error"`
}

func errorBody(r *reply.Refusal, _ string) any {
	var body failure
	body.Error.Code, body.Error.Message, body.Error.Status = r.Status, r.Message, statuses[r.Status]
	if body.Error.Status == "" {
		body.Error.Status = "UNKNOWN"
	}
	return body
}

var statuses = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
	429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}
