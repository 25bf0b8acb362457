package transport

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// render builds the request to the provider. proxied is what reverse_proxy (or
// the direct path) hands over: its URL says where to, its headers hold what the
// configuration adds, its context carries the dial information.
func (c *call) render(proxied *http.Request, p *payload) *http.Request {
	a := c.attempt
	target := c.t.target(proxied, endpoint(c.t.base.Path, a.Format, a.Exchange.Operation))
	if a.Exchange.Beta && a.ByteLane() {
		target.RawQuery = "beta=true"
	}
	header := c.header(proxied.Header)
	out := &http.Request{
		Method:        http.MethodPost,
		URL:           target,
		Host:          c.t.host(proxied.Host, target.Host),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          p.open(),
		ContentLength: p.length,
	}
	if !claimsIdempotency(header) {
		out.GetBody = p.reopen
	}
	return out.WithContext(c.ctx)
}

// target returns the URL for a path of the provider: at the address that
// reverse_proxy has chosen, else at that of the base URL.
func (t *Transport) target(proxied *http.Request, path string) *url.URL {
	target := *t.base
	if proxied.URL.Host != "" {
		target.Scheme, target.Host = proxied.URL.Scheme, proxied.URL.Host
	}
	target.Path = path
	return &target
}

// host is the Host header: what the configuration makes it, else the address;
// sockets have none, there the provider's name stands for it.
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

// header builds the headers anew. Nothing of the client goes out but what the
// list below names.
func (c *call) header(configured http.Header) http.Header {
	ex := c.attempt.Exchange
	h := make(http.Header, 10)
	h["Content-Type"] = []string{"application/json"}
	h["Accept-Encoding"] = []string{"identity"} // compressed events would come late
	h["User-Agent"] = userAgent
	if c.attempt.ByteLane() {
		h["User-Agent"] = []string{""} // an empty one is not sent at all
	}
	if c.attempt.Format == translate.Messages {
		h["Anthropic-Version"] = []string{c.traits().Version()}
	}
	if c.attempt.ByteLane() {
		for _, name := range [...]string{"User-Agent", "Anthropic-Version", "Anthropic-Beta"} {
			if v := ex.Client[name]; len(v) > 0 {
				h[name] = v
			}
		}
	}
	h["Accept"] = accept(ex, c.attempt.ByteLane())
	c.t.complete(h, configured)
	return h
}

// complete adds the credential, and what the configuration adds to every
// request: its header operations come last and win.
func (t *Transport) complete(h, configured http.Header) {
	if t.secret != "" {
		h[t.header] = t.credentialHeader()
	}
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

// usageAsked reports whether this call has to ask for the usage of a stream
// itself, because the client did not.
func (c *call) usageAsked() bool {
	ex := c.attempt.Exchange
	return !c.traits().WithoutUsage && c.attempt.Format != translate.Messages && ex.Streaming() && !ex.View.IncludeUsage
}

// edits lists the edits of the byte lane in the order of the body. There are
// no others: no default is inserted, nothing is reordered or repaired.
func (c *call) edits() []translate.Edit {
	ex := c.attempt.Exchange
	var edits []translate.Edit
	if c.attempt.Model != ex.View.Model {
		edits = append(edits, translate.Edit{Span: ex.View.ModelSpan, With: jsonscan.AppendString(nil, c.attempt.Model)})
	}
	if c.usageAsked() {
		edits = append(edits, usageEdit(ex.Body, &ex.View))
	}
	for _, cut := range ex.View.Minted {
		edits = append(edits, translate.Edit{Span: cut})
	}
	edits = append(edits, c.filled...)
	slices.SortFunc(edits, func(a, b translate.Edit) int { return a.Start - b.Start })
	return edits
}

const includeUsage = `"include_usage":true`

// usageEdit asks for the usage chunk in the least intrusive of four ways.
func usageEdit(body []byte, v *translate.View) translate.Edit {
	switch options := v.StreamOptions; {
	case !v.IncludeUsageSpan.Empty():
		return translate.Edit{Span: v.IncludeUsageSpan, With: []byte("true")}
	case options.Empty():
		return translate.Edit{Span: translate.Span{Start: v.End, End: v.End}, With: []byte(`,"stream_options":{` + includeUsage + `}`)}
	case body[options.Start] == 'n', len(bytes.TrimSpace(body[options.Start+1:options.End-1])) == 0: // null or {}
		return translate.Edit{Span: options, With: []byte("{" + includeUsage + "}")}
	default:
		at := translate.Span{Start: options.Start + 1, End: options.Start + 1}
		return translate.Edit{Span: at, With: []byte(includeUsage + ",")}
	}
}
