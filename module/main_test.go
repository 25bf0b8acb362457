package module_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"

	// What the product is made of, and the modules of Caddy that sites put
	// beside it.
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/standard"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module"
)

// TestMain demands that no goroutine outlives the suite.
func TestMain(m *testing.M) { gatewaytest.Main(m) }
