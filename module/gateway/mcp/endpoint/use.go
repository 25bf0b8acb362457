package endpoint

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// use is the use of a server by one request.
type use struct {
	*mcp.Server
	*Site
	answer *reply.Reply
	r      *http.Request

	body    []byte
	message *wire.Message // nil for a request without a message
	session session
	joined  bool   // the client uses the server as one of all, whose names begin with that of their server
	asked   *asked // the answer, of which the client gets a part; nil for an answer of its own

	checks            *guardrails.Checks // nil if no guard covers the request
	withoutParameters bool               // the server gets no headers that repeat arguments
	resumable         bool               // the stream of the answer has ids of events, with which the client can resume it
}

// session is a session of a server.
type session struct {
	id      string // "" for none
	version string // of the protocol, in place of that of the client; "" for the same
}

// serve serves the request, unless a step refuses it. Further steps begin it.
func (u *use) serve(steps ...func() *fault.Fault) *fault.Fault {
	leave, refused := u.Enter(u.answer, u.r)
	if leave == nil {
		return refused
	}
	defer leave()
	for _, step := range append(steps, u.checkMessage, u.admit, u.guard) {
		if refused := step(); refused != nil {
			return refused
		}
	}
	u.call()
	return nil
}

// nameOf returns the name of a server in records and metrics.
func nameOf(s *mcp.Server) string { return aigateway.ServerPrefix + s.Name }

// modelOf returns the name of a tool among the names of models. What is no call of a tool has the name of a
// tool "", so that patterns for all tools of a server cover all requests for it, and those for some tools
// none but calls.
func (u *use) modelOf(tool string) string { return modelOf(u.Name, tool) }

func modelOf(server, tool string) string { return aigateway.ServerPrefix + server + "/" + tool }

// shows reports whether the client may see and use an element.
func (u *use) shows(e wire.Element) bool {
	return u.Shows(e) && u.answer.Exchange.Key.AllowsTool(u.modelOf(e.String()))
}

// checkAccess refuses requests for a server that the client may not use, whatever is in them.
func (u *use) checkAccess() *fault.Fault {
	switch {
	case !u.answer.Exchange.Key.AllowsServer(u.Name):
		return u.refuse(fault.MCPServerNotAllowed(u.Name))
	case u.r.Method != http.MethodPost && !u.isOfSession():
		u.answer.SetHeaders("Allow", http.MethodPost)
		return fault.WrongMethod(http.MethodPost)
	}
	u.nameExchange()
	return nil
}

// nameExchange names the server in the exchange.
func (u *use) nameExchange() {
	u.answer.Exchange.Request.View.Model, u.answer.Exchange.Covering = u.modelOf(""), nameOf(u.Server)
}

// isOfSession reports whether a request without a message is for a session: it asks for the messages of
// the server, or ends the session. The later versions have none.
func (u *use) isOfSession() bool {
	return (u.r.Method == http.MethodGet || u.r.Method == http.MethodDelete) && u.hasSession()
}

// hasSession reports whether the client may have a session, and asks for the messages of the server with GET.
func (u *use) hasSession() bool {
	return u.Era != mcp.Modern && (u.Era == mcp.Legacy || u.r.Header.Get(wire.SessionHeader) != "" && !wire.IsStateless(u.r.Header.Get(wire.VersionHeader)))
}

// readMessage reads the message of a request.
func (u *use) readMessage() (refused *fault.Fault) {
	if u.r.Method != http.MethodPost {
		return nil
	}
	u.body, u.message, refused = readMessage(u.answer.Exchange, u.r, u.MessageLimit())
	return refused
}

// sessionKind is what sealed ids of sessions begin with.
const sessionKind = "mcp_"

// openSession opens the sealed id of a session. One of another client is as one that does not exist.
func (u *use) openSession() *fault.Fault {
	sealed := u.r.Header[wire.SessionHeader]
	if len(sealed) == 0 {
		return nil
	}
	account, id, ok := u.Seals().IDs(u.answer.Exchange.Owner()).Open(sessionKind, []byte(sealed[0]))
	if !ok || len(sealed) > 1 || account != accountOf(u.Server) {
		return fault.MCPUnknownSession()
	}
	u.session.id = string(id)
	return nil
}

// checkMessage refuses messages that use what the client may not use.
func (u *use) checkMessage() *fault.Fault {
	if u.message == nil {
		return nil
	}
	for _, e := range u.message.Uses {
		if !u.shows(e) {
			return u.refuse(fault.MCPNotAllowed())
		}
	}
	if u.message.IsCall() {
		tool, ex := u.message.Uses[0], u.answer.Exchange
		if !u.Callable(tool.Name) {
			return u.refuse(fault.MCPToolChanged())
		}
		ex.Request.View.Model = u.modelOf(tool.Name)
		ex.Request.View.Costs.Fixed = u.PriceOf(tool.Name)
	}
	return nil
}

// refuse refuses the request because of what it uses.
func (u *use) refuse(why *fault.Fault) *fault.Fault {
	x := refusal{server: u.Name, message: u.message, why: why}
	if m := u.message; m != nil && len(m.Uses) > 0 {
		x.element = m.Uses[0].Name
	}
	return x.report(u.Site, u.answer, u.r)
}

// admit admits what asks for an answer in the limits of the key, and begins its record. A message that
// gets no answer follows one that was admitted.
func (u *use) admit() *fault.Fault {
	if refused := u.Names.Apply(u.answer.Exchange); refused != nil {
		return refused
	}
	if u.message != nil && !u.message.IsRequest() || u.r.Method == http.MethodDelete {
		return nil
	}
	return u.Admit(u.answer, u.r)
}

// tool returns the name of the tool that is called, or else the method of the message.
func (u *use) tool() string {
	if u.message != nil && u.message.IsCall() {
		return u.message.Uses[0].Name
	}
	return methodOf(u.message, u.r)
}

// methodOf returns the method of a message, or else that of its request.
func methodOf(m *wire.Message, r *http.Request) string {
	if m == nil {
		return strings.ToLower(r.Method)
	}
	return cmp.Or(m.Method, "response")
}

// rename returns the function with the names that the client sees, nil if those are of the server.
func (u *use) rename() func(wire.Element) string {
	if !u.joined {
		return nil
	}
	return func(e wire.Element) string { return e.Joined(u.Name) }
}

// caller returns the client as the server may learn it.
func (u *use) caller() mcp.Caller {
	c := mcp.Caller{Owner: u.answer.Exchange.Key.Owner}
	if u.Caller == nil && (u.Auth == nil || u.Auth.Exchange == nil) {
		return c
	}
	if credential := keyring.Bearer(u.r); mcp.IsIssued(credential, u.Issuers) {
		c.Token = credential
	}
	return c
}
