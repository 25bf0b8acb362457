package endpoint

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/keyring"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// request returns the request that the server gets.
func (u *use) request() mcp.Request {
	return mcp.Request{
		Method: u.r.Method, Header: u.headers(), Body: u.body, Message: u.message, Session: u.session.id, Caller: u.caller(),
	}
}

// headers returns the headers of the client that the server may get.
func (u *use) headers() http.Header {
	h := u.r.Header
	if u.withoutParameters {
		h = mcp.WithoutParameters(h)
	}
	if u.session.version != "" {
		h = h.Clone()
		h.Set(wire.VersionHeader, u.session.version)
	}
	return h
}

// caller returns the client as the server may learn it.
func (u *use) caller() mcp.Caller {
	c := mcp.Caller{Owner: u.answer.Exchange.Key.Owner}
	if !u.server.Config.UsesTokens() {
		return c
	}
	if credential := keyring.Bearer(u.r); mcp.IsIssued(credential, u.site.Issuers) {
		c.Token = credential
	}
	return c
}
