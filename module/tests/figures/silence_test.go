package figures_test

import (
	"testing"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A stream of 75 s with silent gaps is complete, although servers and proxies often close
// connections that are silent for a minute.
func TestAStreamWithSilentGapsIsWhole(t *testing.T) {
	for name, http2 := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := gatewaytest.NewProvider(t)
			provider.Always(gapsOf(time.Duration(scaled(75)) * time.Second / 2))
			p := site.StartProcess(t, options, site.Direct.Provider("p", provider), "keep_alive off")
			c := site.NewClient(t, http2)
			var list []*open
			for _, path := range site.ClientPaths {
				list = append(list, openStream(t, c, p, path, "m"))
			}
			assertWhole(t, list)
		})
	}
}

// gapsOf answers streams with two gaps of this length behind their first text.
func gapsOf(gap time.Duration) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		events := site.Streams[site.Called(c.Request.URL.Path)]
		gatewaytest.Chunks(gatewaytest.EventStream, events[:len(events)-2]...)(c)
		for _, event := range events[len(events)-2:] {
			timer := time.NewTimer(gap)
			select {
			case <-timer.C:
			case <-c.Request.Context().Done():
			}
			timer.Stop()
			gatewaytest.More(event)(c)
		}
	}
}
