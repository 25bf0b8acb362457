package gateway

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// endpoint is one row of the route table.
type endpoint struct {
	method string
	format translate.Format
	serve  func(*Handler, *sink.Sink, *http.Request) *translate.Fault
	op     translate.Operation
}

// endpoints is the route table: exact paths. "/v1/models/" stands for all
// paths below it.
var endpoints = map[string]endpoint{
	"/v1/messages":              {http.MethodPost, translate.Messages, (*Handler).serveCall, translate.Generate},
	"/v1/messages/count_tokens": {http.MethodPost, translate.Messages, (*Handler).serveCall, translate.CountTokens},
	"/v1/chat/completions":      {http.MethodPost, translate.Chat, (*Handler).serveCall, translate.Generate},
	"/v1/completions":           {http.MethodPost, translate.Completions, (*Handler).serveCall, translate.Generate},
	"/v1/models":                {http.MethodGet, "", (*Handler).serveModels, translate.Generate},
	"/v1/capabilities":          {http.MethodGet, "", (*Handler).serveCapabilities, translate.Generate},
	modelsPrefix:                {http.MethodGet, "", (*Handler).serveModel, translate.Generate},
}

const modelsPrefix = "/v1/models/"

// route returns the endpoint for a request. ok is false for paths that belong
// to others.
func route(r *http.Request) (e endpoint, ok bool) {
	p := r.URL.Path
	if !aigateway.OwnsPath(p, isOurs) {
		return e, false
	}
	if id, ok := strings.CutPrefix(p, modelsPrefix); ok && id != "" {
		return endpoints[modelsPrefix], true // names may hold anything, encoded slashes included
	}
	if e, ok = endpoints[p]; ok && r.URL.RawPath == "" && p != modelsPrefix {
		return e, true
	}
	return noEndpoint(p), true
}

// isOurs reports whether a path belongs to the route table, whether or not it
// has a row: an answer of the site's other handlers, Caddy's empty 200 above
// all, would look like one of the gateway.
func isOurs(p string) bool { return p == "/v1" || strings.HasPrefix(p, "/v1/") }

// noEndpoint refuses a path, in the family of the endpoint that was probably
// meant.
func noEndpoint(p string) endpoint {
	name := meant(p)
	e := endpoint{serve: func(h *Handler, _ *sink.Sink, _ *http.Request) *translate.Fault { return h.noPath(p, name) }}
	if endpoints[name].format == translate.Messages {
		e.format = translate.Messages
	}
	return e
}

func (h *Handler) noPath(p, meant string) *translate.Fault {
	switch {
	case strings.HasPrefix(p, "/v1/v1/messages"):
		return translate.VersionTwice()
	case meant == loginPath && h.users.accounts == nil:
		return translate.NoAccounts()
	}
	return translate.UnknownPath(meant)
}

const loginPath = "/api/user/login"

// longestFirst are the paths of the route table: some end as shorter ones do.
var longestFirst = slices.SortedFunc(maps.Keys(endpoints), func(a, b string) int { return len(b) - len(a) })

// meant returns the path that a client probably means by another one that ends
// in the same way, written in any case and with or without /v1; "" for none.
func meant(p string) string {
	p = strings.ToLower(path.Clean(p))
	for _, name := range longestFirst {
		if strings.HasSuffix(p, strings.TrimPrefix(name, "/v1")) {
			return name
		}
	}
	if strings.HasSuffix(p, loginPath) {
		return loginPath
	}
	return ""
}

// formatOf is the format in which a request is answered, errors included. The
// models endpoints have no format of their own: a version header, or a query
// that only the messages format knows, asks for its shape.
func formatOf(r *http.Request, e endpoint) translate.Format {
	if e.format != "" {
		return e.format
	}
	if hasVersion(r) || strings.HasPrefix(r.URL.Path, "/v1/messages") || pagedLikeMessages(r) {
		return translate.Messages
	}
	return translate.Chat
}

func pagedLikeMessages(r *http.Request) bool {
	if r.URL.RawQuery == "" || !strings.HasPrefix(r.URL.Path, "/v1/models") {
		return false
	}
	q := r.URL.Query()
	return q.Has("limit") || q.Has("after_id") || q.Has("before_id")
}
