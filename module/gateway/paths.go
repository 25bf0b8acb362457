package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

func init() { caddy.RegisterModule(MatchPaths{}) }

// PathRoots returns the beginnings of all paths of the gateway: whole segments, without a slash
// at the end.
func PathRoots() []string { return slices.Clone(pathRoots) }

var pathRoots = slices.Concat(
	[]string{livePath, readyPath, "/v1"}, versions(),
	[]string{"/api/v1", "/api/user", "/api/token", "/api/usage/token", "/api/openapi.json", "/console", "/dashboard/billing"},
)

// SiteRoots returns the beginnings of paths that only some sites have: those of servers of tools, and of the
// sign-in of agents with the page to which a person goes.
func SiteRoots() []string {
	return append(slices.Clone(routes.AgentRoots), "/device", mcp.Root, mcp.ResourceRoot+mcp.Root)
}

// versions returns the beginnings of paths that formats have beside /v1.
func versions() (all []string) {
	for _, f := range formats.All() {
		all = append(all, f.Client.Versions...)
		for _, o := range f.Objects.Paths {
			if strings.HasPrefix(o.Path, "/v1") {
				continue
			}
			collection, _, _ := strings.Cut(o.Path, "/{")
			for _, version := range f.Client.Versions {
				all = append(all, strings.Replace(collection, f.Client.Versions[0], version, 1))
			}
		}
		for _, r := range f.Client.Refusals {
			if !strings.HasPrefix(r.Path, "/v1") {
				all = append(all, r.Path)
			}
		}
	}
	return all
}

// MatchPaths matches the requests with a path of the gateway, in every spelling that the gateway
// accepts, so that a site need not list the paths. It does not depend on the options of a site:
// it matches the paths of accounts where they are off, too, and those that any site passes on.
type MatchPaths struct{ app *app }

// CaddyModule returns the module of the matcher.
func (MatchPaths) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers.ai_gateway_paths", New: func() caddy.Module { return new(MatchPaths) }}
}

// UnmarshalCaddyfile reads the matcher. Syntax:
//
//	ai_gateway_paths
func (*MatchPaths) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		if d.NextArg() {
			return d.Err("ai_gateway_paths has no arguments: it matches all paths of the gateway")
		}
		if d.NextBlock(d.Nesting()) {
			return d.Err("ai_gateway_paths has no block: it matches all paths of the gateway")
		}
	}
	return nil
}

// Provision finds the sites, whose configurations may have further paths.
func (m *MatchPaths) Provision(ctx caddy.Context) error {
	app, err := ctx.App("ai_gateway")
	if err != nil {
		return fmt.Errorf("loading global option ai_gateway: %w", err)
	}
	m.app = app.(*App).app
	return nil
}

// MatchWithError implements caddyhttp.RequestMatcherWithError.
func (m MatchPaths) MatchWithError(r *http.Request) (bool, error) {
	if m.app != nil && slices.ContainsFunc(m.app.sites, func(site *handler) bool { return hasPath(site, r) }) {
		return true, nil
	}
	return aigateway.OwnsPath(r.URL.Path, func(sent string) bool {
		return slices.ContainsFunc(pathRoots, func(root string) bool { return routes.IsBelow(sent, root) })
	}), nil
}

// hasPath reports whether the path of a request is one that the configuration of a site adds: one that it
// passes on, one of its MCP servers, or one of its accounts, such as those of the sign-in of agents.
func hasPath(site *handler, r *http.Request) bool {
	d, _ := site.passes.find(r)
	return d != nil ||
		site.resolved != nil && (site.resolved.servers.Own(r) || site.resolved.servers.HasResource(r.URL.Path)) ||
		site.backends != nil && site.backends.Accounts != nil && site.backends.Accounts.Serves(r)
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchPaths)(nil)
	_ caddyfile.Unmarshaler             = (*MatchPaths)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchPaths)(nil)
)
