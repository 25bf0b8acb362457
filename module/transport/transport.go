// Package transport implements the module http.reverse_proxy.transport.ai, the only code
// that calls providers. It renders the request of an attempt, waits for the first event
// with content, relays or translates the answer, and enforces the timeouts. It also reads
// lists of models. Other requests, such as active health checks, are sent with the
// provider's credential.
//
// Only listed headers of the client are sent. An answer without its last event is never
// marked as finished. A call ends when its client disconnects. Redirects are not followed,
// and the size of every body is bounded.
package transport

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/http1"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

func init() { caddy.RegisterModule(Transport{}) }

// Transport makes the calls of one provider. The gateway configures it. It wraps a transport
// of reverse_proxy, which sends the requests.
type Transport struct {
	aigateway.Upstream

	carrier     carrier
	credentials credentials
	service     service
}

// CaddyModule returns the Caddy module information.
func (Transport) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.reverse_proxy.transport.ai",
		New: func() caddy.Module { return new(Transport) },
	}
}

// Provision loads the preset, the credentials and the inner transport, which is the preset if
// that answers in-process.
func (t *Transport) Provision(ctx caddy.Context) (err error) {
	t.carrier.started = exchange.StartedFrom(ctx)
	var defaults aigateway.Defaults
	if t.PresetRaw != nil {
		preset, err := ctx.LoadModule(&t.Upstream, "PresetRaw")
		if err != nil {
			return fmt.Errorf("loading preset: %w", err)
		}
		defaults = preset.(aigateway.Preset).Defaults()
		t.carrier.inner, t.service.inProcess = preset.(http.RoundTripper)
	}
	t.AnswerBounds.Inherit(defaults.AnswerBounds)
	t.AnswerBounds.Inherit(aigateway.DefaultAnswerBounds)
	if t.service.base, err = parseBaseURL(cmp.Or(t.BaseURL, defaults.BaseURL)); err != nil {
		return err
	}
	t.service.protocol = defaults.Protocol
	t.credentials.header = cmp.Or(defaults.Header, "Authorization")
	t.credentials.token, t.credentials.client = defaults.Protocol.Token, outbound.Client(maxTokenWait, tokenCarrier{&t.carrier})
	if err := t.credentials.follow(ctx, t.APIKeys); err != nil {
		return err
	}
	if t.carrier.inner != nil {
		return nil
	}
	if t.TransportRaw == nil {
		t.TransportRaw = json.RawMessage(`{"protocol":"http"}`)
	}
	inner, err := ctx.LoadModule(&t.Upstream, "TransportRaw")
	if err != nil {
		return fmt.Errorf("loading transport: %w", err)
	}
	if transport, ok := inner.(*reverseproxy.HTTPTransport); ok {
		transport.Transport.DialContext = socket.Dialing(transport.Transport.DialContext)
		t.carrier.http1 = http1.New(transport)
	}
	t.carrier.inner = inner.(http.RoundTripper)
	return nil
}

// Cleanup closes the connections that are idle, and the others after their answers. The inner
// transport has a Cleanup of its own.
func (t *Transport) Cleanup() error {
	if t.carrier.http1 != nil {
		t.carrier.http1.Close()
	}
	return nil
}

// parseBaseURL parses a base URL. If it is empty, it returns the zero URL; the addresses are
// then those of reverse_proxy.
func parseBaseURL(base string) (*url.URL, error) {
	if base == "" {
		return new(url.URL), nil
	}
	u, err := aigateway.ParseBaseURL(base)
	if err != nil {
		return nil, fmt.Errorf("base_url: %w", err)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// redactor returns the redactor of a call of an attempt.
func (t *Transport) redactor(a *exchange.Attempt, proxied *http.Request) redactor {
	return redactor{
		credential: t.credentials.key(a.APIKey), host: cmp.Or(proxied.URL.Hostname(), t.service.base.Hostname()),
		current: t.credentials.keys,
		objects: a.Exchange.Objects,
	}
}

// RoundTrip makes a call of the attempt in the context of the request, or the query in the context
// for a list of models, or the request of the passage. It sends any other request with the credential.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if conduit := exchange.ConduitFrom(req.Context()); conduit != nil {
		a, result := conduit.Begin()
		return newCall(req.Context(), t, a, result, req).do()
	}
	if q := exchange.ModelsQueryFrom(req.Context()); q != nil {
		return t.models(req, q)
	}
	if p := exchange.PassageFrom(req.Context()); p != nil {
		return t.passOn(req, p)
	}
	if err := t.carrier.waitForStart(req.Context()); err != nil {
		return nil, err
	}
	credential, err := t.credentials.get(req.Context(), 0, "")
	if err != nil {
		return nil, err
	}
	if credential != "" { // some providers require the credential for health checks
		req = req.Clone(req.Context())
		t.credentials.set(req.Header, credential)
	}
	return t.carrier.send(req)
}

// Ask makes a call of an attempt without reverse_proxy, which ends with ctx. A dial may read the
// context after the call, so that the context of the call has no variables of the request.
func (t *Transport) Ask(ctx context.Context, conduit *exchange.Conduit) (*http.Response, error) {
	a, result := conduit.Begin()
	return newCall(exchange.WithoutVars(ctx), t, a, result, unproxied).do()
}

// unproxied is the request of reverse_proxy for calls without it. Nothing changes it.
var unproxied = &http.Request{URL: new(url.URL)}

// Interface guards
var (
	_ caddy.Provisioner  = (*Transport)(nil)
	_ caddy.CleanerUpper = (*Transport)(nil)
	_ http.RoundTripper  = (*Transport)(nil)

	_ reverseproxy.TLSTransport                        = (*Transport)(nil)
	_ reverseproxy.H2CTransport                        = (*Transport)(nil)
	_ reverseproxy.ProxyProtocolTransport              = (*Transport)(nil)
	_ reverseproxy.HealthCheckSchemeOverriderTransport = (*Transport)(nil)
	_ reverseproxy.RequestHeaderOpsTransport           = (*Transport)(nil)
)
