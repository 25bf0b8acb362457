package gateway

import (
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// modelEndpoint returns the endpoint for a path that belongs to one format since it has the
// name of a model in it, or a version of the format. ok is false for other paths.
func modelEndpoint(p, method string) (e endpoint, ok bool) {
	for _, f := range formats.All() {
		for _, version := range f.Client.Versions {
			below, ok := strings.CutPrefix(p, version+"/")
			if !ok {
				continue
			}
			if e, ok := namedEndpoint(f, below, method); ok {
				return e, true
			}
			if name, ok := strings.CutPrefix(below, "models/"); ok && method == http.MethodPost && strings.Contains(name, ":") {
				return unservedMethod(f), true
			}
			if version != "/v1" {
				return listEndpoint(f, below)
			}
		}
	}
	return e, false
}

// namedEndpoint returns the endpoint of a format whose path has the name of a model in it. below
// is the path behind the version. The method of the endpoint is behind the last colon.
func namedEndpoint(f *format.Descriptor, below, method string) (e endpoint, ok bool) {
	for i := range f.Client.Endpoints {
		named := &f.Client.Endpoints[i]
		before, behind, _ := named.Around()
		before = strings.TrimPrefix(before, f.Client.Versions[0]+"/")
		name, hasBefore := strings.CutPrefix(below, before)
		name, hasBehind := strings.CutSuffix(name, behind)
		if !hasBefore || !hasBehind || method == http.MethodGet || method == http.MethodHead {
			continue
		}
		e = endpoint{
			method: named.Method, format: f, serve: (*Handler).serveCall, op: named.Operation,
			model: name, stream: named.Stream, parameter: named.Parameter,
		}
		if !isModelName(name) {
			e.serve = func(*Handler, *reply.Reply, *http.Request) *fault.Fault { return fault.ModelInPath() }
		}
		return e, true
	}
	return e, false
}

// unservedMethod returns an endpoint that refuses a method of models that a format has and the
// gateway has not. The answer is not 405, since no other method of HTTP would be accepted.
func unservedMethod(f *format.Descriptor) endpoint {
	return endpoint{format: f, list: true, serve: func(_ *Handler, _ *reply.Reply, r *http.Request) *fault.Fault {
		return fault.NotServed(aigateway.PathPrefix(r), "this method of models")
	}}
}

// listEndpoint returns the endpoint of the list of models, or of one, for a path behind a version
// that only one format has.
func listEndpoint(f *format.Descriptor, below string) (e endpoint, ok bool) {
	e = endpoint{method: http.MethodGet, format: f, list: true, serve: (*Handler).serveModels}
	if below == "models" {
		return e, true
	}
	e.serve = (*Handler).serveModel
	e.model, ok = strings.CutPrefix(below, "models/")
	return e, ok && e.model != ""
}

// isModelName reports whether a name in a path is that of a model for all who read the path: no
// segment is empty or leads elsewhere, and nothing in the name ends the path.
func isModelName(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return len(name) <= longestModel && !strings.ContainsAny(name, `?#\`) && !strings.ContainsFunc(name, unicode.IsControl)
}

// isBelow reports whether a path is a version or below it.
func isBelow(p, version string) bool {
	rest, ok := strings.CutPrefix(p, version)
	return ok && (rest == "" || rest[0] == '/')
}

// versionOf returns the format that has the version at the beginning of a path, nil for none.
func versionOf(p string) *format.Descriptor {
	return formatWhere(func(f *format.Descriptor) bool {
		return slices.ContainsFunc(f.Client.Versions, func(version string) bool { return isBelow(p, version) })
	})
}

// meantModel returns the path with the name of a model that a client probably means by p, and
// its format, nil for none. p is in lower case.
func meantModel(p string) (name string, f *format.Descriptor) {
	for _, f := range formats.All() {
		for i := range f.Client.Endpoints {
			e := &f.Client.Endpoints[i]
			if _, behind, named := e.Around(); named && strings.HasSuffix(p, strings.ToLower(behind)) {
				return e.Path, f
			}
		}
	}
	return "", nil
}

// checkQuery refuses a request without the parameter that its endpoint needs.
func (e *endpoint) checkQuery(r *http.Request) *fault.Fault {
	if e.parameter == "" {
		return nil
	}
	name, value, _ := strings.Cut(e.parameter, "=")
	if values := r.URL.Query()[name]; len(values) != 1 || values[0] != value {
		return fault.InvalidField(name, "must be '"+value+"' in the query")
	}
	return nil
}
