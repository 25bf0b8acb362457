package site

import (
	"flag"
	"os"
	"slices"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"

	// The product, and the modules of Caddy that sites use beside it.
	_ "github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/standard"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	_ "github.com/caddyserver/caddy/v2/modules/logging"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module"
)

// commands are the first arguments with which a test binary is Caddy.
var commands = []string{"run", "adapt", "validate", "ai-gateway"}

// parallel is how many parallel tests run at once, unless -parallel is set. They
// are tests of processes, which wait for each other and not for a processor.
const parallel = "32"

// Main runs the tests of a package and fails if a goroutine outlives them:
//
//	func TestMain(m *testing.M) { site.Main(m) }
//
// In the processes that StartProcess and RunCommand start, it runs Caddy.
func Main(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains(commands, os.Args[1]) {
		caddycmd.Main()
		return
	}
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	gatewaytest.Main(m)
}
