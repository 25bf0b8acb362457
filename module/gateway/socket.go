package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
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

// mostSockets is the largest number of WebSockets that are open with one key: an idle one takes
// memory, and a connection to the provider, although it counts in no limit of the key.
const mostSockets = 64

// enter counts a WebSocket of a key, until leave is called. leave is nil if too many are open.
func (s *socketRoute) enter(key string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] == mostSockets {
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
func (s *socketRoute) serve(h *Handler, w http.ResponseWriter, r *http.Request, route *routes.Route) {
	opened, leave := s.begin(h, w, r, route)
	if opened == nil {
		return
	}
	defer leave()
	defer metrics.OpenSocket(string(route.Format.Name))()
	message := routes.Route{Kind: routes.Message, Operation: translate.Generate, Format: route.Format, KeyFormat: route.KeyFormat, Stream: true}
	opened.Serve = func(w http.ResponseWriter, r *http.Request) {
		route := message
		h.answer(w, r, &route)
	}
	opened.Allowed = func() bool { return s.allows(h, w, r, route) }
	opened.Run(s.retired)
}

// begin opens a WebSocket to a provider, and then that of the client. leave must be called when it
// ends. begun is nil if the client was answered with a fault.
func (s *socketRoute) begin(h *Handler, w http.ResponseWriter, r *http.Request, route *routes.Route) (begun *sockets.Session, leave func()) {
	ex := newExchange(r, route)
	to := reply.New(w, ex)
	h.drain.Enter()
	defer h.drain.Leave()
	defer to.Close(false) // for the case that settle panics
	defer h.settle(ex, to, r)
	if refused := s.admit(h, to, r, route); refused != nil {
		to.Fail(refused)
		return nil, nil
	}
	leave = s.enter(ex.Key.ID)
	if leave == nil {
		to.Fail(fault.TooManySockets(mostSockets))
		return nil, nil
	}
	defer func() {
		if begun == nil {
			leave()
		}
	}()
	socket, refused := s.dial(h, ex, r, route)
	if refused != nil {
		to.Fail(refused)
		return nil, nil
	}
	to.Upgrade()
	opened := &sockets.Session{Provider: socket, MaxBody: h.MaxBody}
	if err := opened.Open(w, r.WithContext(alone(r.Context()))); err != nil {
		socket.Close(exchange.SocketClosed{})
		h.logger.Info("no WebSocket was opened", zap.String("request_id", ex.ID), zap.Error(err))
		return nil, nil
	}
	return opened, leave
}

// alone returns a context in which requests on a socket run side by side: without what belongs to the
// request for the socket alone, its placeholders and its record in the access log.
func alone(ctx context.Context) context.Context {
	ctx = context.WithValue(exchange.WithOwnVars(ctx), caddy.ReplacerCtxKey, nil)
	return context.WithValue(ctx, caddyhttp.ExtraLogFieldsCtxKey, nil)
}

// allows reports whether the key of an open socket is still valid. A source of keys that cannot be read
// ends no socket. Nothing is written to w.
func (s *socketRoute) allows(h *Handler, w http.ResponseWriter, r *http.Request, route *routes.Route) bool {
	refused := h.authenticate(reply.New(w, newExchange(r, route)), r, route.KeyFormat)
	return refused == nil || refused.Kind != fault.Unauthenticated && refused.Kind != fault.Forbidden
}

// admit checks the request for a socket; s is nil if the site has none. It counts as a request for the limits of its key, and
// runs no longer than until it is answered.
func (s *socketRoute) admit(h *Handler, to *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	if refused := h.authenticate(to, r, route.KeyFormat); refused != nil {
		return refused
	}
	chain := h.resolved.limits.Of(to.Exchange.Key)
	switch {
	case s == nil:
		return route.Fault
	case h.CORS.Refuses(r):
		return fault.OriginNotAllowed()
	case chain == nil:
		return fault.LimitUnknown()
	}
	if refused := sockets.Check(r); refused != nil {
		return refused
	}
	admitted, refused := chain.Admit(to, r, nil, h.resolved.catalog)
	to.Charge(meter.New(admitted.Estimate, admitted.Reservation, nil))
	return refused
}

// dial opens a WebSocket to the first provider that accepts one.
func (s *socketRoute) dial(h *Handler, ex *exchange.Exchange, r *http.Request, route *routes.Route) (socket *exchange.Socket, refused *fault.Fault) {
	ctx, cancel := h.drain.Bind(r.Context(), 0)
	defer cancel()
	for _, p := range s.providers {
		for i := range p.APIKeys {
			a := &exchange.Attempt{Exchange: ex, Provider: p.Name, Service: p.Preset, Format: route.Format, APIKey: i, Traits: p.Traits()}
			if socket, refused = p.Caller.(exchange.Dialer).Dial(ctx, a); refused == nil || ctx.Err() != nil {
				return socket, refused
			}
			h.logger.Warn("a provider has refused a WebSocket", zap.String("request_id", ex.ID), zap.String("provider", p.Name), zap.String("fault", refused.LogMessage()), zap.NamedError("cause", refused.Cause))
		}
	}
	return nil, refused
}

// forgetOwn removes the references of a request to responses that its socket has begun: the provider
// keeps them for the socket alone.
func forgetOwn(ex *exchange.Exchange, r *http.Request) {
	socket := exchange.MessageFrom(r.Context())
	for i, id := range ex.View.Beyond.ObjectIDs() {
		if socket.Began(ex.IDText(&id)) {
			ex.View.Beyond.Forget(i)
			return
		}
	}
}
