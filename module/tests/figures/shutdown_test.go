package figures_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Of 500 streams that run at SIGTERM, those that end within the grace period are whole;
// 50 that do not end with the error event of their format, and so does the process.
func TestStreamsAtShutdown(t *testing.T) {
	const grace = 5 * time.Second
	for name, http2 := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := gatewaytest.NewProvider(t)
			p := site.StartProcess(t, "grace_period "+grace.String()+"\n"+options, site.Direct.Provider("p", provider))
			ending, never := gatewaytest.NewGate(t), gatewaytest.NewGate(t)
			c := site.NewClient(t, http2)
			provider.Always(site.WaitingAt(ending))
			finishing := openStreams(t, c, p, scaled(450))
			provider.Always(site.WaitingAt(never))
			stalled := openStreams(t, c, p, scaled(50))
			p.Terminate()
			began := time.Now()
			p.Wait("grace period initiated")
			ending.Open()
			assertWhole(t, finishing)
			assertCut(t, stalled)
			p.AssertExits()
			t.Logf("%d streams whole, %d with an error event, exit after %s of a grace period of %s",
				len(finishing), len(stalled), time.Since(began).Round(time.Millisecond), grace)
		})
	}
}

// assertCut checks that all streams end with the error event of a shutdown.
func assertCut(t *testing.T, list []*open) {
	t.Helper()
	var running sync.WaitGroup
	for _, o := range list {
		running.Go(func() {
			whole := o.rest()
			whole.AssertEnded(t, o.path)
			assert.True(t, strings.Contains(whole.Body, "the gateway is shutting down"), whole.Body)
			assert.False(t, strings.HasSuffix(whole.Body, site.Streams[o.path][len(site.Streams[o.path])-1]), "shown as finished")
		})
	}
	running.Wait()
}
