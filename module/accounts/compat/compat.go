// Package compat serves the paths below /api/user and /api/token as the clients of new-api and
// one-api know them: their words, numbered pages, and answers in envelopes. It is the module
// ai_gateway.accounts.compat. A build without it serves /api/v1 alone, and the login. Package billing
// below it shows the usage of a key.
//
// It promises that a path does what its clients expect, or is refused: it ignores members that only
// other gateways have, but not a budget of a key. It refuses what /api/v1 refuses, because the rules
// are those of package people.
package compat

import (
	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/compat/billing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
)

func init() {
	caddy.RegisterModule(Compat{})
}

// Compat adds the paths to the module ai_gateway.accounts.
type Compat struct{}

// CaddyModule returns the Caddy module information.
func (Compat) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.accounts.compat",
		New: func() caddy.Module { return new(Compat) },
	}
}

// Routes returns the routes, whose answers are in envelopes.
func (Compat) Routes(p *people.People) (routes []call.Route) {
	self, user, key := self{p}, users{p}, keys{p}
	add := func(pattern string, access call.Access, handler call.Handler) {
		routes = append(routes, call.Route{Pattern: pattern, Access: access, Handler: handler})
	}
	add("POST /api/user/register", call.Anyone, call.LenientBody(self.register))
	add("GET /api/user/logout", call.Anyone, call.Plain(self.logOut)) // existing clients log out with GET
	add("POST /api/user/logout", call.Anyone, call.Plain(self.logOut))
	add("GET /api/user/self", call.LoggedIn, call.Plain(self.show))
	add("PUT /api/user/self", call.LoggedIn, call.LenientBody(self.change))

	for _, path := range []string{"/api/user", "/api/user/{$}"} {
		add("GET "+path, call.Admins, call.Plain(user.list))
		add("POST "+path, call.Admins, call.LenientBody(user.add))
		add("PUT "+path, call.Admins, call.LenientBody(user.update))
	}
	add("GET /api/user/search", call.Admins, call.Plain(user.list))
	add("POST /api/user/manage", call.Admins, call.LenientBody(user.manage))
	add("GET /api/user/{id}", call.Admins, call.Plain(user.show))
	add("DELETE /api/user/{id}", call.Admins, call.Plain(user.remove))

	for _, path := range []string{"/api/token", "/api/token/{$}"} {
		add("GET "+path, call.LoggedIn, call.Plain(key.list))
		add("POST "+path, call.LoggedIn, call.LenientBody(key.add))
		add("PUT "+path, call.LoggedIn, call.LenientBody(key.update))
	}
	add("GET /api/token/search", call.LoggedIn, call.Plain(key.list))
	add("GET /api/token/{id}", call.LoggedIn, call.Plain(key.show))
	add("DELETE /api/token/{id}", call.LoggedIn, call.Plain(key.remove))
	return routes
}
