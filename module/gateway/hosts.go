package gateway

import (
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
)

// hostsOf returns the names by which operators know a site: its hosts, or the addresses on which
// its server listens if it serves every host.
func hostsOf(site *handler) []string {
	if site.server == nil {
		return nil
	}
	hosts, _ := hostsTo(site, site.server.Routes, nil)
	if len(hosts) == 0 {
		return site.server.Listen
	}
	return hosts
}

// addressesOf returns the addresses of a site, as a Caddyfile has them.
func addressesOf(site *handler) []string {
	if site.server == nil {
		return nil
	}
	hosts, _ := hostsTo(site, site.server.Routes, nil)
	return written.Addresses(site.server, hosts)
}

// hostsTo returns the hosts of the innermost route to a site that has any, outer if none has.
func hostsTo(site *handler, routes caddyhttp.RouteList, outer []string) (hosts []string, found bool) {
	for _, route := range routes {
		hosts := acceptedHosts(route.MatcherSets)
		if hosts == nil {
			hosts = outer
		}
		if slices.ContainsFunc(route.Handlers, site.serves) {
			return hosts, true
		}
		for _, handler := range route.Handlers {
			if hosts, found := hostsTo(site, routesBelow(handler), hosts); found {
				return hosts, true
			}
		}
	}
	return nil, false
}

// serves reports whether a handler of a route is the module that is served by h.
func (h *handler) serves(module caddyhttp.MiddlewareHandler) bool {
	gateway, ok := module.(*Handler)
	return ok && gateway.handler == h
}

// routesBelow returns the routes that a handler serves, nil for none.
func routesBelow(handler caddyhttp.MiddlewareHandler) caddyhttp.RouteList {
	switch handler := handler.(type) {
	case *caddyhttp.Subroute:
		return handler.Routes
	case *strayProbes:
		return handler.routes
	}
	return nil
}

// acceptedHosts returns the hosts that matchers accept, nil for all.
func acceptedHosts(sets caddyhttp.MatcherSets) (hosts []string) {
	for _, set := range sets {
		for _, matcher := range set {
			if accepted, ok := matcher.(*caddyhttp.MatchHost); ok {
				hosts = append(hosts, *accepted...)
			}
		}
	}
	return hosts
}
