package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets/clientsecret"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// socketRoute is where the WebSockets of a site lead.
type socketRoute struct {
	providers []*catalog.Provider
	retired   <-chan struct{} // closed when the configuration is replaced, or the process exits

	mu   sync.Mutex
	open map[string]int // the open WebSockets of each key, by its id
}

// enter counts a WebSocket of a key, until leave is called. leave is nil if most are open.
func (s *socketRoute) enter(key string, most int) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] >= most {
		return nil
	}
	s.open[key]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[key]--; s.open[key] == 0 {
			delete(s.open, key)
		}
	}
}

// newSocketRoute finds the providers to which WebSockets may be opened; nil for none.
func newSocketRoute(ctx caddy.Context, names []string, c *catalog.Catalog) (*socketRoute, error) {
	if len(names) == 0 {
		return nil, nil
	}
	route := &socketRoute{retired: ctx.Done(), open: make(map[string]int)}
	for _, name := range names {
		p, err := c.Lookup(name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("sockets: %w", err)
		case !slices.ContainsFunc(p.Formats, hasSockets):
			return nil, fmt.Errorf("sockets: no format of the provider '%s' has WebSockets", name)
		case !p.TakesSockets():
			return nil, fmt.Errorf("sockets: no WebSocket can be opened to the provider '%s': reverse_proxy chooses its address, its preset computes the address of each call, or it answers in this process", name)
		}
		route.providers = append(route.providers, p)
	}
	return route, nil
}

// hasSockets reports whether clients of a format open WebSockets.
func hasSockets(f *format.Descriptor) bool {
	return slices.ContainsFunc(f.Client.Refusals, func(r format.Refusal) bool { return r.Upgrade != "" })
}

// serve answers a request for a WebSocket, and serves the requests on it until it ends. They
// are exchanges like all others: with a check of the key, limits and a record of their own.
func (s *socketRoute) serve(h *handler, w http.ResponseWriter, r *http.Request, route *routes.Route) {
	if heir, ok := r.Context().Value(heirKey{}).(*heir); ok {
		heir.handler = h
		caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
		return
	}
	o := &openSocket{request: r, route: route, handler: h}
	if route.Format.Client.DialectOf(route.Operation) != nil {
		s.serveRealtime(o, w)
		return
	}
	session := new(sockets.Session)
	o.admit, o.dial = o.countRequest, s.dial
	if !s.begin(o, w, &session.Socket, session.Open) {
		return
	}
	message := routes.Route{Kind: routes.Message, Operation: translate.Generate, Format: route.Format, KeyFormat: route.KeyFormat, Stream: true}
	session.Serve = func(w http.ResponseWriter, r *http.Request) {
		route := message
		o.current().answer(w, r, &route)
	}
	go o.run(session.Run)
}

// begin opens a WebSocket to a provider, and then that of the client with a function. The client was
// answered with a fault if it returns false.
func (s *socketRoute) begin(o *openSocket, w http.ResponseWriter, socket *sockets.Socket, open func(http.ResponseWriter, *http.Request) error) (begun bool) {
	h, r := o.handler, o.request
	ex := newExchange(r, o.route)
	answer := reply.New(w, ex)
	h.drain.Enter()
	defer h.drain.Leave()
	defer answer.Close(false) // for the case that settle panics
	defer h.settle(ex, answer, r)
	if refused := s.admit(o, answer); refused != nil {
		answer.Fail(refused)
		return false
	}
	most := h.resolved.limits.Sockets(ex.Key)
	if o.leave = s.enter(ex.Key.ID, most); o.leave == nil {
		answer.Fail(fault.TooManySockets(most))
		return false
	}
	defer func() {
		if !begun {
			o.close()
		}
	}()
	if o.dial != nil {
		var refused *fault.Fault
		ctx, cancel := h.drain.Bind(alone(r).Context(), 0) // which the connection keeps
		defer cancel()
		defer context.AfterFunc(r.Context(), cancel)()
		if o.provider, socket.Provider, refused = o.dial(ctx, h, ex); refused != nil {
			answer.Fail(refused)
			return false
		}
	}
	answer.Upgrade()
	o.request = alone(r)
	socket.MaxBody, socket.Retired = h.config.MaxBody, s.retired
	socket.Allowed, socket.Succeed = o.allowed, o.succeed
	if err := open(w, o.request); err != nil {
		if socket.Provider != nil {
			socket.Provider.Close(exchange.SocketClosed{})
		}
		h.logger.Info("no WebSocket was opened", zap.String("request_id", ex.ID), zap.Error(err))
		return false
	}
	return true
}

// admit checks the request for a socket; s is nil if the site has none.
func (s *socketRoute) admit(o *openSocket, answer *reply.Reply) *fault.Fault {
	h, r := o.handler, o.request
	if refused := h.authenticate(answer, r, o.route.KeyFormat); refused != nil {
		return refused
	}
	o.key = answer.Exchange.Key
	switch {
	case s == nil:
		return o.route.Fault
	case h.config.CORS.Refuses(r):
		return fault.OriginNotAllowed()
	case !clientsecret.Of(r).Use(time.Now()):
		return fault.ExpiredKey()
	case h.resolved.limits.Of(o.key) == nil:
		return fault.LimitUnknown()
	}
	if refused := sockets.Check(r); refused != nil {
		return refused
	}
	if o.admit == nil {
		return nil
	}
	return o.admit(h, answer)
}

// countRequest counts the request for a socket in the limits of its key. It runs no longer than until it is
// answered.
func (o *openSocket) countRequest(h *handler, answer *reply.Reply) *fault.Fault {
	admitted, refused := h.resolved.limits.Of(o.key).Admit(answer, o.request, nil, h.resolved.catalog)
	answer.Charge(meter.New(admitted.Estimate, admitted.Reservation, nil))
	return refused
}

// dial opens a WebSocket to the first provider of the client's format that accepts one.
func (s *socketRoute) dial(ctx context.Context, h *handler, ex *exchange.Exchange) (p *catalog.Provider, socket *exchange.Socket, refused *fault.Fault) {
	refused = fault.NoWebSocket()
	wanted := ex.Request.Format
	for _, p = range s.providers {
		if !slices.Contains(p.Formats, wanted) {
			continue
		}
		for i := range p.APIKeys {
			a := &exchange.Attempt{Exchange: ex, Provider: p.Name, Service: p.Preset, Format: wanted, APIKey: i, Traits: p.Traits()}
			if socket, refused = p.Caller.(exchange.Dialer).Dial(ctx, a); refused == nil || ctx.Err() != nil {
				return p, socket, refused
			}
			h.logger.Warn("a provider has refused a WebSocket", zap.String("request_id", ex.ID), zap.String("provider", p.Name), zap.String("fault", refused.LogMessage()), zap.NamedError("cause", refused.Cause))
		}
	}
	return nil, nil, refused
}
