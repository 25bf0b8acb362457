package transport

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// render returns the request to the provider, with a context of the call, which has the dial
// information of reverse_proxy. The URL of c.proxied has the address that reverse_proxy has
// chosen, and its headers are those that the configuration adds.
func (c *call) render(ctx context.Context, p *payload.Payload) *http.Request {
	a, proxied := c.attempt, c.proxied
	target := c.t.target(proxied)
	target.Path, target.RawQuery = a.Format.Provider.Call(c.address())
	header := c.header(proxied.Header)
	out := &http.Request{
		Method:        http.MethodPost,
		URL:           target,
		Host:          c.t.host(proxied.Host, target.Host),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          p.Open(),
		ContentLength: p.Length(),
	}
	if !claimsIdempotency(header) {
		out.GetBody = p.Reopen
	}
	out = out.WithContext(ctx)
	tracing.NoteAddress(out)
	if a.Traits.TraceUpstream {
		tracing.Forward(out)
	}
	return out
}

// address returns the input for the path and the query of the call.
func (c *call) address() format.Call {
	a := c.attempt
	address := format.Call{
		Base: c.t.base.Path, Model: a.Model,
		Operation: a.Exchange.Operation, Stream: a.Exchange.Streaming(),
	}
	if a.ByteLane() {
		address.Query = a.Exchange.Query
	}
	return address
}

// target returns the base URL. If reverse_proxy has chosen an address, it replaces scheme
// and host.
func (t *Transport) target(proxied *http.Request) *url.URL {
	target := *t.base
	if proxied.URL.Host != "" {
		target.Scheme, target.Host = proxied.URL.Scheme, proxied.URL.Host
	}
	return &target
}

// host returns the Host header: the configured one, else the address. For a Unix socket,
// which has no host, it is the host of the base URL.
func (t *Transport) host(configured, address string) string {
	switch {
	case configured != "":
		return configured
	case strings.HasPrefix(address, "/") || strings.HasPrefix(address, "@"):
		return t.base.Host
	default:
		return address
	}
}

// header returns the headers of the request. Only the headers of the client that are named
// here are sent.
func (c *call) header(configured http.Header) http.Header {
	ex := c.attempt.Exchange
	h := make(http.Header, 10)
	h["Content-Type"] = []string{"application/json"}
	h["Accept-Encoding"] = []string{"identity"} // compressed events would arrive late
	h["User-Agent"] = userAgent
	if c.attempt.ByteLane() {
		h["User-Agent"] = []string{""} // net/http sends no header for an empty value
	}
	setVersion(h, &c.attempt.Format.Version, c.attempt.Traits)
	if c.attempt.ByteLane() {
		copyHeader(h, ex.Client, "User-Agent")
		for _, name := range c.attempt.Format.Client.Headers {
			copyHeader(h, ex.Client, name)
		}
	}
	h["Accept"] = accept(ex, c.attempt.ByteLane())
	c.t.complete(h, configured, c.result.hide.credential)
	return h
}

// setVersion sets the version header of a format that has one.
func setVersion(h http.Header, v *format.Version, traits *trait.Traits) {
	if v.Sent != nil {
		h[v.Header] = []string{v.Sent(traits)}
	}
}

// copyHeader copies the values of a header, if there are any.
func copyHeader(to, from http.Header, name string) {
	if v := from[name]; len(v) > 0 {
		to[name] = v
	}
}

// complete sets the credential, and then the headers of the configuration, which take
// precedence.
func (t *Transport) complete(h, configured http.Header, credential string) {
	t.setCredential(h, credential)
	for name, v := range configured {
		if len(v) > 0 && name != "Via" && (name != "User-Agent" || v[0] != "") {
			h[name] = v
		}
	}
}

var (
	acceptStream = []string{"text/event-stream"}
	acceptJSON   = []string{"application/json"}
)

func accept(ex *exchange.Exchange, byteLane bool) []string {
	if v := ex.Client["Accept"]; len(v) > 0 && byteLane {
		return v
	}
	if ex.Streaming() {
		return acceptStream
	}
	return acceptJSON
}

// usageAsked reports whether the gateway adds the option for the usage of a stream to the
// request, because the client has not set it.
func (c *call) usageAsked() bool {
	ex := c.attempt.Exchange
	return !c.attempt.Traits.WithoutUsage && c.attempt.Format.Answers.Usage.Ask != nil && ex.Streaming() && !ex.View.StreamUsage.Asked
}

// edits returns all edits of the byte lane, including filled, in the order of the body. The
// byte lane makes no other changes: it inserts no defaults, and reorders and repairs
// nothing.
func (c *call) edits(filled []edit.Edit) []edit.Edit {
	ex := c.attempt.Exchange
	var edits []edit.Edit
	if c.attempt.Model != ex.View.Model {
		edits = append(edits, edit.Edit{Span: ex.View.ModelSpan, With: jsonscan.AppendString(nil, c.attempt.Model)})
	}
	if c.usageAsked() {
		edits = append(edits, c.attempt.Format.Answers.Usage.Ask(ex.Body, &ex.View.StreamUsage))
	}
	cuts := c.attempt.Encrypted
	if cuts == nil {
		cuts = ex.View.SelfSigned
	}
	for _, cut := range cuts {
		edits = append(edits, edit.Edit{Span: cut})
	}
	edits = append(edits, filled...)
	slices.SortFunc(edits, func(a, b edit.Edit) int { return a.Start - b.Start })
	return edits
}

// claimsIdempotency reports whether a request has a header with which net/http would repeat
// it even if the provider may have begun to work on it. A configuration can set such a
// header; a client cannot.
func claimsIdempotency(h http.Header) bool {
	return h["Idempotency-Key"] != nil || h["X-Idempotency-Key"] != nil
}
