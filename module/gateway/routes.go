package gateway

import (
	"net/http"
	"path"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// endpoint is one row of the route table.
type endpoint struct {
	method string
	format translate.Format
	serve  func(*Handler, *sink, *http.Request) *translate.Fault
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

// notOurs refuses paths that look like an API but are none: an empty 200 of
// Caddy's would look like an answer to a client.
var notOurs = endpoint{serve: func(*Handler, *sink, *http.Request) *translate.Fault { return translate.UnknownPath() }}

// route returns the endpoint for a request. ok is false for requests that the
// next handler of the site is to answer.
func route(r *http.Request) (e endpoint, ok bool) {
	p := r.URL.Path
	if !strings.HasPrefix(p, "/v1/") && p != "/v1" {
		// A path that becomes ours once it is cleaned must not be served by
		// the site's other handlers as if it were theirs.
		return notOurs, disguised(p)
	}
	if id, ok := strings.CutPrefix(p, modelsPrefix); ok && id != "" {
		return endpoints[modelsPrefix], true // names may hold anything, encoded slashes included
	}
	if e, ok = endpoints[p]; ok && r.URL.RawPath == "" && p != modelsPrefix {
		return e, true
	}
	return notOurs, true
}

// disguised reports whether a path is one of ours written with doubled slashes
// or dot segments.
func disguised(urlPath string) bool {
	if !strings.Contains(urlPath, "//") && !strings.Contains(urlPath, "/.") {
		return false
	}
	clean := path.Clean(urlPath)
	return strings.HasPrefix(clean, "/v1/") || clean == "/v1"
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
