package endpoint

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// signIns are the paths at which, and below which, clients look for documents about a sign-in.
var signIns = []string{mcp.ResourceRoot, "/.well-known/openid-configuration"}

// RouteUnanswered returns the route of a request that no handler of the site has answered: for a document
// about a sign-in, which there is not. Clients fail at the empty 200 of Caddy.
func (s *Servers) RouteUnanswered(r *http.Request) (route routes.Route) {
	if s != nil && slices.ContainsFunc(signIns, func(root string) bool { return routes.IsBelow(r.URL.Path, root) }) {
		route = routes.Route{Kind: routes.Unknown, Format: wire.Format, Keyless: true, Fault: fault.MCPNoSignIn()}
	}
	return route
}

// HasResource reports whether a path is of the metadata of servers. Without tokens there are none: a client
// would begin a sign-in that cannot end.
func (s *Servers) HasResource(path string) bool {
	server, ok := strings.CutPrefix(path, mcp.ResourceRoot)
	return ok && s != nil && len(s.Issuers) > 0 && (server == mcp.Root || s.find(server) != nil)
}

// ServeResource answers a request for the metadata of servers, from which a client learns where it gets a
// token. It returns false for other requests.
func (s *Servers) ServeResource(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || !s.HasResource(r.URL.Path) {
		return false
	}
	body := jsonscan.AppendString([]byte(`{"resource":`), s.publicAddress(r)+strings.TrimPrefix(r.URL.Path, mcp.ResourceRoot))
	for i, issuer := range s.Issuers {
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
func (s *Servers) publicAddress(r *http.Request) string {
	if s.PublicURL != "" {
		return strings.TrimSuffix(s.PublicURL, "/")
	}
	scheme := "https"
	if r.TLS == nil {
		scheme = "http"
	}
	return scheme + "://" + r.Host + aigateway.PathPrefix(r)
}

// Challenge returns the challenge of a request to servers without a key, "" for the usual one.
func (s *Servers) Challenge(r *http.Request) string {
	if !s.Own(r) || !s.HasResource(mcp.ResourceRoot+r.URL.Path) {
		return ""
	}
	return aigateway.Challenge + `, resource_metadata="` + s.publicAddress(r) + mcp.ResourceRoot + r.URL.Path + `"`
}
