package routes

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// endpoint is a path that the gateway serves.
type endpoint struct {
	method    string // GET includes HEAD
	parameter string // that the query must have, "name=value"; "" for none
	Route            // of the requests that the endpoint takes
}

const (
	modelsPath   = "/v1/models"
	modelsPrefix = modelsPath + "/"

	// CachePath is the path of the cached answers of a key.
	CachePath = "/v1/cache"
)

// LongestModel is the greatest length of the name of a model in a request, in bytes.
const LongestModel = 256

// endpoints is the route table, by exact path. Only the row of "/v1/models/" covers all
// paths below it.
var endpoints = func() map[string]endpoint {
	table := map[string]endpoint{
		modelsPath:         {method: http.MethodGet, Route: Route{Kind: Models}},
		"/v1/capabilities": {method: http.MethodGet, Route: Route{Kind: Capabilities}},
		modelsPrefix:       {method: http.MethodGet, Route: Route{Kind: Model}},
		CachePath:          {method: http.MethodDelete, Route: Route{Kind: Cache}},
	}
	for _, f := range formats.All() {
		for i := range f.Client.Endpoints {
			e := &f.Client.Endpoints[i]
			if _, _, named := e.Around(); !named {
				table[e.Path] = callOf(f, e)
			}
		}
	}
	return table
}()

// billing is the endpoint of all paths with the usage of a key.
var billing = endpoint{method: http.MethodGet, Route: Route{Kind: Billing}}

// callOf returns the endpoint for an endpoint of a format.
func callOf(f *format.Descriptor, e *format.Endpoint) endpoint {
	return endpoint{e.Method, e.Parameter, Route{Kind: Call, Format: f, Operation: e.Operation, Stream: e.Stream}}
}

// route returns the route of a request for the endpoint: that of the endpoint, or one with a fault
// for a request that the endpoint does not take. A request that a format lists as refused gets its
// reason, and not that its method is wrong.
func (e *endpoint) route(r *http.Request) Route {
	found := e.Route
	if r.Method != e.method && !(e.method == http.MethodGet && r.Method == http.MethodHead) {
		if refused, ok := refusal(r, true); ok {
			return refused
		}
		found.Fault, found.Keyless, found.Allow = fault.WrongMethod(e.method), true, e.method
		if e.method == http.MethodGet {
			found.Allow = "GET, HEAD"
		}
	}
	if name, value, needed := strings.Cut(e.parameter, "="); needed && !found.Keyless {
		if values := r.URL.Query()[name]; len(values) != 1 || values[0] != value {
			found.Fault = fault.InvalidField(name, "must be '"+value+"' in the query")
		}
	}
	return found
}

// endpointOf returns the endpoint for a request. ok is false if its path has none.
func endpointOf(r *http.Request, site *backends.Set) (e endpoint, ok bool) {
	p := r.URL.Path
	if site.Billing != nil && r.URL.RawPath == "" && site.Billing.Serves(p) {
		return billing, true
	}
	if e, ok = endpoints[p]; ok && r.URL.RawPath == "" && p != modelsPrefix {
		return e, true
	}
	if e, ok = versionedEndpoint(r); ok {
		return e, true
	}
	if e, ok = objectEndpoint(r); ok {
		return e, true
	}
	e = endpoints[modelsPrefix] // the name of a model may contain any character, encoded slashes included
	e.Model, ok = strings.CutPrefix(p, modelsPrefix)
	return e, ok && e.Model != ""
}

// objectEndpoint returns the endpoint for a path of an object that a provider stores. ok is false
// for other paths. A path of several formats is that of the format to which the headers point.
func objectEndpoint(r *http.Request) (e endpoint, ok bool) {
	var methods []string
	likely := cmp.Or(formatByHeader(r), formats.Unspecified())
	for _, f := range formats.All() {
		path := f.Client.Canonical(r.URL.Path)
		for i := range f.Objects.Paths {
			o := &f.Objects.Paths[i]
			if !isLike(path, o.Path) || strings.HasSuffix(o.Path, format.ObjectPlaceholder) && strings.Contains(o.ID(path), ":") { // a method of an object
				continue
			}
			if !slices.Contains(methods, o.Method) {
				methods = append(methods, o.Method)
			}
			if e.Object == nil || o.Method == r.Method && (e.Object.Method != r.Method || f == likely) {
				e = endpoint{method: o.Method, Route: Route{Kind: Object, Format: f, Operation: operationOf(o), Object: o, Stream: o.Streams && r.URL.Query().Get("stream") == "true"}}
			}
		}
	}
	if _, refused := refusal(r, false); methods == nil || refused || r.URL.RawPath != "" {
		return e, false
	}
	if !slices.Contains(methods, r.Method) && r.Method != http.MethodHead {
		e.method = r.Method
		e.Fault, e.Keyless, e.Allow = fault.WrongMethod(strings.Join(methods, " or ")), true, strings.Join(methods, ", ")
	}
	return e, true
}

// operationOf returns the operation of a request for a path of an object.
func operationOf(o *format.ObjectPath) translate.Operation {
	if o.Batch != nil {
		return translate.Batch
	}
	return translate.Manage
}

// versionedEndpoint returns the endpoint for a path that belongs to one format since it has the
// name of a model in it, or a version of the format. ok is false for other paths.
func versionedEndpoint(r *http.Request) (e endpoint, ok bool) {
	for _, f := range formats.All() {
		for _, version := range f.Client.Versions {
			rest, ok := strings.CutPrefix(r.URL.Path, version+"/")
			if !ok {
				continue
			}
			if e, ok := namedEndpoint(f, rest, r.Method); ok {
				return e, true
			}
			if name, ok := strings.CutPrefix(rest, "models/"); ok && r.Method == http.MethodPost && strings.Contains(name, ":") {
				return unservedMethod(f, r), true
			}
			if version != "/v1" {
				return listEndpoint(f, rest)
			}
		}
	}
	return e, false
}

// namedEndpoint returns the endpoint of a format whose path has the name of a model in it. rest
// is the path behind the version. The method of the endpoint is behind the last colon.
func namedEndpoint(f *format.Descriptor, rest, method string) (e endpoint, ok bool) {
	for i := range f.Client.Endpoints {
		named := &f.Client.Endpoints[i]
		prefix, suffix, _ := named.Around()
		prefix = strings.TrimPrefix(prefix, f.Client.Versions[0]+"/")
		name, hasBefore := strings.CutPrefix(rest, prefix)
		name, hasBehind := strings.CutSuffix(name, suffix)
		if !hasBefore || !hasBehind || method == http.MethodGet || method == http.MethodHead {
			continue
		}
		return ofModel(callOf(f, named), name), true
	}
	for i := range f.Objects.Paths {
		o := &f.Objects.Paths[i]
		prefix, suffix, named := strings.Cut(strings.TrimPrefix(o.Path, f.Client.Versions[0]+"/"), format.Placeholder)
		name, hasBefore := strings.CutPrefix(rest, prefix)
		name, hasBehind := strings.CutSuffix(name, suffix)
		if named && hasBefore && hasBehind && method == o.Method {
			return ofModel(endpoint{method: o.Method, Route: Route{Kind: Object, Format: f, Operation: operationOf(o), Object: o}}, name), true
		}
	}
	return e, false
}

// ofModel returns an endpoint with the name of a model in its path.
func ofModel(e endpoint, name string) endpoint {
	if e.Model = name; !isModelName(name) {
		e.Fault = fault.ModelInPath()
	}
	return e
}

// unservedMethod returns an endpoint that refuses a method of models that a format has and the
// gateway has not. The answer is not 405, since no other method of HTTP would be accepted.
func unservedMethod(f *format.Descriptor, r *http.Request) endpoint {
	reason := fault.NotServed(aigateway.PathPrefix(r), "this method of models", "")
	return endpoint{method: r.Method, Route: Route{Kind: Unknown, Format: f, Fault: reason, Keyless: true}}
}

// listEndpoint returns the endpoint of the list of models, or of one, for a path behind a version
// that only one format has.
func listEndpoint(f *format.Descriptor, rest string) (e endpoint, ok bool) {
	e = endpoint{method: http.MethodGet, Route: Route{Kind: Models, Format: f}}
	if rest == "models" {
		return e, true
	}
	e.Kind = Model
	e.Model, ok = strings.CutPrefix(rest, "models/")
	return e, ok && e.Model != ""
}

// isModelName reports whether a name in a path is that of a model for all who read the path: no
// segment is empty or leads elsewhere, and nothing in the name ends the path.
func isModelName(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return len(name) <= LongestModel && !strings.ContainsAny(name, `?#\`) && !strings.ContainsFunc(name, unicode.IsControl)
}
