package gateway

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// resourceRoot is the path below which the metadata of resources are, in front of the path of the
// resource (RFC 9728).
const resourceRoot = "/.well-known/oauth-protected-resource"

// signIns are the paths at which, and below which, clients look for documents about a sign-in.
var signIns = []string{resourceRoot, "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"}

// routeUnanswered returns the route of a request that no handler of the site has answered: for a document
// about a sign-in, which there is not. Clients fail at the empty 200 of Caddy.
func (all mcpServers) routeUnanswered(r *http.Request) (route routes.Route) {
	if len(all) > 0 && slices.ContainsFunc(signIns, func(root string) bool { return routes.IsBelow(r.URL.Path, root) }) {
		route = routes.Route{Kind: routes.Unknown, Format: wire.Format, Keyless: true, Fault: fault.MCPNoSignIn()}
	}
	return route
}

// issuersOf returns the issuers whose tokens are keys of the site.
func issuersOf(h *Handler) (all []string) {
	for _, source := range h.resolved.sources {
		if issued, ok := source.(aigateway.IssuedSource); ok {
			all = append(all, issued.IssuedBy())
		}
	}
	return all
}

// hasResource reports whether a path is of the metadata of a server of tools. Without tokens there are none:
// a client would begin a sign-in that cannot end.
func hasResource(h *Handler, path string) bool {
	below, ok := strings.CutPrefix(path, resourceRoot)
	return ok && h.resolved.servers.find(below) != nil && len(issuersOf(h)) > 0
}

// serveResource answers a request for the metadata of a server of tools, from which a client learns where
// it gets a token. It returns false for other requests.
func serveResource(h *Handler, w http.ResponseWriter, r *http.Request) bool {
	if len(h.resolved.servers) == 0 || r.Method != http.MethodGet || !hasResource(h, r.URL.Path) {
		return false
	}
	body := jsonscan.AppendString([]byte(`{"resource":`), publicAddress(h, r)+strings.TrimPrefix(r.URL.Path, resourceRoot))
	for i, issuer := range slices.Compact(slices.Sorted(slices.Values(issuersOf(h)))) {
		begin := `,"authorization_servers":[`
		if i > 0 {
			begin = ","
		}
		body = jsonscan.AppendString(append(body, begin...), issuer)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*") // as of all public documents
	_, _ = w.Write(append(body, `],"bearer_methods_supported":["header"]}`...))
	return true
}

// publicAddress returns the address by which the client of a request reaches the gateway.
func publicAddress(h *Handler, r *http.Request) string {
	if h.PublicURL != "" {
		return strings.TrimSuffix(h.PublicURL, "/")
	}
	scheme := "https"
	if r.TLS == nil {
		scheme = "http"
	}
	return scheme + "://" + r.Host + aigateway.PathPrefix(r)
}

// challengeOf returns the challenge of a request to a server of tools without a key, "" for the usual one.
func challengeOf(h *Handler, r *http.Request) string {
	if !strings.HasPrefix(r.URL.Path, mcp.Root+"/") || !hasResource(h, resourceRoot+r.URL.Path) {
		return ""
	}
	return aigateway.Challenge + `, resource_metadata="` + publicAddress(h, r) + resourceRoot + r.URL.Path + `"`
}
