package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// caller is the way to a provider. Call carries the conduit of an attempt, or the
// query for models, in the request's context, and writes the answer to a receiver.
// What came of the call is in the conduit or the query; the error explains a call
// that never got to the transport.
type caller interface {
	Call(to receiver, r *http.Request) error
}

// receiver takes the answer of a provider from a caller. For attempts it is the
// sink.
type receiver interface {
	http.ResponseWriter
	FlushError() error
}

// newCaller loads the way to the provider: reverse_proxy where the
// configuration asks for anything of it, else the transport alone, because the
// bookkeeping of reverse_proxy is half of what a call costs.
func newCaller(ctx caddy.Context, config *Provider, standard string, inProcess bool) (caller, error) {
	upstream := config.Upstream
	if upstream.BaseURL == "" {
		upstream.BaseURL = standard
	}
	proxy, err := fieldsOf(config.ReverseProxyRaw)
	if err != nil {
		return nil, fmt.Errorf("reading reverse_proxy: %w", err)
	}
	if err := checkAddresses(proxy); err != nil {
		return nil, err
	}
	ownAddress := proxy["upstreams"] == nil && proxy["dynamic_upstreams"] == nil
	if ownAddress && !inProcess {
		if upstream.TransportRaw, err = completeTransport(upstream); err != nil {
			return nil, err
		}
	}
	transport, err := json.Marshal(upstream)
	if err != nil {
		return nil, fmt.Errorf("writing transport: %w", err)
	}
	if inProcess || proxy == nil {
		return newDirect(ctx, transport)
	}
	if ownAddress {
		proxy["upstreams"] = dialAddress(upstream.BaseURL)
	}
	return newProxied(ctx, proxy, transport)
}

func fieldsOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if raw == nil {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	return fields, err
}

// completeTransport adds to the transport what follows from an address that is
// a URL: Caddy enables TLS, and HTTP/2 with it, only when the transport's own
// configuration says so. A transport that is not configured at all also gets
// room for the many calls that go to a single host, and smaller buffers than Go's,
// of 4 KiB each: an open stream holds one for reading and one for writing.
func completeTransport(u aigateway.Upstream) (json.RawMessage, error) {
	fields, err := fieldsOf(u.TransportRaw)
	if err != nil {
		return nil, fmt.Errorf("reading transport: %w", err)
	}
	if fields == nil {
		fields = map[string]json.RawMessage{
			"protocol":          json.RawMessage(`"http"`),
			"keep_alive":        json.RawMessage(`{"max_idle_conns_per_host":256}`),
			"read_buffer_size":  json.RawMessage("2048"),
			"write_buffer_size": json.RawMessage("2048"),
		}
	}
	base, err := url.Parse(u.BaseURL)
	if err == nil && base.Scheme == "https" && string(fields["protocol"]) == `"http"` && fields["tls"] == nil {
		fields["tls"] = json.RawMessage(`{}`)
	}
	return json.Marshal(fields)
}

// dialAddress is a base URL's host and port as the upstreams of reverse_proxy.
func dialAddress(base string) json.RawMessage {
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	raw, _ := json.Marshal([]map[string]string{{"dial": net.JoinHostPort(u.Hostname(), port)}})
	return raw
}

// proxied calls through Caddy's reverse_proxy: load balancing, health checks,
// header operations and all else that it can do.
type proxied struct{ handler caddyhttp.MiddlewareHandler }

func newProxied(ctx caddy.Context, proxy map[string]json.RawMessage, transport json.RawMessage) (caller, error) {
	inner, err := fieldsOf(transport)
	if err != nil {
		return nil, fmt.Errorf("reading transport: %w", err)
	}
	inner["protocol"] = json.RawMessage(`"ai"`)
	delete(proxy, "handler")
	if proxy["transport"], err = json.Marshal(inner); err != nil {
		return nil, fmt.Errorf("writing transport: %w", err)
	}
	raw, err := json.Marshal(proxy)
	if err != nil {
		return nil, fmt.Errorf("writing reverse_proxy: %w", err)
	}
	mod, err := ctx.LoadModuleByID("http.handlers.reverse_proxy", raw)
	if err != nil {
		return nil, fmt.Errorf("loading reverse_proxy: %w", err)
	}
	return &proxied{mod.(caddyhttp.MiddlewareHandler)}, nil
}

// Call lets reverse_proxy choose an address. It gets a request of its own: with
// no header, host or body of the client (the transport builds all), and with a
// map of variables of its own, since a dial that outlives this attempt reads
// the map while the next attempt writes it.
func (p *proxied) Call(to receiver, r *http.Request) error {
	r = r.WithContext(exchange.WithOwnVars(r.Context()))
	r.Host = ""                                                                                       // else the provider would receive the client's name for the gateway
	r.Header = http.Header{"X-Forwarded-For": nil, "X-Forwarded-Proto": nil, "X-Forwarded-Host": nil} // nil: not added
	return p.handler.ServeHTTP(to, r, endOfChain)
}

var endOfChain = caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
	return errors.New("reverse_proxy called the next handler")
})

// direct calls the transport without reverse_proxy.
type direct struct{ transport http.RoundTripper }

func newDirect(ctx caddy.Context, transport json.RawMessage) (caller, error) {
	mod, err := ctx.LoadModuleByID("http.reverse_proxy.transport.ai", transport)
	if err != nil {
		return nil, fmt.Errorf("loading transport: %w", err)
	}
	return &direct{mod.(http.RoundTripper)}, nil
}

// nowhere is the URL of a request that has none yet. The client's own must not
// get any further: one in absolute form names a host.
var nowhere = new(url.URL)

// Call copies the answer into the receiver, flushing after each read of a stream.
func (d *direct) Call(to receiver, r *http.Request) error {
	r = r.WithContext(exchange.WithOwnVars(r.Context()))
	r.Header, r.Host, r.URL = nil, "", nowhere
	res, err := d.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	maps.Copy(to.Header(), res.Header)
	to.WriteHeader(res.StatusCode)
	return copyBody(to, res)
}
