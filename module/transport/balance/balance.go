// Package balance implements two selection policies of reverse_proxy for providers with
// several addresses: ai_session and ai_prefix_hash.
//
// Requests of one session, or with the same beginning, go to the same address while it is
// available. If an address is added or removed, other addresses keep their sessions. A
// repeated call goes to another address. The policies keep no state, and refuse no request.
package balance

import (
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
)

func init() {
	caddy.RegisterModule(Session{})
	caddy.RegisterModule(PrefixHash{})
}

// Session selects an address by the session of the request; see the option affinity of the
// gateway. A request without a session goes to a random address. Session is the default for
// providers with several addresses.
type Session struct{}

// CaddyModule returns the Caddy module information.
func (Session) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.reverse_proxy.selection_policies.ai_session",
		New: func() caddy.Module { return new(Session) },
	}
}

// Select returns an available address, nil without any.
func (Session) Select(pool reverseproxy.UpstreamPool, r *http.Request, _ http.ResponseWriter) *reverseproxy.Upstream {
	return choose(pool, r, func(ex *exchange.Exchange) uint64 { return ex.Session })
}

// PrefixHash selects an address by the model and the beginning of the conversation: its
// system text and its first turn of a user, or the beginning of its prompt. All requests of
// a conversation have the same beginning, so each goes to the server that has cached the one
// before it. PrefixHash is for equal servers that cache by prefix. It needs no session.
type PrefixHash struct{}

// CaddyModule returns the Caddy module information.
func (PrefixHash) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.reverse_proxy.selection_policies.ai_prefix_hash",
		New: func() caddy.Module { return new(PrefixHash) },
	}
}

// Select returns an available address, nil without any.
func (PrefixHash) Select(pool reverseproxy.UpstreamPool, r *http.Request, _ http.ResponseWriter) *reverseproxy.Upstream {
	return choose(pool, r, prefixSeed)
}

// UnmarshalCaddyfile reads the name of the policy, which has no arguments.
func (Session) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return noArguments(d) }

// UnmarshalCaddyfile reads the name of the policy, which has no arguments.
func (PrefixHash) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return noArguments(d) }

func noArguments(d *caddyfile.Dispenser) error {
	if d.Next(); d.NextArg() {
		return d.ArgErr()
	}
	return nil
}

// choose returns the available address that is nearest to the seed, or a random one if the
// seed is 0. It returns an address that the attempt has tried before only if no other is
// available.
func choose(pool reverseproxy.UpstreamPool, r *http.Request, seed func(*exchange.Exchange) uint64) *reverseproxy.Upstream {
	c := exchange.ConduitFrom(r.Context())
	var s uint64
	if c != nil {
		s = seed(c.Attempt.Exchange)
	}
	if s == 0 {
		s = rand.Uint64()
	}
	name := func(i int) string { return pool[i].Dial }
	available := func(i int) bool { return pool[i].Available() }
	fresh := func(i int) bool { return available(i) && (c == nil || !slices.Contains(c.Addresses, pool[i].Dial)) }
	index := rendezvous.Nearest(len(pool), s, name, fresh)
	if index < 0 {
		index = rendezvous.Nearest(len(pool), s, name, available)
	}
	if index < 0 {
		return nil
	}
	if c != nil {
		c.Addresses = append(c.Addresses, pool[index].Dial)
	}
	return pool[index]
}

// Interface guards
var (
	_ reverseproxy.Selector = Session{}
	_ reverseproxy.Selector = PrefixHash{}
	_ caddyfile.Unmarshaler = Session{}
	_ caddyfile.Unmarshaler = PrefixHash{}
)
