package endpoint

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// union is the use of all servers by one request, as if they were one.
type union struct {
	servers *Servers
	answer  *reply.Reply
	r       *http.Request

	allowed  []*mcp.Server // those that the key may use
	body     []byte
	message  *wire.Message       // nil for a request without a message
	sessions map[string]*session // by server; nil without a session
}

// serve answers the request.
func (u *union) serve() *fault.Fault {
	for _, step := range [...]func() *fault.Fault{u.readMessage, u.checkAccess, u.openSessions} {
		if refused := step(); refused != nil {
			return refused
		}
	}
	switch m := u.message; {
	case m == nil:
		u.ask(u.participants(), same(nil))
		sink.Accept(&u.answer.Sink)
	case !m.IsRequest():
		return u.notify()
	case len(m.Uses) == 1 && !m.IsSubscription():
		return u.useOne()
	case len(m.Uses) > 1:
		return fault.InvalidField("params", "must name one prompt or resource")
	case m.Method == "ping":
		u.answer.WriteJSON(m.Empty())
	case m.Method == "initialize":
		return u.initialize()
	case m.Method == "server/discover":
		return u.discover()
	case strings.HasSuffix(m.Method, "/list"):
		return u.list()
	default:
		return fault.MCPUnknownMethod()
	}
	return nil
}

// checkAccess refuses requests of clients that may use no server, and those that are neither a message nor
// the end of a session.
func (u *union) checkAccess() *fault.Fault {
	switch {
	case len(u.allowed) == 0:
		return u.refuse(fault.MCPNoServerAllowed())
	case u.r.Method == http.MethodDelete && u.r.Header.Get(wire.SessionHeader) != "":
		return nil
	case u.r.Method != http.MethodPost:
		u.answer.SetHeaders("Allow", http.MethodPost)
		return fault.WrongMethod(http.MethodPost)
	}
	return nil
}

// refuse refuses the request because of what it uses.
func (u *union) refuse(why *fault.Fault) *fault.Fault {
	x := refusal{message: u.message, why: why}
	if m := u.message; m != nil && len(m.Uses) > 0 {
		x.server, x.element = m.Uses[0].Split()
		if !m.IsCall() && u.servers.named(x.server) == nil { // a part of the address of a resource
			x.server = ""
		}
	}
	return x.report(&u.servers.Site, u.answer, u.r)
}

// readMessage reads the message of the request, also of a client that may use no server: the report of its
// refusal has the method and the tool.
func (u *union) readMessage() (refused *fault.Fault) {
	if u.r.Method != http.MethodPost {
		return nil
	}
	servers := u.allowed
	if len(servers) == 0 {
		servers = u.servers.all
	}
	var limit int64
	for _, server := range servers {
		limit = max(limit, server.MessageLimit())
	}
	u.body, u.message, refused = readMessage(u.answer.Exchange, u.r, limit)
	return refused
}

// readMessage reads the message of a request of at most limit bytes. Answers then have its id.
func readMessage(ex *exchange.Exchange, r *http.Request, limit int64) (body []byte, m *wire.Message, refused *fault.Fault) {
	if body, refused = request.Whole(r, limit); refused != nil {
		return nil, nil, refused
	}
	m, refused = wire.Read(body)
	if m != nil && m.ID != nil {
		ex.Request.Format = wire.FormatFor(m.ID)
	}
	if refused == nil {
		refused = m.Check(wire.Headers(r.Header))
	}
	return body, m, refused
}

// participants returns the servers of the session; without one, all that may have the version of the message.
func (u *union) participants() []*mcp.Server {
	excluded := mcp.Modern // the servers of this era do not have the version
	if u.message != nil && wire.IsStateless(u.message.Version) {
		excluded = mcp.Legacy
	}
	return slices.DeleteFunc(slices.Clone(u.allowed), func(s *mcp.Server) bool {
		return s.Config.Era == excluded || u.sessions != nil && u.sessions[s.Name()] == nil
	})
}

// notify takes a message that gets no answer. The servers know of the session already; what else they could
// learn is the end of a request, whose server is not known.
func (u *union) notify() *fault.Fault {
	if u.message.Method == "notifications/cancelled" && u.sessions != nil {
		u.ask(u.participants(), same(u.body))
	}
	sink.Accept(&u.answer.Sink)
	return nil
}

// useOne passes a message on to the server whose element it uses.
func (u *union) useOne() *fault.Fault {
	name, element := u.message.Uses[0].Split()
	server := u.servers.named(name)
	if server == nil || !slices.Contains(u.allowed, server) {
		return u.refuse(fault.MCPNotAllowed())
	}
	one := &use{server: server, site: &u.servers.Site, answer: u.answer, r: u.r, joined: true}
	if u.sessions != nil {
		s := u.sessions[name]
		if s == nil {
			return fault.MCPServerAbsent(name)
		}
		one.session = *s
	}
	if int64(len(u.body)) > server.MessageLimit() {
		return fault.BodyTooLarge(server.MessageLimit())
	}
	one.body = u.message.WithName(u.body, element)
	message, refused := wire.Read(one.body)
	if refused != nil {
		return refused
	}
	one.message = message
	one.nameExchange()
	return one.serve()
}
