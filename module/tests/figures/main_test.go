// Package figures_test measures what the gateway promises under load: reloads and a
// shutdown with many streams, clients that vanish or share slots, silence, memory and
// leaks. Without -full most figures are a tenth of what the README states.
package figures_test

import (
	"flag"
	"os"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

var full = flag.Bool("full", false, "measure the whole figures, and the soak of 20 minutes")

func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "run" { // as site.Main: the processes of the tests are Caddy
		flag.Parse()
	}
	site.Main(m)
}

// scaled returns n, or a tenth of it without -full.
func scaled(n int) int {
	if *full {
		return n
	}
	return n / 10
}
