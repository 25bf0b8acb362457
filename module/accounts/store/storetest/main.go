package storetest

import (
	"flag"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// parallel is how many parallel tests run at once, unless -parallel is set: most of them
// wait for a server or for a pause to end, and not for a processor.
const parallel = "4"

// Main runs the tests of a package of a store, and fails if a goroutine outlives them:
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
func Main(m *testing.M) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	gatewaytest.Main(m)
}
