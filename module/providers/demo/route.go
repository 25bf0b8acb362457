package demo

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// route is the endpoint of a request.
type route struct {
	format *format.Descriptor
	method string
	model  string // that the path names
	stream bool   // the path asks for a stream
	op     translate.Operation
	serve  func(*exchange)
}

// routeOf finds the endpoint of a request.
func routeOf(r *http.Request) route {
	for _, d := range formats.All() {
		for i := range d.Client.Endpoints {
			e := &d.Client.Endpoints[i]
			if model, ok := match(d, e, r.URL.EscapedPath()); ok && int(e.Operation) < len(serves) && serves[e.Operation] != nil {
				return route{d, e.Method, model, e.Stream, e.Operation, serves[e.Operation]}
			}
		}
	}
	d := formatOf(r)
	rest, found := strings.CutPrefix(withoutVersion(d, r.URL.Path), "/models")
	switch {
	case found && rest == "":
		return route{d, http.MethodGet, "", false, translate.Manage, (*exchange).listModels}
	case found && rest[0] == '/':
		return route{d, http.MethodGet, rest[1:], false, translate.Manage, (*exchange).showModel}
	}
	return route{d, r.Method, "", false, translate.Manage, (*exchange).refusePath}
}

// serves are the functions that answer, by operation.
var serves = [...]func(*exchange){
	translate.Generate: (*exchange).generate, translate.CountTokens: (*exchange).countTokens, translate.EmbedMany: (*exchange).embed, translate.Embed: (*exchange).embed,
}

// withoutVersion returns a path without its first segment, which must be a version of a format, else
// "".
func withoutVersion(d *format.Descriptor, path string) string {
	versions := d.Client.Versions
	if versions == nil {
		versions = []string{"/v1"}
	}
	for _, version := range versions {
		if rest, ok := strings.CutPrefix(path, version); ok && strings.HasPrefix(rest, "/") {
			return rest
		}
	}
	return ""
}

// match reports whether a path, with its escapes, is that of an endpoint of a format, and returns the
// name of the model in it.
func match(d *format.Descriptor, e *format.Endpoint, path string) (model string, ok bool) {
	prefix, suffix, named := e.Around()
	prefix, path = withoutVersion(d, prefix), withoutVersion(d, path)
	if !named {
		return "", path == prefix
	}
	rest, ok := strings.CutPrefix(path, prefix)
	if rest, is := strings.CutSuffix(rest, suffix); ok && is {
		model, _ = url.PathUnescape(rest) // it is part of a valid path
	}
	return model, model != ""
}

// formatOf returns the format whose clients send a header of the request, else the default.
func formatOf(r *http.Request) *format.Descriptor {
	for _, d := range formats.All() {
		sent := func(header string) bool { return r.Header.Get(header) != "" }
		if d.Version.Header != "" && sent(d.Version.Header) || slices.ContainsFunc(d.Client.Marks, sent) {
			return d
		}
	}
	return formats.Unspecified()
}

func (x *exchange) refusePath() {
	x.refuse(&fault.Fault{Kind: fault.NotFound, Message: "no such endpoint", Code: "not_found"})
}

func (x *exchange) listModels() {
	var cards []modelcard.Card
	for _, name := range x.engine.names() {
		cards = append(cards, card(name))
	}
	x.writeJSON(http.StatusOK, x.route.format.Models.AppendList(nil, cards, false))
}

func (x *exchange) showModel() {
	name := x.route.model
	if !slices.Contains(x.engine.names(), name) {
		x.refuse(fault.UnknownModel(name))
		return
	}
	x.writeJSON(http.StatusOK, x.route.format.Models.Append(nil, card(name)))
}

func card(model string) modelcard.Card { return modelcard.Card{ID: model, OwnedBy: "demo"} }
