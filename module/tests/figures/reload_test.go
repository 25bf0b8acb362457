package figures_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// reloads are the configurations that are loaded while streams run: different ones,
// different ones with changed keys, and invalid ones.
var reloads = strings.Fields("other other invalid keys other other invalid other keys other other invalid other other invalid keys other invalid other other")

// 2,000 streams are whole after 20 reloads, of which 5 are invalid and 3 change keys.
func TestStreamsOutliveReloads(t *testing.T) {
	for name, http2 := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := gatewaytest.NewProvider(t)
			gate := gatewaytest.NewGate(t)
			provider.Always(site.WaitingAt(gate))
			block := site.Direct.Provider("p", provider)
			p := site.StartProcess(t, options, block)
			c := site.NewClient(t, http2)
			list := openStreams(t, c, p, scaled(2000))
			for i, kind := range reloads {
				bound := fmt.Sprintf("max_body %dMiB", 1+i)
				switch kind {
				case "invalid":
					p.AssertRefuses("no_such_word", options, block, "no_such_word")
				case "keys":
					p.Reload(options, block, bound, "key alice {env.KEY_ALICE}")
				default:
					p.Reload(options, block, bound)
				}
			}
			gate.Open()
			assertWhole(t, list)
			require.Zero(t, provider.Cancelled())
			t.Logf("%d streams, %d reloads, 0 broken", len(list), len(reloads))
		})
	}
}
