package state

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// servers returns the servers of the Model Context Protocol of all sites, each once.
func (s Sites) servers() (all []*mcp.Server) {
	for _, site := range s.All() {
		for _, server := range site.Servers {
			same := func(other *mcp.Server) bool {
				return other.Name() == server.Name() && other.Config.Address == server.Config.Address
			}
			if !slices.ContainsFunc(all, same) {
				all = append(all, server)
			}
		}
	}
	return all
}

// MCPServers returns the servers of the Model Context Protocol, and the tools of each that wait for acceptance.
func (s Sites) MCPServers(url.Values) (any, error) {
	list := []api.MCPServer{}
	for _, server := range s.servers() {
		known, changed, err := server.Pinned()
		if err != nil {
			return nil, caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
		}
		list = append(list, api.MCPServer{
			Name: server.Name(), Era: cmp.Or(server.Config.Era, mcp.Auto), Pin: server.Config.Pin, Tools: known, Changed: append([]string{}, changed...),
		})
	}
	return api.List(list), nil
}

// AcceptTools accepts the changed definitions of the tools of a server ("server"), or of one of them ("tool").
func (s Sites) AcceptTools(query url.Values, audit func(aigateway.AuditEntry) error) (any, error) {
	name, tool := query.Get("server"), query.Get("tool")
	servers := slices.DeleteFunc(s.servers(), func(server *mcp.Server) bool { return server.Name() != name })
	if len(servers) == 0 {
		return nil, caddy.APIError{HTTPStatus: http.StatusNotFound, Err: fmt.Errorf("there is no MCP server '%s'", name)}
	}
	if err := audit(aigateway.AuditEntry{Action: "mcp.accept", Object: "mcp/" + name + "/" + tool}); err != nil {
		return nil, caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
	}
	answer := api.Accepted{Accepted: []string{}}
	for _, server := range servers {
		accepted, err := server.Accept(tool)
		if err != nil {
			return nil, caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
		}
		answer.Accepted = append(answer.Accepted, accepted...)
	}
	return answer, nil
}
