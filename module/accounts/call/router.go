package call

import (
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// Route is an operation of the API.
type Route struct {
	Pattern    string // of http.ServeMux: "GET /api/v1/keys/{id}"
	Access     Access
	Parameters []string // of the query; nil if others are ignored
	Handler

	// Envelope writes answers in the format of existing clients of LLM gateways.
	Envelope bool
}

// Path returns the path of the pattern.
func (r Route) Path() string {
	_, path, _ := strings.Cut(r.Pattern, " ")
	return strings.TrimSuffix(path, "{$}")
}

// Root returns the first two segments of the path.
func (r Route) Root() string {
	return strings.Join(strings.SplitN(r.Path(), "/", 4)[:3], "/")
}

// Handler returns the data of the answer to a call.
type Handler struct {
	reads bool // the body of the request
	serve func(*Call) (any, error)
}

// Plain returns the handler of requests without a body.
func Plain(serve func(*Call) (any, error)) Handler { return Handler{false, serve} }

// Body returns the handler of requests whose body is a JSON object with the members of In, and no
// others: a client that mistypes the name of one would otherwise get what it does not want.
func Body[In any](serve func(*Call, In) (any, error)) Handler { return bodyHandler(serve, true) }

// LenientBody is Body for existing clients, which send members that only other gateways have.
func LenientBody[In any](serve func(*Call, In) (any, error)) Handler {
	return bodyHandler(serve, false)
}

func bodyHandler[In any](serve func(*Call, In) (any, error), strict bool) Handler {
	return Handler{true, func(c *Call) (any, error) {
		var body In
		if err := decode(c.body, &body, strict); err != nil {
			return nil, err
		}
		return serve(c, body)
	}}
}

// checkQuery refuses parameters that the route does not have: without a filter whose name is
// mistyped, a list would have items that the client excludes.
func (r Route) checkQuery(query url.Values) error {
	if r.Parameters == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(r.Parameters, name) {
			return unknown("parameter", name, r.Parameters)
		}
	}
	return nil
}

// unknown returns the problem of a name that is none of those which a request may have.
func unknown(kind, name string, known []string) error {
	return answer.Invalid("unknown %s %.40q; %sknown are: %s", kind, name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
}

// Router finds the route of a request.
type Router struct {
	mux    *http.ServeMux
	Routes []Route
}

// NewRouter returns a router that serves requests for its routes with a function.
func NewRouter(routes []Route, serve func(http.ResponseWriter, *http.Request, Route)) *Router {
	mux := http.NewServeMux()
	for _, route := range routes {
		mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) { serve(w, r, route) })
	}
	return &Router{mux, routes}
}

// Serve answers a request, unless it has no route: it returns the reason then.
func (t *Router) Serve(w http.ResponseWriter, r *http.Request) error {
	if t.has(r.Method, r.URL) {
		t.mux.ServeHTTP(w, r)
		return nil
	}
	if allowed := t.allowed(r.URL); len(allowed) > 0 {
		names := strings.Join(allowed, ", ")
		w.Header().Set("Allow", names)
		return answer.Refuse(http.StatusMethodNotAllowed, "this path accepts %s", names)
	}
	// If only the notation is wrong, the problem contains the right path, which consists of words of
	// the table and of names that the client has sent.
	plain := url.URL{Path: strings.ToLower(path.Clean(r.URL.Path))}
	if len(t.allowed(&plain)) > 0 {
		return answer.Refuse(http.StatusNotFound, "there is no such path: did you mean %s?", plain.Path)
	}
	return ErrNoPath
}

// ErrNoPath is the problem of a request for a path that no route has.
var ErrNoPath = answer.Refuse(http.StatusNotFound, "there is no such path: GET /api/openapi.json lists all")

// has reports whether there is a route for a method and a path, in its usual notation.
func (t *Router) has(method string, sent *url.URL) bool {
	clean := path.Clean(sent.Path)
	if strings.HasSuffix(sent.Path, "/") {
		clean += "/"
	}
	if clean != sent.Path {
		return false // the mux would redirect the client
	}
	_, pattern := t.mux.Handler(&http.Request{Method: method, URL: &url.URL{Path: sent.Path}})
	values := strings.Split(sent.Path, "/")
	for i, segment := range segments(pattern) {
		if segment == "{id}" && !isID(values[i]) {
			return false
		}
	}
	return pattern != "" && isPlain(sent, pattern)
}

// segments returns the segments of the path of a pattern.
func segments(pattern string) []string {
	_, path, _ := strings.Cut(pattern, " ")
	return strings.Split(path, "/")
}

// allowed returns the methods of a path.
func (t *Router) allowed(sent *url.URL) (methods []string) {
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut} {
		if t.has(method, sent) {
			methods = append(methods, method)
		}
	}
	return methods
}

// isPlain reports whether a path has no encoded characters in the fixed segments of its pattern,
// nor a slash in the others: a guard in front of the gateway may read it as another path.
func isPlain(u *url.URL, pattern string) bool {
	if u.RawPath == "" {
		return true
	}
	sent := strings.Split(u.RawPath, "/")
	for i, segment := range segments(pattern) {
		if i >= len(sent) || segment != sent[i] && !strings.HasPrefix(segment, "{") {
			return false
		}
	}
	return strings.Count(u.RawPath, "/") == strings.Count(u.Path, "/")
}

// isID reports whether s is a positive number in its usual notation.
func isID(s string) bool {
	id, err := strconv.ParseInt(s, 10, 64)
	return err == nil && id > 0 && strconv.FormatInt(id, 10) == s
}

// Answer reads the body of a request, checks the credential, and calls the handler. It reads the
// body first, because a client may send it slowly, and may lose its rights in the meantime.
// begin admits a change by a user, and returns what ends it.
func (r Route) Answer(c *Call, begin func(*Call) (end func(), err error)) (any, error) {
	c.Access = r.Access
	var bodyErr error // returned after Admit, so that strangers get 401 instead
	if r.reads {
		c.body, bodyErr = c.readBody()
	}
	if err := c.Admit(); err != nil {
		return nil, err
	}
	if bodyErr == nil {
		bodyErr = r.checkQuery(c.URL.Query())
	}
	if bodyErr != nil {
		return nil, bodyErr
	}
	if c.User != nil && c.Method != http.MethodGet && c.Method != http.MethodHead {
		end, err := begin(c)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	return r.serve(c)
}
