package gateway

import (
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp/endpoint"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// newMCPServers prepares the servers of the Model Context Protocol of a site, nil without any.
func newMCPServers(ctx caddy.Context, h *handler) (*endpoint.Servers, error) {
	var taken []string
	for _, d := range h.passes {
		taken = append(taken, d.Root())
	}
	return endpoint.New(ctx, endpoint.Site{
		Logger: h.logger, Seals: h.providers.Seals, Guards: h.resolved.guards, Drain: h.drain,
		Names: &h.config.Names, CORS: h.config.CORS,
		Deadline: time.Duration(h.config.Deadline), PublicURL: h.config.PublicURL, Issuers: issuersOf(h.resolved),
		Enter: func(answer *reply.Reply, r *http.Request) (func(), *fault.Fault) { return enter(h, answer, r) },
		Admit: func(answer *reply.Reply, r *http.Request) *fault.Fault {
			_, refused := h.admit(answer, r, nil)
			return refused
		},
		Within: func(whole *exchange.Exchange, w http.ResponseWriter, r *http.Request, serve func(*reply.Reply) *fault.Fault) {
			serveWithin(h, whole, w, r, serve)
		},
	}, h.config.MCP, taken)
}

// issuersOf returns the issuers whose tokens are keys of a site, sorted and each once.
func issuersOf(site *resolved) (all []string) {
	for _, source := range site.sources {
		if issued, ok := source.(aigateway.IssuedSource); ok {
			all = append(all, issued.IssuedBy())
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// serveWithin serves an exchange that is a part of another one of the same client, and writes its answer to w.
func serveWithin(h *handler, whole *exchange.Exchange, w http.ResponseWriter, r *http.Request, serve func(*reply.Reply) *fault.Fault) {
	ex := newExchange(r, &routes.Route{Operation: translate.MCP, Format: whole.Request.Format})
	ex.Key = whole.Key
	observe.Begin(ex)
	answer := reply.New(w, ex)
	h.drain.Enter()
	defer h.drain.Leave()
	defer answer.Close(false) // for the case that settle panics
	defer h.settle(ex, answer, r)
	if refused := serve(answer); refused != nil {
		answer.Fail(refused)
	}
}

const (
	// mcpPath is the path of the admin API that shows the servers of the Model Context Protocol.
	mcpPath = adminPath + "mcp"
	// acceptPath is the one that accepts the changed definitions of their tools.
	acceptPath = mcpPath + "/accept"
)

// acceptTools accepts the changed definitions of the tools of a server, or of one of them.
func acceptTools(a *app, w http.ResponseWriter, r *http.Request) error {
	accepted, err := a.stateOf(nil).AcceptTools(r.URL.Query(), func(row aigateway.AuditEntry) error {
		for _, same := range a.byDatabase() {
			if err := audit(r, same[0].Store, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeAdmin(w, accepted)
}
