package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/pass"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// passRoute passes requests below a prefix on to a provider.
type passRoute struct {
	*pass.Config
	provider *catalog.Provider
	sent     []string // the headers of clients that the provider gets
	received []string // the headers of answers that clients get
}

// passRoutes are all those of a site.
type passRoutes []passRoute

// newPassRoutes finds the providers to which a configuration passes requests on.
func newPassRoutes(configs []*pass.Config, c *catalog.Catalog) (all passRoutes, err error) {
	for _, config := range configs {
		d := passRoute{config, c.Provider(config.Provider), config.Sent(), config.Received()}
		if err := d.check(all); err != nil {
			return nil, fmt.Errorf("pass '%s': %w", config.Prefix, err)
		}
		all = append(all, d)
	}
	return all, nil
}

var errComputed = errors.New("the preset of the provider computes the address of each call, so that nothing can be passed on to it")

// check returns an error for a route that cannot be used beside others.
func (d *passRoute) check(others passRoutes) error {
	taken := slices.Clone(pathRoots)
	for _, other := range others {
		taken = append(taken, other.Root())
	}
	for _, root := range taken {
		if routes.IsBelow(d.Root(), root) || routes.IsBelow(root, d.Root()) {
			return fmt.Errorf("%s is a path of the gateway already", root)
		}
	}
	switch {
	case d.provider == nil:
		return fmt.Errorf("there is no provider '%s'", d.Provider)
	case d.provider.ComputesAddresses():
		return errComputed
	}
	return d.Check()
}

// find returns the route for the path of a request, and the path below its prefix, with escapes; nil if
// there is none.
func (all passRoutes) find(r *http.Request) (d *passRoute, below string) {
	for i := range all {
		if below, ok := all[i].Below(r.URL.EscapedPath()); ok {
			return &all[i], below
		}
	}
	return nil, ""
}

// route returns the route of a request of one of these routes. ok is false if there is none for its path.
func (all passRoutes) route(r *http.Request) (route routes.Route, ok bool) {
	d, _ := all.find(r)
	if d == nil {
		return route, false
	}
	f := d.provider.Formats[0]
	return routes.Route{Kind: routes.Pass, Operation: translate.Pass, Format: f, KeyFormat: f, HasQueryKey: exchange.HasQueryKey(r.URL.RawQuery)}, true
}

// serve passes a request to a site on to a provider, and its answer to the client.
func (all passRoutes) serve(h *Handler, to *reply.Reply, r *http.Request) *fault.Fault {
	if h.MaxRunning > 0 && h.drain.Running() > h.MaxRunning {
		return fault.GatewayBusy()
	}
	d, path := all.find(r)
	if refused := d.refuse(to, r, path); refused != nil {
		return refused
	}
	if refused := d.refuseUnseen(to.Exchange.Key, h.resolved); refused != nil {
		return refused
	}
	if refused := h.Names.Apply(to.Exchange); refused != nil {
		return refused
	}
	if _, refused := h.admit(to, r, nil); refused != nil {
		return refused
	}
	ctx, cancel := h.drain.Bind(r.Context(), time.Duration(h.Deadline))
	to.Start(cancel, sink.Options{Passes: true})
	d.pass(ctx, to, d.passage(to.Exchange, r, path))
	return nil
}

// refuse returns why a request must not be passed on, whatever its key.
func (d *passRoute) refuse(to *reply.Reply, r *http.Request, path string) *fault.Fault {
	refused, allow := d.Refuse(r.Method, path)
	if allow != "" {
		to.SetHeaders("Allow", allow)
	}
	if refused == nil && r.ContentLength > d.Limit() {
		return fault.BodyTooLarge(d.Limit())
	}
	return refused
}

// refuseUnseen refuses a request for what the gateway would have to read in it, or in its answer.
func (d *passRoute) refuseUnseen(key *aigateway.Key, site *resolved) *fault.Fault {
	limits := site.limits.Of(key)
	switch guard := site.guards.Checking(key.ID); {
	case guard != "":
		return fault.PassUnseen("the guard '" + guard + "' cannot check it")
	case len(key.Bound()) > 0:
		return fault.PassUnseen("it may use only some models, and which one the request asks for is unknown")
	case limits != nil && limits.CountsUse() && !d.AllowUnpriced:
		return fault.PassUnseen("its limits count tokens or costs, which are unknown there unless the gateway has 'unpriced allow'")
	}
	return nil
}

// passage returns the request to the provider.
func (d *passRoute) passage(ex *exchange.Exchange, r *http.Request, path string) *exchange.Passage {
	return &exchange.Passage{
		Conduit: exchange.Conduit{Attempt: exchange.Attempt{
			Exchange: ex, Provider: d.provider.Name, Service: d.provider.Preset, Format: ex.Format, Traits: d.provider.Traits(),
		}},
		Method: r.Method, Path: path, Query: pass.Query(r.URL.RawQuery),
		Header: pass.Outgoing(d.sent, r.Header), Incoming: d.received,
		Body: http.MaxBytesReader(nil, r.Body, d.Limit()), Length: r.ContentLength,
	}
}

// errNoAddress is why a passage has neither an answer nor a fault: reverse_proxy has called nothing.
var errNoAddress = errors.New("no address of the provider is available")

// pass makes the call of a passage, and ends the answer.
func (d *passRoute) pass(ctx context.Context, to *reply.Reply, p *exchange.Passage) {
	p.Started = time.Since(to.Exchange.Start)
	to.Next(&p.Conduit, 0)
	err := d.provider.Caller.Pass(ctx, p, to)
	if p.Result.Fault == nil && !p.Result.Whole() && ctx.Err() == nil {
		p.Result.Fail(fault.Unreachable(errors.Join(errNoAddress, err)))
	}
	to.Exchange.End(&p.Conduit)
	if p.Result.Fault != nil {
		to.Fail(p.Result.Fault)
		return
	}
	to.Abandon(ctx)
}
