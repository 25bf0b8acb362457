package gateway

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// mcpServers are the servers of the Model Context Protocol of a site.
type mcpServers []*mcp.Server

// newMCPServers prepares the servers of a site, which passes other paths on.
func newMCPServers(ctx caddy.Context, configs []*mcp.Config, passes passRoutes) (all mcpServers, err error) {
	for _, config := range configs {
		twice := slices.ContainsFunc(all, func(s *mcp.Server) bool { return s.Name == config.Name })
		taken := slices.ContainsFunc(passes, func(d passRoute) bool {
			return routes.IsBelow(mcp.Root, d.Root()) || routes.IsBelow(d.Root(), mcp.Root)
		})
		switch {
		case twice:
			return nil, fmt.Errorf("mcp '%s' is defined twice", config.Name)
		case taken:
			return nil, fmt.Errorf("mcp '%s': a line pass has the path %s", config.Name, mcp.Root)
		}
		server, err := mcp.Load(ctx, config)
		if err != nil {
			return nil, fmt.Errorf("mcp '%s': %w", config.Name, err)
		}
		all = append(all, server)
	}
	return all, nil
}

// own reports whether the path of a request is one of servers.
func (all mcpServers) own(r *http.Request) bool {
	return len(all) > 0 && aigateway.OwnsPath(r.URL.Path, func(path string) bool { return routes.IsBelow(path, mcp.Root) })
}

// route returns the route of a request to a server. ok is false for other requests.
func (all mcpServers) route(r *http.Request) (route routes.Route, ok bool) {
	return routes.Route{Kind: routes.MCP, Operation: translate.MCP, Format: wire.Format}, all.own(r)
}

// find returns the server of a path, nil if there is none.
func (all mcpServers) find(path string) *mcp.Server {
	i := slices.IndexFunc(all, func(s *mcp.Server) bool { return path == mcp.Root+"/"+s.Name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// serve passes a request to a site on to its server, and the answer to the client.
func (all mcpServers) serve(h *Handler, to *reply.Reply, r *http.Request) *fault.Fault {
	leave, refused := enter(h, to.Exchange, r)
	if refused != nil {
		return refused
	}
	defer leave()
	u := &mcpUse{Server: all.find(r.URL.EscapedPath()), h: h, to: to, r: r}
	for _, step := range [...]func() *fault.Fault{u.checkAccess, u.readMessage, u.openSession, u.checkMessage, u.admit, u.guard} {
		if refused := step(); refused != nil {
			return refused
		}
	}
	u.call()
	return nil
}

// mcpUse is the use of a server by one request.
type mcpUse struct {
	*mcp.Server
	h  *Handler
	to *reply.Reply
	r  *http.Request

	body    []byte
	message *wire.Message // nil for a request without a message
	session string        // of the server; "" for none

	checks            *guardrails.Checks // nil if no guard covers the request
	withoutParameters bool               // the server gets no headers that repeat arguments
	resumable         bool               // the stream of the answer has ids of events, with which the client can resume it
}

// name is the name of the server in records and metrics.
func (u *mcpUse) name() string { return aigateway.ServerPrefix + u.Name }

// modelOf returns the name of a tool among the names of models. What is no call of a tool has the name of a
// tool "", so that patterns for all tools of a server cover all requests for it, and those for some tools
// none but calls.
func (u *mcpUse) modelOf(tool string) string { return u.name() + "/" + tool }

// shows reports whether the client may see and use an element.
func (u *mcpUse) shows(e wire.Element) bool {
	return u.Shows(e) && u.to.Exchange.Key.AllowsTool(u.modelOf(e.String()))
}

// checkAccess refuses requests for servers that the client may not use, whatever is in them.
func (u *mcpUse) checkAccess() *fault.Fault {
	key := u.to.Exchange.Key
	switch {
	case u.Server == nil:
		return fault.MCPUnknownServer()
	case !key.AllowsServer(u.Name):
		return fault.MCPServerNotAllowed(u.Name)
	case u.h.CORS.Refuses(u.r):
		return fault.MCPOriginNotAllowed()
	case u.r.Method != http.MethodPost && !u.isOfSession():
		u.to.SetHeaders("Allow", http.MethodPost)
		return fault.WrongMethod(http.MethodPost)
	}
	u.to.Exchange.View.Model, u.to.Exchange.Covering = u.modelOf(""), u.name()
	return nil
}

// isOfSession reports whether a request without a message is for a session: it asks for the messages of
// the server, or ends the session. The later versions have none.
func (u *mcpUse) isOfSession() bool {
	switch {
	case u.r.Method != http.MethodGet && u.r.Method != http.MethodDelete, u.Era == mcp.Modern:
		return false
	}
	return u.Era == mcp.Legacy || u.r.Header.Get(wire.SessionHeader) != "" && !wire.IsStateless(u.r.Header.Get(wire.VersionHeader))
}

// readMessage reads the message of a request.
func (u *mcpUse) readMessage() (refused *fault.Fault) {
	if u.r.Method != http.MethodPost {
		return nil
	}
	if u.body, refused = request.Whole(u.r, u.MessageLimit()); refused != nil {
		return refused
	}
	u.message, refused = wire.Read(u.body)
	if u.message != nil && u.message.ID != nil {
		u.to.Exchange.Format = wire.FormatFor(u.message.ID)
	}
	if refused == nil {
		refused = u.message.Check(wire.Headers(u.r.Header))
	}
	return refused
}

// sessionKind is what sealed ids of sessions begin with.
const sessionKind = "mcp_"

// account is the account with which sessions of the server are.
func (u *mcpUse) account() seal.Account { return seal.AccountOf(u.name(), 0) }

// openSession opens the sealed id of a session. One of another client is as one that does not exist.
func (u *mcpUse) openSession() *fault.Fault {
	sealed := u.r.Header[wire.SessionHeader]
	if len(sealed) == 0 {
		return nil
	}
	account, id, ok := u.h.providers.Seals().IDs(u.to.Exchange.Owner()).Open(sessionKind, []byte(sealed[0]))
	if !ok || len(sealed) > 1 || account != u.account() {
		return fault.MCPUnknownSession()
	}
	u.session = string(id)
	return nil
}

// checkMessage refuses messages that use what the client may not use.
func (u *mcpUse) checkMessage() *fault.Fault {
	if u.message == nil {
		return nil
	}
	for _, e := range u.message.Uses {
		if !u.shows(e) {
			return fault.MCPNotAllowed()
		}
	}
	if u.message.IsCall() {
		tool, ex := u.message.Uses[0], u.to.Exchange
		ex.View.Model = u.modelOf(tool.Name)
		ex.View.Costs.Fixed = u.PriceOf(tool.Name)
	}
	return nil
}

// admit admits what asks for an answer in the limits of the key, and begins its record. A message that
// gets no answer follows one that was admitted.
func (u *mcpUse) admit() *fault.Fault {
	if refused := u.h.Names.Apply(u.to.Exchange); refused != nil {
		return refused
	}
	if u.message != nil && !u.message.IsRequest() || u.r.Method == http.MethodDelete {
		return nil
	}
	_, refused := u.h.admit(u.to, u.r, nil)
	return refused
}

// tool returns the name of the tool that is called, or else the method of the message.
func (u *mcpUse) tool() string {
	switch {
	case u.message == nil:
		return strings.ToLower(u.r.Method)
	case u.message.IsCall():
		return u.message.Uses[0].Name
	}
	return cmp.Or(u.message.Method, "response")
}
