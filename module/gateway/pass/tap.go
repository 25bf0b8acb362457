package pass

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Tap is an endpoint of a format. The gateway reads the requests and answers of such endpoints while
// it passes them on; all others are passed on unread.
type Tap struct {
	Format   *format.Descriptor
	Endpoint *format.Endpoint
	Model    string // in the path; "" for none
}

// TapOf returns the tap of a request for a provider that speaks formats. The path is that below the
// prefix, with escapes. An endpoint is found by its method, its whole path behind the version, and the
// parameter that it needs, and by nothing else of the address: other gateways have read answers in
// the wrong format after a guess by the host or by a part of the path. ok is false for other requests.
func TapOf(formats []*format.Descriptor, method, path, query string) (tap Tap, ok bool) {
	rest := belowVersion(path)
	for _, f := range formats {
		for i := range f.Client.Endpoints {
			e := &f.Client.Endpoints[i]
			if model, isIt := modelIn(belowVersion(e.Path), rest); isIt && e.Method == method && hasParameter(query, e.Parameter) {
				return Tap{f, e, model}, true
			}
		}
	}
	return tap, false
}

// modelIn returns the model in a path that matches that of an endpoint.
func modelIn(endpoint, path string) (model string, ok bool) {
	prefix, suffix, named := strings.Cut(endpoint, format.Placeholder)
	if !named {
		return "", path == endpoint
	}
	model, hasBefore := strings.CutPrefix(path, prefix)
	model, hasBehind := strings.CutSuffix(model, suffix)
	model, err := url.PathUnescape(model)
	return model, hasBefore && hasBehind && model != "" && err == nil
}

// belowVersion returns a path without the version that it may begin with.
func belowVersion(path string) string {
	if first, rest, ok := strings.Cut(path[1:], "/"); ok && isVersion(first) {
		return "/" + rest
	}
	return path
}

// hasParameter reports whether a query has a parameter, "name=value", with no other value; true if none is needed.
func hasParameter(query, parameter string) bool {
	name, value, needed := strings.Cut(parameter, "=")
	if !needed {
		return true
	}
	values, err := url.ParseQuery(query)
	return err == nil && slices.Equal(values[name], []string{value})
}
