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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/pass"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
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
func (all passRoutes) find(r *http.Request) (d *passRoute, rest string) {
	for i := range all {
		if rest, ok := all[i].Below(r.URL.EscapedPath()); ok {
			return &all[i], rest
		}
	}
	return nil, ""
}

// route returns the route of a request of one of these routes. ok is false if there is none for its path.
func (all passRoutes) route(r *http.Request) (route routes.Route, ok bool) {
	d, rest := all.find(r)
	if d == nil {
		return route, false
	}
	route = routes.Route{Kind: routes.Pass, Operation: translate.Pass, Format: d.provider.Formats[0], HasQueryKey: exchange.HasQueryKey(r.URL.RawQuery)}
	if tap, ok := pass.TapOf(d.provider.Formats, r.Method, rest, r.URL.RawQuery); ok {
		route.Format, route.Operation, route.Model, route.Stream = tap.Format, tap.Endpoint.Operation, tap.Model, tap.Endpoint.Stream
	}
	route.KeyFormat = route.Format
	return route, true
}

// serve passes a request to a site on to a provider, and its answer to the client.
func (all passRoutes) serve(h *handler, answer *reply.Reply, r *http.Request) *fault.Fault {
	leave, refused := enter(h, answer, r)
	if leave == nil {
		return refused
	}
	defer leave()
	d, path := all.find(r)
	if refused := d.refuse(answer, r, path); refused != nil {
		return refused
	}
	o, refused := d.open(h, answer.Exchange, r, path)
	if refused != nil {
		return refused
	}
	m, refused := d.read(h, answer.Exchange, &o)
	if refused == nil {
		refused = d.checkObjects(answer.Exchange, &o)
	}
	if refused == nil {
		refused = h.config.Names.Apply(answer.Exchange)
	}
	if refused != nil {
		return refused
	}
	if _, refused := h.admit(answer, r, m); refused != nil {
		return refused
	}
	if refused := h.resolved.admitAlone(answer, r, &d.provider.Alone().Targets[0]); refused != nil {
		return refused
	}
	ctx, cancel := h.drain.Bind(r.Context(), time.Duration(h.config.Deadline))
	answer.Start(cancel, sink.Options{Passes: true})
	d.pass(ctx, answer, d.passage(answer.Exchange, &o))
	return nil
}

// refuse returns why a request must not be passed on, whatever its key.
func (d *passRoute) refuse(answer *reply.Reply, r *http.Request, path string) *fault.Fault {
	refused, allow := d.Refuse(r.Method, path)
	if allow != "" {
		answer.SetHeaders("Allow", allow)
	}
	if refused == nil && r.ContentLength > d.Limit() {
		return fault.BodyTooLarge(d.Limit())
	}
	return refused
}

// read reads a request for an endpoint that the gateway knows. It returns the model of the provider,
// nil for a request that is passed on unread: to another endpoint, or with a body that the gateway
// cannot read, since the endpoint may have learned something new. A key with rules about what is in the
// request is refused then.
func (d *passRoute) read(h *handler, ex *exchange.Exchange, o *opened) (m *catalog.Model, refused *fault.Fault) {
	if guard := h.resolved.guards.Checking(ex.Key.ID); guard != "" {
		return nil, fault.PassUnseen("the guard '" + guard + "' cannot check it")
	}
	unseen := d.refuseUnseen(ex.Key, h.resolved.limits.Of(ex.Key))
	switch {
	case o.isFree(ex):
		ex.Request.Operation = translate.Manage
		return nil, nil
	case ex.Request.Operation == translate.Pass:
		return nil, unseen
	}
	m = d.provider.Alone()
	if refused = request.Peek(ex, o.Request, min(h.config.MaxBody, d.Limit())); refused == nil {
		if refused = d.setModel(ex, h.resolved.catalog); refused != nil || !d.isUnpriced(ex, m, h.resolved) {
			return m, refused
		}
	}
	ex.Request.Operation, ex.Request.View, ex.Request.Body, ex.Covering = translate.Pass, translate.View{}, nil, ""
	if unseen == nil && o.endpoint == nil {
		refused = nil
	}
	return nil, refused
}

// setModel sets the configured model of a request, and refuses one for a key that may use only some. A
// name that the configuration gives to another model allows that one alone.
func (d *passRoute) setModel(ex *exchange.Exchange, c *catalog.Catalog) *fault.Fault {
	view := &ex.Request.View
	m, same := c.ModelAt(d.provider, view.Model)
	if same && m != nil {
		ex.Covering = string(m.Pattern)
	}
	switch {
	case len(ex.Key.Bound()) == 0:
		return nil
	case !ex.Key.Allows(view.Model), !same:
		return fault.ModelNotAllowed(view.Model)
	case view.Beyond.OtherModels != "":
		return fault.OtherModels(view.Beyond.OtherModels)
	}
	return nil
}

// isUnpriced reports whether a request is passed on unread because the limits of its key would refuse
// it for its unknown cost.
func (d *passRoute) isUnpriced(ex *exchange.Exchange, m *catalog.Model, site *resolved) bool {
	chain := site.limits.For(ex.Key, ex.Request.View.Model)
	if !d.AllowUnpriced || chain == nil {
		return false
	}
	_, refused := chain.Expect(ex, m, site.catalog)
	return refused != nil
}

// refuseUnseen refuses a request for what the gateway would have to read in it, or in its answer.
func (d *passRoute) refuseUnseen(key *aigateway.Key, chain *limits.Chain) *fault.Fault {
	switch {
	case len(key.Bound()) > 0:
		return fault.PassUnseen("it may use only some models, and which one the request asks for is unknown")
	case chain != nil && chain.CountsUse() && !d.AllowUnpriced:
		return fault.PassUnseen("its limits count tokens or costs, which are unknown there unless the gateway has 'unpriced allow'")
	}
	return nil
}

// leavesNothing reports whether a request that was read refers to nothing that the provider stores,
// and lets the provider store nothing.
func leavesNothing(ex *exchange.Exchange) bool {
	reach := &ex.Request.View.Beyond
	return ex.Request.Operation == translate.CountTokens && reach.State == "" || reach.Unstored && reach.State == ""
}

// passage returns the request to the provider.
func (d *passRoute) passage(ex *exchange.Exchange, r *opened) *exchange.Passage {
	p := &exchange.Passage{
		Conduit: exchange.Conduit{Attempt: exchange.Attempt{
			Exchange: ex, Provider: d.provider.Name, Service: d.provider.Preset, Format: ex.Request.Format, Model: ex.Request.View.Model,
			Traits: d.provider.Alone().Targets[0].TraitsOf(ex.Request.View.Model),
		}},
		Method: r.Method, Path: r.path, Query: pass.Query(r.URL.RawQuery),
		Header: pass.Outgoing(d.sent, r.Header), Incoming: d.received,
		Body: http.MaxBytesReader(nil, r.Body, d.Limit()), Length: r.ContentLength,
		Unsealed: ex.Objects == nil || r.endpoint != nil && r.endpoint.Bytes,
		Lines:    r.endpoint != nil && r.endpoint.Lines,
	}
	if ex.Request.Operation != translate.Pass || !p.Unsealed { // whose answer is read
		p.Header.Set("Accept-Encoding", "identity")
	}
	return p
}

// errNoAddress is why a passage has neither an answer nor a fault: reverse_proxy has called nothing.
var errNoAddress = errors.New("no address of the provider is available")

// pass makes the call of a passage, and ends the answer.
func (d *passRoute) pass(ctx context.Context, answer *reply.Reply, p *exchange.Passage) {
	p.Started = time.Since(answer.Exchange.Start)
	answer.Next(&p.Conduit, 0)
	err := d.provider.Caller.Pass(ctx, p, answer)
	if p.Result.Fault == nil && !p.Result.Whole() && ctx.Err() == nil {
		p.Result.Fail(fault.Unreachable(errors.Join(errNoAddress, err)))
	}
	answer.Exchange.Course.End(&p.Conduit)
	if p.Result.Fault != nil && !p.Result.Whole() {
		answer.Fail(p.Result.Fault)
		return
	}
	answer.Abandon(ctx)
}
