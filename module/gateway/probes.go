package gateway

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// The paths of probes, as Kubernetes names its own. They need no key, and their answers are
// made from memory, so that they may be requested at any rate.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
)

// The answers to probes.
const (
	live  = `{"status":"live"}`
	ready = `{"status":"ready"}`
)

// The reasons why the gateway is not ready for new requests.
const (
	shuttingDown = "the gateway is shutting down"
	storeMissing = "the store is not available"
)

// unready returns why the gateway is not ready for new requests, "" if it is: it does not
// shut down, and can decide about every key.
func (h *handler) unready() string {
	switch {
	case h.drain.Begun():
		return shuttingDown
	case !h.resolved.sources.Complete():
		return storeMissing
	}
	return ""
}

// serveProbe answers a probe. It returns false for other requests. The parameter
// exclude=store leaves out the store.
func (h *handler) serveProbe(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	status, body := http.StatusOK, live
	switch r.URL.Path {
	case livePath:
	case readyPath:
		body = ready
		if parts := slices.Sorted(maps.Keys(degraded(h))); len(parts) > 0 {
			body = `{"status":"ready","degraded":["` + strings.Join(parts, `","`) + `"]}`
		}
		reason := h.unready()
		if reason != "" && !(reason == storeMissing && slices.Contains(r.URL.Query()["exclude"], "store")) {
			status, body = http.StatusServiceUnavailable, `{"status":"not ready","reason":"`+reason+`"}`
		}
	default:
		return false
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write([]byte(body)) // the client may be gone
	}
	return true
}

// strayProbes is a handler with all routes of a server. It answers the probes that none of them
// takes (T32): a probe by address has the name of no site, and Caddy's empty 200 would be the answer
// for a gateway that is not ready, too.
type strayProbes struct {
	routes caddyhttp.RouteList
	sites  []*handler // with a gateway, on this server
	once   sync.Once
	chain  caddyhttp.Handler // of the routes; nil before the first request
}

// takeStrayProbes makes the site answer probes that no route of its server takes. Caddy provisions
// the routes in place, and then compiles the list that the server has: a route that was appended
// here would move them, so the list is replaced by one route with all of them.
func (h *handler) takeStrayProbes(ctx caddy.Context) error {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || len(server.Routes) == 0 {
		return nil
	}
	if handlers := server.Routes[0].Handlers; len(handlers) == 1 {
		if s, ok := handlers[0].(*strayProbes); ok {
			s.sites = append(s.sites, h)
			return nil
		}
	}
	all := caddyhttp.Route{Handlers: []caddyhttp.MiddlewareHandler{&strayProbes{routes: server.Routes, sites: []*handler{h}}}}
	if err := all.ProvisionHandlers(ctx, nil); err != nil {
		return err
	}
	server.Routes = caddyhttp.RouteList{all}
	return nil
}

// ServeHTTP serves the routes. next is the same at each request: Caddy's last handler.
func (s *strayProbes) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	s.once.Do(func() {
		s.chain = s.routes.Compile(caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
			if s.site().serveProbe(w, r) {
				return nil
			}
			return next.ServeHTTP(w, r)
		}))
	})
	return s.chain.ServeHTTP(w, r)
}

// site returns the site that answers: one that is not ready, else any.
func (s *strayProbes) site() *handler {
	i := slices.IndexFunc(s.sites, func(h *handler) bool { return h.unready() != "" })
	return s.sites[max(i, 0)]
}
