package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// proxied calls the transport through Caddy's reverse_proxy, which adds load balancing,
// health checks and header operations.
type proxied struct{ handler caddyhttp.MiddlewareHandler }

func newProxied(ctx caddy.Context, proxy map[string]json.RawMessage, transport json.RawMessage) (exchange.Caller, error) {
	inner, err := fieldsOf(transport)
	if err != nil {
		return nil, fmt.Errorf("reading transport: %w", err)
	}
	inner["protocol"] = json.RawMessage(`"ai"`)
	delete(proxy, "handler")
	if proxy["load_balancing"], err = withDefaults(proxy["load_balancing"], otherAddresses(proxy)); err != nil {
		return nil, fmt.Errorf("reading load_balancing: %w", err)
	}
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

// withDefaults returns the configuration of load balancing with a selection policy, by
// default ai_session. A policy of the gateway selects each address once in an attempt, so
// with it the default is that all others are tried. With a policy of Caddy, a retry may
// select the same address, and wait for it again. A request that may have been sent is not
// retried: after other errors than those of dialing, reverse_proxy retries only GET.
func withDefaults(balancing json.RawMessage, others int) (json.RawMessage, error) {
	fields, err := fieldsOf(balancing)
	if err != nil {
		return nil, err
	}
	if fields == nil {
		fields = make(map[string]json.RawMessage)
	}
	if fields["selection_policy"] == nil {
		fields["selection_policy"] = json.RawMessage(`{"policy":"ai_session"}`)
	}
	var selection struct{ Policy string }
	if err := json.Unmarshal(fields["selection_policy"], &selection); err != nil {
		return nil, fmt.Errorf("reading selection_policy: %w", err)
	}
	if strings.HasPrefix(selection.Policy, "ai_") && fields["retries"] == nil && fields["try_duration"] == nil {
		fields["retries"] = json.RawMessage(strconv.Itoa(others))
	}
	return json.Marshal(fields)
}

// otherAddresses returns the number of addresses besides the first. It returns 1 for dynamic
// addresses, whose number varies.
func otherAddresses(proxy map[string]json.RawMessage) int {
	if proxy["dynamic_upstreams"] != nil {
		return 1
	}
	var addresses []json.RawMessage
	_ = json.Unmarshal(proxy["upstreams"], &addresses) // reverse_proxy refuses what is no list
	return max(len(addresses)-1, 0)
}

// Call implements exchange.Caller. The request has no header, host or body of the client, because
// the transport builds all of them. It has no query with a key, because reverse_proxy logs the
// address at level DEBUG. A request that Caddy's server has not prepared is that of a call which no client
// asks for.
func (p *proxied) Call(ctx context.Context, c *exchange.Conduit, receiver exchange.Receiver, client *http.Request) error {
	ctx = exchange.WithConduit(ctx, c)
	if client.Context().Value(caddy.ReplacerCtxKey) == nil {
		return p.serve(receiver, query(ctx))
	}
	return p.serve(receiver, client.WithContext(ctx))
}

// serve changes r, and sends it through reverse_proxy.
func (p *proxied) serve(writer http.ResponseWriter, r *http.Request) error {
	r.Host = ""                                                                                       // otherwise the provider would receive the host name of the gateway
	r.Header = http.Header{"X-Forwarded-For": nil, "X-Forwarded-Proto": nil, "X-Forwarded-Host": nil} // nil: not added
	if exchange.HasQueryKey(r.URL.RawQuery) {
		r.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath} // a new one: the other is the client's
		r.RequestURI = r.URL.RequestURI()
	}
	return p.handler.ServeHTTP(writer, r, endOfChain)
}

// Addresses implements exchange.Pool.
func (p *proxied) Addresses() (all []exchange.Address) {
	proxy, ok := p.handler.(*reverseproxy.Handler)
	if !ok {
		return nil
	}
	for _, upstream := range proxy.Upstreams {
		all = append(all, exchange.Address{Address: upstream.Dial, Available: upstream.Available(), Running: upstream.NumRequests(), Failures: upstream.Fails()})
	}
	return all
}

// Pass implements exchange.Caller.
func (p *proxied) Pass(ctx context.Context, passage *exchange.Passage, receiver exchange.Receiver) error {
	return p.serve(receiver, passing(ctx, passage))
}

// Query implements exchange.Caller.
func (p *proxied) Query(ctx context.Context) {
	_ = p.serve(queryAnswer{}, query(ctx)) // the result is in the query
}

var endOfChain = caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
	return errors.New("reverse_proxy called the next handler")
})
