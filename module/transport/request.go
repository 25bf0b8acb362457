package transport

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/version"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Values of headers that requests share. Nothing changes them.
var (
	streamType = []string{"text/event-stream"}
	jsonType   = []string{"application/json"}
	identity   = []string{"identity"}
	noValue    = []string{""}
)

// request returns the request of a call to the provider. ctx has the dial information of
// reverse_proxy. The call may be sent again, with another credential.
func (c *call) request(ctx context.Context, p *payload.Payload) *http.Request {
	t, a := c.t, c.attempt
	h, path, query := t.service.addressed(a, c.address)
	request := t.outgoing(ctx, http.MethodPost, c.proxied, h, c.result.hide.credential)
	setAddress(request, path, query)
	request.Body, request.ContentLength = p.Open(), p.Length()
	if h := request.Header; h["Idempotency-Key"] == nil && h["X-Idempotency-Key"] == nil {
		// With one of these headers, net/http would repeat the request even if the
		// provider may have begun to work on it. A configuration can set them; a client
		// cannot.
		request.GetBody = p.Reopen
	}
	if o := a.Object(); o != nil {
		c.setObject(request, o)
	}
	tracing.NoteAddress(request)
	if a.Traits.TraceUpstream {
		tracing.Forward(request)
	}
	return request
}

// addressed returns the headers of a call without its credential, its path with escapes, and its
// query: those that the protocol has given, or else those of the format.
func (s *service) addressed(a *exchange.Attempt, call *aigateway.Call) (h http.Header, path, query string) {
	if s.protocol.Address != nil {
		return maps.Clone(call.Header), call.Path, call.Query
	}
	h, address := s.head(a)
	path, query = a.Format.Provider.Call(address)
	return h, path, query
}

// setAddress sets the path and the query of a request. The path has escapes; one that cannot
// be unescaped is used as it is.
func setAddress(r *http.Request, path, query string) {
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = path, "", query
	if plain, err := url.PathUnescape(path); err == nil && plain != path {
		r.URL.Path, r.URL.RawPath = plain, path
	}
}

// head returns the headers of a call without its credential, and what its address depends
// on. Only the headers of the client that are named here are sent.
func (s *service) head(a *exchange.Attempt) (http.Header, format.Call) {
	ex := a.Exchange
	address := format.Call{
		Base: s.base.EscapedPath(), Model: a.Model, Operation: ex.Request.Operation, Stream: ex.Request.Streaming(),
	}
	if o := a.Object(); o != nil {
		address.Object = o.Path
	}
	h := make(http.Header, 8) // a larger map costs two more allocations
	h["Content-Type"] = jsonType
	h["Accept-Encoding"] = identity // compressed events would arrive late
	h["User-Agent"] = userAgent
	h["Accept"] = jsonType
	if ex.Request.Streaming() {
		h["Accept"] = streamType
	}
	setVersion(h, &a.Format.Version, a.Traits)
	if a.ByteLane() {
		address.Query = ex.Request.Query
		h["User-Agent"] = noValue // net/http sends no header for an empty value
		copyHeader(h, ex.Request.Client, "User-Agent")
		copyHeader(h, ex.Request.Client, "Accept")
		for _, name := range a.Format.Client.Headers {
			copyHeader(h, ex.Request.Client, name)
		}
		if ex.Request.Operation.Beside() && passthrough.IsForm(ex.Request.Body) {
			h["Content-Type"] = []string{passthrough.Type(ex.Request.Body)}
		}
	}
	return h, address
}

// outgoing returns a request to the provider without path, query and body. The URL is the
// base URL; if reverse_proxy has chosen an address, which the URL of proxied has, it replaces
// scheme and host. The headers are h, the credential, and those that the configuration adds to
// proxied, which take precedence.
func (t *Transport) outgoing(ctx context.Context, method string, proxied *http.Request, h http.Header, credential string) *http.Request {
	target, host := *t.service.base, proxied.Host
	if proxied.URL.Host != "" {
		target.Scheme, target.Host = proxied.URL.Scheme, proxied.URL.Host
	}
	switch {
	case host != "": // of the configuration
	case strings.HasPrefix(target.Host, "/") || strings.HasPrefix(target.Host, "@"): // a Unix socket
		host = t.service.base.Host
	default:
		host = target.Host
	}
	t.credentials.set(h, credential)
	for name, v := range proxied.Header {
		if len(v) > 0 && name != "Via" && (name != "User-Agent" || v[0] != "") {
			h[name] = v
		}
	}
	request := &http.Request{
		Method: method, URL: &target, Host: host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: http.NoBody,
	}
	return request.WithContext(ctx)
}

// setVersion sets the version header of a format that has one.
func setVersion(h http.Header, v *format.Version, traits *trait.Traits) {
	if v.Sent != nil {
		h[v.Header] = []string{v.Sent(traits)}
	}
}

// copyHeader copies the values of a header, if there are any.
func copyHeader(dst, src http.Header, name string) {
	if v := src[name]; len(v) > 0 {
		dst[name] = v
	}
}

// userAgent is the User-Agent of translated requests and of queries for models. Some
// firewalls refuse requests without one.
var userAgent = []string{product(version.Running())}

// product returns the name of the gateway, with its version if the build has one.
func product(build *debug.BuildInfo) string {
	const name = "caddy-ai-gateway"
	if v := version.Of(build); v != "" {
		return name + "/" + v
	}
	return name
}
