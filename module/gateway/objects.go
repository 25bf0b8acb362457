package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// objectPatience is the longest time for a request about a stored object.
const objectPatience = time.Minute

// errNoAddress is why a query has neither an answer nor a fault: reverse_proxy has called nothing.
var errNoAddress = errors.New("no address of the provider is available")

// serveObject answers a request about an object that a provider stores: it asks the account that
// the sealed id contains. Every id that does not open gets the same answer, so that a client does
// not learn which objects exist.
func (h *Handler) serveObject(to *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	q, refused := h.objectQuery(to.Exchange, r, route)
	if refused == nil {
		_, refused = h.admit(to, r, nil)
	}
	if refused != nil {
		return refused
	}
	ctx, cancel := context.WithTimeout(r.Context(), objectPatience)
	defer cancel()
	h.resolved.catalog.CallerOf(q.Attempt.Provider).Query(exchange.WithObjectQuery(ctx, q))
	switch {
	case q.Result.Fault != nil:
		to.RelayError(&q.Result)
		return nil
	case q.Body == nil:
		return fault.Unreachable(errNoAddress)
	}
	to.WriteJSON(q.Body)
	return nil
}

// objectQuery returns the query for the object of a route, or why there is none. It refuses what
// guards would have to check: only DELETE shows no content.
func (h *Handler) objectQuery(ex *exchange.Exchange, r *http.Request, route *routes.Route) (*exchange.ObjectQuery, *fault.Fault) {
	if !h.resolved.catalog.SealsObjects() {
		return nil, fault.NotKept()
	}
	objects, account, id, ok := exchange.OpenObject(h.providers.Seals().IDs(ex.Owner()), route.Object.Kind, route.Object.ID)
	provider, apiKey := h.resolved.catalog.Holder(account)
	guard := h.resolved.guards.Hiding(ex.Key.ID)
	_, behind, _ := strings.Cut(route.Object.Path, format.ObjectPlaceholder)
	switch {
	case !ok || provider == nil:
		return nil, fault.NoObject("", observe.Clip(route.Object.ID))
	case guard != "" && route.Object.Method != http.MethodDelete:
		return nil, fault.ReferenceBlocked(guard, "path")
	case r.Method == http.MethodGet && behind == "" && r.URL.Query().Get("stream") == "true":
		return nil, fault.InvalidField("stream", "must be false: this gateway resumes no streams")
	}
	ex.Objects = objects
	return &exchange.ObjectQuery{
		Attempt: &exchange.Attempt{
			Exchange: ex, Provider: provider.Name, Service: provider.Preset, Format: route.Format, APIKey: apiKey,
			Traits: provider.Traits(),
		},
		Method: route.Object.Method, Path: "/" + url.PathEscape(id) + behind, Query: queryOf(r, route.Object.Query),
	}, nil
}

// queryOf returns the named parameters of the query of a request.
func queryOf(r *http.Request, names []string) string {
	kept := make(url.Values)
	for _, name := range names {
		if values, ok := r.URL.Query()[name]; ok {
			kept[name] = values
		}
	}
	return kept.Encode()
}
