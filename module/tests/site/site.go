package site

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// ClientKey is the key that every site accepts and every request of Ask, Open
// and Send carries.
const ClientKey = "sk-the-key-of-the-client"

// DemoProvider is the block of a provider that answers in the process, without
// pauses.
const DemoProvider = "provider demo {\npace off\n}"

// Site is a running gateway as its clients see it.
type Site struct {
	*gatewaytest.Caddy
	T testing.TB

	port string // the name of its port in the configuration, "site" if empty
}

// Start runs a site that accepts ClientKey and has these lines in its ai_gateway
// block.
func Start(t testing.TB, lines ...string) *Site {
	t.Helper()
	return StartCaddyfile(t, Block("", lines...))
}

// StartCaddyfile runs a whole Caddyfile, in which {env.CLIENT_KEY} is ClientKey.
func StartCaddyfile(t testing.TB, caddyfile string) *Site {
	t.Helper()
	t.Setenv("CLIENT_KEY", ClientKey)
	return &Site{Caddy: gatewaytest.StartCaddy(t, caddyfile), T: t}
}

// At returns the site at PORT(port) of the same Caddy, for a test.
func (s *Site) At(t testing.TB, port string) *Site {
	return &Site{Caddy: s.Caddy, T: t, port: port}
}

// name returns the name of the site's port.
func (s *Site) name() string { return cmp.Or(s.port, "site") }

// Block is a site at PORT(site): lines of its own, and an ai_gateway block that
// accepts {env.CLIENT_KEY}.
func Block(directives string, lines ...string) string {
	return BlockAt("site", directives, lines...)
}

// BlockAt is Block for the site at PORT(port).
func BlockAt(port, directives string, lines ...string) string {
	return "http://127.0.0.1:PORT(" + port + ") {\n" + directives +
		"\nai_gateway {\nkey client {env.CLIENT_KEY}\n" + strings.Join(lines, "\n") + "\n}\n}\n"
}

func (s *Site) tb() testing.TB { return s.T }

// Patience is how long a test waits for an event before it fails.
const Patience = time.Minute

// Waiting returns a context that ends after Patience.
func Waiting(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	t.Cleanup(cancel)
	return ctx
}
