package endpoint

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// use is the use of a server by one request.
type use struct {
	server *mcp.Server
	site   *Site
	answer *reply.Reply
	r      *http.Request

	body    []byte
	message *wire.Message // nil for a request without a message
	session session
	joined  bool   // the client uses the server as one of all, whose names begin with that of their server
	asked   *asked // the answer, of which the client gets a part; nil for an answer of its own

	checks            *guardrails.Checks // nil if no guard covers the request
	withoutParameters bool               // the server gets no headers that repeat arguments
}

// serve serves the request, unless a step refuses it. Further steps begin it.
func (u *use) serve(steps ...func() *fault.Fault) *fault.Fault {
	leave, refused := u.site.Enter(u.answer, u.r)
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
func nameOf(s *mcp.Server) string { return aigateway.ServerPrefix + s.Name() }

// modelOf returns the name of a tool among the names of models. What is no call of a tool has the name of a
// tool "", so that patterns for all tools of a server cover all requests for it, and those for some tools
// none but calls.
func (u *use) modelOf(tool string) string { return modelOf(u.server.Name(), tool) }

func modelOf(server, tool string) string { return aigateway.ServerPrefix + server + "/" + tool }

// shows reports whether the client may see and use an element.
func (u *use) shows(e wire.Element) bool {
	return u.server.Config.Shows(e) && u.answer.Exchange.Key.AllowsTool(u.modelOf(e.String()))
}

// checkAccess refuses requests for a server that the client may not use, whatever is in them.
func (u *use) checkAccess() *fault.Fault {
	switch {
	case !u.answer.Exchange.Key.AllowsServer(u.server.Name()):
		return u.refuse(fault.MCPServerNotAllowed(u.server.Name()))
	case u.r.Method != http.MethodPost && !u.isOfSession():
		u.answer.SetHeaders("Allow", http.MethodPost)
		return fault.WrongMethod(http.MethodPost)
	}
	u.nameExchange()
	return nil
}

// nameExchange names the server in the exchange.
func (u *use) nameExchange() {
	ex := u.answer.Exchange
	ex.Request.View.Model, ex.Covering = u.modelOf(""), nameOf(u.server)
}

// readMessage reads the message of a request.
func (u *use) readMessage() (refused *fault.Fault) {
	if u.r.Method != http.MethodPost {
		return nil
	}
	u.body, u.message, refused = readMessage(u.answer.Exchange, u.r, u.server.MessageLimit())
	return refused
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
		if !u.server.Callable(tool.Name) {
			return u.refuse(fault.MCPToolChanged())
		}
		ex.Request.View.Model = u.modelOf(tool.Name)
		ex.Request.View.Costs.Fixed = u.server.Config.PriceOf(tool.Name)
	}
	return nil
}

// refuse refuses the request because of what it uses.
func (u *use) refuse(why *fault.Fault) *fault.Fault {
	x := refusal{server: u.server.Name(), message: u.message, why: why}
	if m := u.message; m != nil && len(m.Uses) > 0 {
		x.element = m.Uses[0].Name
	}
	return x.report(u.site, u.answer, u.r)
}

// admit admits what asks for an answer in the limits of the key, and begins its record. A message that
// gets no answer follows one that was admitted.
func (u *use) admit() *fault.Fault {
	if refused := u.site.Names.Apply(u.answer.Exchange); refused != nil {
		return refused
	}
	if u.message != nil && !u.message.IsRequest() || u.r.Method == http.MethodDelete {
		return nil
	}
	return u.site.Admit(u.answer, u.r)
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
	return func(e wire.Element) string { return e.Joined(u.server.Name()) }
}
