// Package endpoint answers requests for servers of the Model Context Protocol: those for one server at
// /mcp/<name>, and those for all servers at once at /mcp.
//
// It promises that a client sees and uses only what the server and its key allow, that a message reaches a
// server as it was checked, and that each message to a server is an exchange of its own, with limits,
// guards and a record.
package endpoint

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/cors"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/labels"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Site is what servers use of the site that they belong to.
type Site struct {
	Logger    *zap.Logger
	Seals     func() *seal.Ring
	Guards    guardrails.Guards
	Drain     *drain.Drain
	Names     *labels.Names
	CORS      cors.Origins
	Deadline  time.Duration // of an exchange; 0 for none
	PublicURL string        // "" for the address of each request
	Issuers   []string      // whose tokens are keys of the site

	// Enter lets an exchange run. leave is called when it has ended. If leave is nil, the exchange may not run:
	// refused is the reason, nil if the client has left.
	Enter func(*reply.Reply, *http.Request) (leave func(), refused *fault.Fault)
	// Admit admits an exchange in the limits of its key, and begins its record.
	Admit func(*reply.Reply, *http.Request) *fault.Fault
	// Within serves an exchange that is a part of another one, and writes its answer to w.
	Within func(whole *exchange.Exchange, w http.ResponseWriter, r *http.Request, serve func(*reply.Reply) *fault.Fault)
}

// Servers are the servers of a site. Nil has none.
type Servers struct {
	Site
	all []*mcp.Server
}

// New prepares the servers of a site, nil without any. taken are the paths that the site passes on.
func New(ctx caddy.Context, site Site, configs []*mcp.Config, taken []string) (*Servers, error) {
	s := &Servers{Site: site}
	for _, config := range configs {
		twice := slices.ContainsFunc(s.all, func(other *mcp.Server) bool { return other.Name() == config.Name })
		passed := slices.ContainsFunc(taken, func(root string) bool { return routes.IsBelow(mcp.Root, root) || routes.IsBelow(root, mcp.Root) })
		switch {
		case twice:
			return nil, fmt.Errorf("mcp '%s' is defined twice", config.Name)
		case passed:
			return nil, fmt.Errorf("mcp '%s': a line pass has the path %s", config.Name, mcp.Root)
		}
		server, err := mcp.Load(ctx, config)
		if err != nil {
			return nil, fmt.Errorf("mcp '%s': %w", config.Name, err)
		}
		s.all = append(s.all, server)
	}
	if len(s.all) == 0 {
		return nil, nil
	}
	return s, nil
}

// All returns the servers.
func (s *Servers) All() []*mcp.Server {
	if s == nil {
		return nil
	}
	return s.all
}

// AllowedTo returns the servers that a key may use.
func (s *Servers) AllowedTo(key *aigateway.Key) (allowed []*mcp.Server) {
	for _, server := range s.All() {
		if key.AllowsServer(server.Name()) {
			allowed = append(allowed, server)
		}
	}
	return allowed
}

// Own reports whether the path of a request is one of servers.
func (s *Servers) Own(r *http.Request) bool {
	return s != nil && aigateway.OwnsPath(r.URL.Path, func(path string) bool { return routes.IsBelow(path, mcp.Root) })
}

// Route returns the route of a request to servers. ok is false for other requests.
func (s *Servers) Route(r *http.Request) (route routes.Route, ok bool) {
	return routes.Route{Kind: routes.MCP, Operation: translate.MCP, Format: wire.Format}, s.Own(r)
}

// named returns the server of a name, nil if there is none.
func (s *Servers) named(name string) *mcp.Server {
	i := slices.IndexFunc(s.all, func(server *mcp.Server) bool { return name == server.Name() })
	if i < 0 {
		return nil
	}
	return s.all[i]
}

// find returns the server of a path, nil if there is none.
func (s *Servers) find(path string) *mcp.Server {
	name, ok := strings.CutPrefix(path, mcp.Root+"/")
	if !ok {
		return nil
	}
	return s.named(name)
}

// Serve answers a request of a client whose key is known.
func (s *Servers) Serve(answer *reply.Reply, r *http.Request) *fault.Fault {
	if s.CORS.Refuses(r) {
		return fault.MCPOriginNotAllowed()
	}
	if r.URL.Path == mcp.Root {
		return (&union{servers: s, answer: answer, r: r, allowed: s.AllowedTo(answer.Exchange.Key)}).serve()
	}
	server := s.find(r.URL.EscapedPath())
	if server == nil {
		return fault.MCPUnknownServer()
	}
	u := &use{server: server, site: &s.Site, answer: answer, r: r}
	return u.serve(u.readMessage, u.checkAccess, u.openSession)
}
