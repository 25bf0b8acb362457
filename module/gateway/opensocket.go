package gateway

import (
	"context"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets/clientsecret"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// openSocket is a WebSocket with the handler that serves it, which changes at reloads.
type openSocket struct {
	request  *http.Request // for the socket
	route    *routes.Route
	provider *catalog.Provider
	key      *aigateway.Key

	// admit reserves what opening the socket uses, and dial opens that of the provider before that of the
	// client; nil for what is done after the first message.
	admit func(h *handler, answer *reply.Reply) *fault.Fault
	dial  func(ctx context.Context, h *handler, ex *exchange.Exchange) (*catalog.Provider, *exchange.Socket, *fault.Fault)

	mu      sync.Mutex // guards the fields below
	handler *handler
	leave   func() // uncounts the socket; nil if it is not counted
}

// run serves the socket by a function, in a goroutine of its own: the handlers before this one leave a
// stack that is larger than all that an idle socket keeps.
func (o *openSocket) run(serve func()) {
	defer o.close()
	defer metrics.OpenSocket(string(o.route.Format.Name))()
	defer func() {
		if v := recover(); v != nil {
			o.current().logger.Error("panic", zap.Any("value", v), zap.ByteString("stack", debug.Stack()))
		}
	}()
	serve()
}

// alone returns a request for a socket, from which requests on the socket are made that run side by side.
// It keeps nothing of the connection that the socket has taken over: no buffers, placeholders or record
// in the access log.
func alone(r *http.Request) *http.Request {
	ctx := trace.ContextWithSpan(context.Background(), trace.SpanFromContext(r.Context()))
	for _, key := range [...]caddy.CtxKey{caddyhttp.ServerCtxKey, caddyhttp.VarsCtxKey, caddyhttp.OriginalRequestCtxKey, clientsecret.ContextKey} {
		ctx = context.WithValue(ctx, key, r.Context().Value(key))
	}
	r = r.WithContext(exchange.WithOwnVars(ctx))
	r.Body = http.NoBody
	return r
}

// current returns the handler that serves the socket now.
func (o *openSocket) current() *handler {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.handler
}

// close uncounts the socket.
func (o *openSocket) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.leave()
	o.leave = func() {}
}

// allowed reports whether the key of an open socket is still valid. A source of keys that cannot be read
// ends no socket.
func (o *openSocket) allowed() bool {
	answer := reply.New(unwritten{}, newExchange(o.request, o.route))
	refused := o.current().authenticate(answer, o.request, o.route.KeyFormat)
	return refused == nil || refused.Kind != fault.Unauthenticated && refused.Kind != fault.Forbidden
}

// succeed finds the handler that serves the socket after a reload: the one to which the new
// configuration leads the request for it, if its site still has sockets to the same provider. From then
// on, requests on the socket follow the new rules. retired is nil if there is no such handler.
func (o *openSocket) succeed() (retired <-chan struct{}) {
	h := o.heir()
	if h == nil || h.resolved.sockets == nil || !h.resolved.sockets.leadTo(o.provider) {
		return nil
	}
	leave := h.resolved.sockets.enter(o.key.ID, h.resolved.limits.Sockets(o.key))
	if leave == nil {
		return nil
	}
	o.close()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.handler, o.leave = h, leave
	return h.resolved.sockets.retired
}

// leadTo reports whether sockets of the route lead to a provider, which is the same after a reload if it is
// called in the same way.
func (s *socketRoute) leadTo(p *catalog.Provider) bool {
	return slices.ContainsFunc(s.providers, func(now *catalog.Provider) bool { return now.Name == p.Name && now.Identity == p.Identity })
}

// heir is the handler to which a request for a WebSocket leads, nil for none.
type heir struct{ handler *handler }

type heirKey struct{}

// maxRouting bounds the time of the handlers that a request passes on its way to an heir.
const maxRouting = 5 * time.Second

// heir returns the handler to which the configuration of this moment leads the request for the socket,
// nil for none. The server is the one with the addresses of the old one, since names of servers can
// change.
func (o *openSocket) heir() *handler {
	ctx := o.request.Context()
	old, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	app, err := caddy.ActiveContext().AppIfConfigured("http")
	if err != nil || old == nil {
		return nil
	}
	found := new(heir)
	routed, cancel := context.WithTimeout(context.WithValue(ctx, heirKey{}, found), maxRouting)
	defer cancel()
	r := o.request.Clone(routed)
	if original, ok := ctx.Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok { // before it was rewritten
		r.Method, r.URL, r.RequestURI = original.Method, original.URL, original.RequestURI
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		if slices.Equal(server.Listen, old.Listen) {
			server.ServeHTTP(unwritten{}, r)
		}
	}
	return found.handler
}

// unwritten is a ResponseWriter of a request that has no answer.
type unwritten struct{}

func (unwritten) Header() http.Header         { return make(http.Header) }
func (unwritten) Write(p []byte) (int, error) { return len(p), nil }
func (unwritten) WriteHeader(int)             {}
