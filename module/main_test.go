package module_test

import (
	"os"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"

	// What the product is made of, and the modules of Caddy that sites put
	// beside it.
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/standard"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module"
)

// TestMain demands that no goroutine outlives the suite. Called as "run" or as
// "ai-gateway", the binary is Caddy itself, for tests of several processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "run" || os.Args[1] == "ai-gateway") {
		caddycmd.Main()
		return
	}
	gatewaytest.Main(m)
}
