package figures_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// When 500 clients vanish in the middle of their streams, the calls of the provider are
// cancelled.
func TestClientsVanish(t *testing.T) {
	for name, http2 := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := gatewaytest.NewProvider(t)
			cancelled := make(chan time.Time, 1)
			provider.Always(func(c *gatewaytest.Call) {
				context.AfterFunc(c.Request.Context(), func() { cancelled <- time.Now() })
				site.WaitingAt(gatewaytest.NewGate(t))(c)
			})
			p := site.StartProcess(t, options, site.Direct.Provider("p", provider))
			var waits []time.Duration
			for _, o := range openStreams(t, site.NewClient(t, http2), p, scaled(500)) {
				left := time.Now()
				o.leave()
				waits = append(waits, (<-cancelled).Sub(left))
			}
			require.NoError(t, provider.WaitCancelledN(site.Waiting(t), len(waits)))
			slices.Sort(waits)
			t.Logf("%d clients left; the provider was cancelled after %s (p50), %s (p99)",
				len(waits), waits[len(waits)/2], waits[len(waits)*99/100])
		})
	}
}
