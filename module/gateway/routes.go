package gateway

import (
	"cmp"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// endpoint is one row of the route table.
type endpoint struct {
	method string
	format *format.Descriptor // nil if it depends on the request
	meant  *format.Descriptor // for an unknown path, the format of the path that it resembles; nil for none
	serve  func(*Handler, *reply.Reply, *http.Request) *fault.Fault
	op     translate.Operation
	list   bool // of models, or of nothing: not counted as an exchange

	model     string // the name in the path, "" for none
	stream    bool   // the path asks for a stream
	parameter string // that the query must have, "name=value"; "" for none
}

// allowed returns the methods of the endpoint, as the header Allow lists them.
func (e endpoint) allowed() string {
	if e.method == http.MethodGet {
		return "GET, HEAD"
	}
	return e.method
}

// endpoints is the route table, by exact path. Only the row of "/v1/models/" covers all
// paths below it.
var endpoints = func() map[string]endpoint {
	table := map[string]endpoint{
		modelsPath:         {method: http.MethodGet, serve: (*Handler).serveModels},
		"/v1/capabilities": {method: http.MethodGet, serve: (*Handler).serveCapabilities},
		modelsPrefix:       {method: http.MethodGet, serve: (*Handler).serveModel},
	}
	for _, f := range formats.All() {
		for _, e := range f.Client.Endpoints {
			if _, _, named := e.Around(); !named {
				table[e.Path] = endpoint{method: e.Method, format: f, serve: (*Handler).serveCall, op: e.Operation}
			}
		}
	}
	return table
}()

const (
	modelsPath   = "/v1/models"
	modelsPrefix = modelsPath + "/"
)

// route returns the endpoint for a request. ok is false for paths that are not the
// gateway's.
func route(r *http.Request) (e endpoint, ok bool) {
	p := r.URL.Path
	if !aigateway.OwnsPath(p, isOurs) {
		return e, false
	}
	if e, ok := modelEndpoint(p, r.Method); ok {
		return e, true
	}
	if id, ok := strings.CutPrefix(p, modelsPrefix); ok && id != "" {
		e = endpoints[modelsPrefix] // the name of a model may contain any character, encoded slashes included
		e.model = id
		return e, true
	}
	e, ok = endpoints[p]
	ok = ok && r.URL.RawPath == "" && p != modelsPrefix
	if refused, found := refusedEndpoint(r, ok); found && (!ok || r.Method != e.method) {
		return refused, true
	}
	if !ok {
		e = noEndpoint(p)
	}
	return e, true
}

// refusedEndpoint returns the endpoint for a request that a format lists as refused. If the
// path has an endpoint, only the upgrades of connections are refused: other refusals are
// about ids, and the last segment of the path is none.
func refusedEndpoint(r *http.Request, served bool) (e endpoint, found bool) {
	for _, f := range formats.All() {
		for _, refused := range f.Client.Refusals {
			if (!served || refused.Upgrade != "") && matches(r, refused) {
				return refuse(f, refused.Fault), true
			}
		}
	}
	return e, false
}

func matches(r *http.Request, refused format.Refusal) bool {
	if refused.Upgrade != "" && !strings.EqualFold(r.Header.Get("Upgrade"), refused.Upgrade) {
		return false
	}
	return isLike(r.URL.Path, refused.Path) && r.URL.RawPath == ""
}

// isLike reports whether a path matches the path of a refusal.
func isLike(p, pattern string) bool {
	ok, _ := path.Match(strings.ReplaceAll(pattern, "{id}", "?*"), p)
	return ok
}

// refuse returns an endpoint that checks the credential, and then refuses the request.
func refuse(f *format.Descriptor, reason func() *fault.Fault) endpoint {
	e := endpoint{format: f}
	e.serve = func(h *Handler, to *reply.Reply, r *http.Request) *fault.Fault {
		if fault := h.authenticate(to, r, keyFormat(r, e)); fault != nil {
			return fault
		}
		return reason()
	}
	return e
}

// noTunnel refuses CONNECT, whose path is empty.
var noTunnel = endpoint{serve: func(_ *Handler, to *reply.Reply, _ *http.Request) *fault.Fault {
	const allowed = "GET, POST"
	to.SetHeaders("Allow", allowed)
	return fault.WrongMethod("one of " + allowed)
}}

// isOurs reports whether a path is the gateway's. Paths without a row in the route table
// are included: a client would take the answer of another handler, such as Caddy's empty
// 200, for an answer of the gateway.
func isOurs(p string) bool { return isBelow(p, "/v1") || versionOf(p) != nil }

const (
	loginPath   = "/api/user/login"
	consolePath = "/console/"
)

// longestFirst lists the paths of the route table, the longest first, because some long
// paths end like shorter ones.
var longestFirst = slices.SortedFunc(maps.Keys(endpoints), func(a, b string) int { return len(b) - len(a) })

// meant returns the known path that a client probably means by p: p ends like the known
// path without its /v1, in upper or lower case. It returns "" if there is none. f is the
// format of the returned path, nil for a path without a format.
func meant(p string) (name string, f *format.Descriptor) {
	p = strings.ToLower(path.Clean(p))
	for _, name := range longestFirst {
		if strings.HasSuffix(p, strings.TrimPrefix(name, "/v1")) {
			return name, endpoints[name].format
		}
	}
	if name, f = meantModel(p); f != nil {
		return name, f
	}
	for _, f := range formats.All() {
		for _, refused := range f.Client.Refusals {
			if endsLike(p, strings.TrimPrefix(refused.Path, "/v1")) {
				return refused.Path, f
			}
		}
	}
	for _, other := range []string{loginPath, consolePath} {
		if strings.HasSuffix(p, strings.TrimSuffix(other, "/")) {
			return other, nil
		}
	}
	return "", nil
}

// endsLike is isLike for the last segments of a path, as many as the pattern has.
func endsLike(p, pattern string) bool {
	segments := strings.Split(p, "/")
	from := max(0, len(segments)-strings.Count(pattern, "/"))
	return isLike("/"+strings.Join(segments[from:], "/"), pattern)
}

// formatOf returns the format in which a request is answered, errors included: the format
// of the endpoint; for an endpoint without one, the format to which the request points.
func formatOf(r *http.Request, e endpoint) *format.Descriptor {
	f := formatFrom(r, e.format, formatByHeader)
	f = formatFrom(r, cmp.Or(f, e.meant), formatByPath, formatByKeyHeader, formatByKey, formatByPaging)
	return cmp.Or(f, formats.Unspecified())
}

// formatFrom returns the format that is known, else the first one to which the request points,
// nil for none.
func formatFrom(r *http.Request, known *format.Descriptor, ways ...func(*http.Request) *format.Descriptor) *format.Descriptor {
	for i := 0; known == nil && i < len(ways); i++ {
		known = ways[i](r)
	}
	return known
}

// formatByHeader returns the format whose version header the request has, or a header that
// only clients of the format send, nil for none.
func formatByHeader(r *http.Request) *format.Descriptor {
	return formatWhere(func(f *format.Descriptor) bool {
		has := func(header string) bool { return r.Header[header] != nil }
		return f.Version.Header != "" && has(f.Version.Header) || slices.ContainsFunc(f.Client.Marks, has)
	})
}

// formatByPath returns the format whose first endpoint is the path or a prefix of it, nil
// for none.
func formatByPath(r *http.Request) *format.Descriptor {
	return formatWhere(func(f *format.Descriptor) bool {
		return strings.HasPrefix(r.URL.Path, f.Client.Endpoints[0].Path)
	})
}

// formatByKeyHeader returns the format whose header of a key a request for the list of models has
// without a bearer token, nil for none. A monitor that lists models sends nothing else of a format.
func formatByKeyHeader(r *http.Request) *format.Descriptor {
	if !strings.HasPrefix(r.URL.Path, modelsPath) || keyring.HasBearer(r) {
		return nil
	}
	isSent := func(value string) bool { return value != "" }
	return formatWhere(func(f *format.Descriptor) bool { return slices.ContainsFunc(r.Header[f.Client.KeyHeader], isSent) })
}

// formatByKey returns the format whose parameter of a key is in the query of a request for the
// list of models, nil for none.
func formatByKey(r *http.Request) *format.Descriptor {
	return formatByQuery(r, func(f *format.Descriptor, has func(string) bool) bool { return has(f.Client.KeyParameter) })
}

// formatByPaging returns the format whose paging parameters are in the query of a request
// for the list of models, nil for none.
func formatByPaging(r *http.Request) *format.Descriptor {
	return formatByQuery(r, func(f *format.Descriptor, has func(string) bool) bool {
		paging := f.Models.Paging
		return paging != nil && (has(paging.Limit) || has(paging.After) || has(paging.Before))
	})
}

func formatByQuery(r *http.Request, is func(f *format.Descriptor, has func(name string) bool) bool) *format.Descriptor {
	if r.URL.RawQuery == "" || !strings.HasPrefix(r.URL.Path, modelsPath) {
		return nil
	}
	query := r.URL.Query()
	has := func(name string) bool { return name != "" && query.Has(name) }
	return formatWhere(func(f *format.Descriptor) bool { return is(f, has) })
}

// formatWhere returns the first format for which is returns true, nil for none.
func formatWhere(is func(*format.Descriptor) bool) *format.Descriptor {
	i := slices.IndexFunc(formats.All(), is)
	if i < 0 {
		return nil
	}
	return formats.All()[i]
}
