package aigateway_test

import (
	"context"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Shouting is a guard that blocks texts of the user in capital letters.
type Shouting struct{}

// CaddyModule returns the module information.
func (Shouting) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.guards.shouting", New: func() caddy.Module { return new(Shouting) }}
}

// Check implements aigateway.Guard.
func (*Shouting) Check(_ context.Context, v *aigateway.GuardView) (verdict aigateway.GuardVerdict, _ error) {
	for _, t := range v.Texts {
		if t.Kind == aigateway.GuardUser && len(t.Text) > 3 && strings.ToUpper(t.Text) == t.Text {
			verdict.Block = "capitals"
		}
	}
	return verdict, nil
}

// A guard checks the texts of requests and answers. In the Caddyfile, a guard that implements
// caddyfile.Unmarshaler is
//
//	guard calm shouting
func ExampleGuard() {
	caddy.RegisterModule(Shouting{})
	// Output:
}
