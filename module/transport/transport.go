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
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/connection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/http1"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

func init() { caddy.RegisterModule(Transport{}) }

// Transport makes the calls of one provider. The gateway configures it. It wraps a transport
// of reverse_proxy, which sends the requests.
type Transport struct {
	aigateway.Upstream

	inner     http.RoundTripper
	inProcess bool             // inner is the preset, which answers without a server
	http1     *http1.Transport // in place of inner for the requests that it takes; nil if it takes none
	base      *url.URL         // the zero URL if reverse_proxy has the addresses
	header    string           // name of the credential's header

	protocol aigateway.Protocol // of the preset
	tokens   *http.Client       // for its tokens

	started <-chan struct{} // closed when the configuration starts; nil if that is unknown

	secrets []atomic.Pointer[aigateway.Secret] // the credentials, in the order of APIKeys
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
	t.started = exchange.StartedFrom(ctx)
	var defaults aigateway.Defaults
	if t.PresetRaw != nil {
		preset, err := ctx.LoadModule(&t.Upstream, "PresetRaw")
		if err != nil {
			return fmt.Errorf("loading preset: %w", err)
		}
		defaults = preset.(aigateway.Preset).Defaults()
		t.inner, t.inProcess = preset.(http.RoundTripper)
	}
	t.AnswerBounds.Inherit(defaults.AnswerBounds)
	t.AnswerBounds.Inherit(aigateway.DefaultAnswerBounds)
	if t.base, err = parseBaseURL(cmp.Or(t.BaseURL, defaults.BaseURL)); err != nil {
		return err
	}
	t.header, t.protocol = cmp.Or(defaults.Header, "Authorization"), defaults.Protocol
	t.tokens = outbound.Client(maxTokenWait, tokenCarrier{t})
	if err := t.followCredentials(ctx); err != nil {
		return err
	}
	if t.inner != nil {
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
		t.http1 = http1.New(transport)
	}
	t.inner = inner.(http.RoundTripper)
	return nil
}

// Cleanup closes the connections that are idle, and the others after their answers. The inner
// transport has a Cleanup of its own.
func (t *Transport) Cleanup() error {
	if t.http1 != nil {
		t.http1.Close()
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

// followCredentials sets the credentials, and follows their files until ctx ends.
func (t *Transport) followCredentials(ctx caddy.Context) error {
	t.secrets = make([]atomic.Pointer[aigateway.Secret], len(t.APIKeys))
	config := exchange.CredentialsFrom(ctx)
	logger := ctx.Logger().With(zap.String("provider", config.Provider))
	for i, reference := range t.APIKeys {
		err := secrets.Follow(ctx, reference, logger, func(secret aigateway.Secret) error {
			if t.protocol.Token == nil && strings.ContainsFunc(string(secret), unicode.IsControl) {
				return errControl
			}
			if t.secrets[i].Swap(&secret) != nil {
				config.Changed(reference)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("api_key: %w", err)
		}
	}
	return nil
}

// errControl is the error for a credential that no header can contain. Without it, every
// call would fail.
var errControl = errors.New("an API key has one line, without control characters")

// credential returns the credential with an index, without "Bearer"; "" if there are none.
func (t *Transport) credential(index int) string {
	if len(t.secrets) == 0 {
		return ""
	}
	return string(*t.secrets[index].Load())
}

// redactor returns the redactor of a call of an attempt.
func (t *Transport) redactor(a *exchange.Attempt, proxied *http.Request) redactor {
	return redactor{
		credential: t.credential(a.APIKey), host: cmp.Or(proxied.URL.Hostname(), t.base.Hostname()), current: t.secrets,
		objects: a.Exchange.Objects,
	}
}

// setCredential sets the header of a credential, unless it is "".
func (t *Transport) setCredential(h http.Header, credential string) {
	switch {
	case credential == "":
	case t.header == "Authorization":
		h[t.header] = []string{"Bearer " + credential}
	default:
		h[t.header] = []string{credential}
	}
}

// carry sends a request by the inner transport. Its error is logged, so it must not quote the provider's answer.
func (t *Transport) carry(req *http.Request) (*http.Response, error) {
	var carrier http.RoundTripper
	if t.http1 != nil && t.http1.Takes(req) {
		carrier = t.http1
	} else {
		carrier = t.inner
		connection.FilterLog()
	}
	res, err := outbound.Final(carrier.RoundTrip(req))
	if err != nil {
		return nil, connection.Unquoted(err)
	}
	return res, nil
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
	if t.started != nil {
		// Caddy begins health checks while it provisions a configuration, even if it only
		// validates it.
		select {
		case <-t.started:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	credential, err := t.authorize(req.Context(), 0, "")
	if err != nil {
		return nil, err
	}
	if credential != "" { // some providers require the credential for health checks
		req = req.Clone(req.Context())
		t.setCredential(req.Header, credential)
	}
	return t.carry(req)
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
