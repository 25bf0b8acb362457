package demo

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// route is one endpoint: whose error bodies it speaks and what serves it.
type route struct {
	format translate.Format
	method string
	serve  func(*exchange)
}

// routeOf finds the endpoint of a request.
func routeOf(r *http.Request) route {
	switch path := r.URL.Path; {
	case path == "/v1/messages":
		return route{translate.Messages, http.MethodPost, (*exchange).generate}
	case path == "/v1/messages/count_tokens":
		return route{translate.Messages, http.MethodPost, (*exchange).countTokens}
	case path == "/v1/chat/completions":
		return route{translate.Chat, http.MethodPost, (*exchange).generate}
	case path == "/v1/completions":
		return route{translate.Completions, http.MethodPost, (*exchange).generate}
	case path == "/v1/models":
		return route{modelsFormat(r), http.MethodGet, (*exchange).listModels}
	case strings.HasPrefix(path, "/v1/models/"):
		return route{modelsFormat(r), http.MethodGet, (*exchange).showModel}
	default:
		return route{modelsFormat(r), r.Method, (*exchange).notFound}
	}
}

// modelsFormat tells the two model lists apart: callers of the messages format
// always name its version.
func modelsFormat(r *http.Request) translate.Format {
	if r.Header.Get("Anthropic-Version") != "" {
		return translate.Messages
	}
	return translate.Chat
}

func (x *exchange) notFound() {
	x.refuse(&refusal{status: http.StatusNotFound, message: "no such endpoint", code: "not_found"})
}

// generate answers the three endpoints that make text.
func (x *exchange) generate() {
	q, refused := parse(x)
	if refused == nil && !x.engine.knows(q.model) {
		refused = unknownModel(q.model)
	}
	if refused != nil {
		x.refuse(refused)
		return
	}
	if q.faults.answer(x) {
		return
	}
	a := x.compose(q)
	if q.stream && !q.faults.json {
		x.streamAnswer(a)
		return
	}
	x.writeAnswer(a)
}

// countTokens answers what a messages request would be charged for.
func (x *exchange) countTokens() {
	q, refused := parseMessages(newSource(x), x.body, true)
	if refused != nil {
		x.refuse(refused)
		return
	}
	x.writeJSON(http.StatusOK, struct {
		InputTokens int `json:"input_tokens"`
	}{q.input})
}
