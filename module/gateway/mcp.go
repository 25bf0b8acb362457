package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp/endpoint"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// newMCPServers prepares the servers of the Model Context Protocol of a site, nil without any.
func newMCPServers(ctx caddy.Context, h *Handler) (*endpoint.Servers, error) {
	var taken []string
	for _, d := range h.passes {
		taken = append(taken, d.Root())
	}
	return endpoint.New(ctx, endpoint.Site{
		Logger: h.logger, Seals: h.providers.Seals, Guards: h.resolved.guards, Drain: h.drain, Names: &h.Names, CORS: h.CORS,
		Deadline: time.Duration(h.Deadline), PublicURL: h.PublicURL, Issuers: issuersOf(h.resolved),
		Enter: func(ex *exchange.Exchange, r *http.Request) (func(), *fault.Fault) { return enter(h, ex, r) },
		Admit: func(to *reply.Reply, r *http.Request) *fault.Fault {
			_, refused := h.admit(to, r, nil)
			return refused
		},
		Within: func(whole *exchange.Exchange, w http.ResponseWriter, r *http.Request, serve func(*reply.Reply) *fault.Fault) {
			serveWithin(h, whole, w, r, serve)
		},
	}, h.MCP, taken)
}

// issuersOf returns the issuers whose tokens are keys of a site, in their order and each once.
func issuersOf(site *resolved) (all []string) {
	for _, source := range site.sources {
		if issued, ok := source.(aigateway.IssuedSource); ok {
			all = append(all, issued.IssuedBy())
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// serveWithin serves an exchange that is a part of another one of the same client, and writes its answer to w.
func serveWithin(h *Handler, whole *exchange.Exchange, w http.ResponseWriter, r *http.Request, serve func(*reply.Reply) *fault.Fault) {
	ex := newExchange(r, &routes.Route{Operation: translate.MCP, Format: whole.Format})
	ex.Key = whole.Key
	observe.Begin(ex)
	to := reply.New(w, ex)
	h.drain.Enter()
	defer h.drain.Leave()
	defer to.Close(false) // for the case that settle panics
	defer h.settle(ex, to, r)
	if refused := serve(to); refused != nil {
		to.Fail(refused)
	}
}

const (
	// mcpPath is the path of the admin API that shows the servers of the Model Context Protocol.
	mcpPath = adminPath + "mcp"
	// acceptPath is the one that accepts the changed definitions of their tools.
	acceptPath = mcpPath + "/accept"
)

// mcpServers returns the servers of all sites, each once.
func mcpServers(a *App) (all []*mcp.Server) {
	for _, site := range a.sites {
		for _, server := range site.resolved.servers.All() {
			same := func(other *mcp.Server) bool { return other.Name == server.Name && other.To == server.To }
			if !slices.ContainsFunc(all, same) {
				all = append(all, server)
			}
		}
	}
	return all
}

// showMCPServers answers with the servers of all sites, and the tools of each that wait for acceptance.
func showMCPServers(a *App, w http.ResponseWriter, _ *http.Request) error {
	list := []api.MCPServer{}
	for _, server := range mcpServers(a) {
		changed, err := server.Changed()
		if err != nil {
			return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
		}
		list = append(list, api.MCPServer{Name: server.Name, Pin: server.Pin, Changed: append([]string{}, changed...)})
	}
	return writeAdmin(w, api.List(list))
}

// acceptTools accepts the changed definitions of the tools of a server, or of one of them.
func acceptTools(a *App, w http.ResponseWriter, r *http.Request) error {
	name, tool := r.URL.Query().Get("server"), r.URL.Query().Get("tool")
	answer, found := api.Accepted{Accepted: []string{}}, false
	for _, server := range mcpServers(a) {
		if server.Name != name {
			continue
		}
		found = true
		for _, same := range a.byDatabase() {
			if err := audit(r, same[0].Store, aigateway.AuditEntry{Action: "mcp.accept", Object: "mcp/" + name + "/" + tool}); err != nil {
				return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
			}
		}
		accepted, err := server.Accept(tool)
		if err != nil {
			return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
		}
		answer.Accepted = append(answer.Accepted, accepted...)
	}
	if !found {
		return caddy.APIError{HTTPStatus: http.StatusNotFound, Err: fmt.Errorf("there is no MCP server '%s'", name)}
	}
	return writeAdmin(w, answer)
}
