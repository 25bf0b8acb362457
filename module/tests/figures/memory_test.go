package figures_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// mostMemory is the most resident memory of a gateway with 2,000 open translated streams.
const mostMemory = 250_000_000

// 2,000 concurrent translated streams take at most 250 MB. With fewer streams, the bound is
// the same, and shows only that no stream is large.
func TestMemoryOfOpenStreams(t *testing.T) {
	t.Parallel()
	provider := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	provider.Always(site.WaitingAt(gate))
	p := site.StartProcess(t, options, site.Direct.Provider("p", provider, "format chat"))
	before := footprintOf(t, p)
	c := site.NewClient(t, false)
	list := make([]*open, 0, scaled(2000))
	for range scaled(2000) {
		list = append(list, openStream(t, c, p, site.MessagesPath, "m"))
	}
	now := footprintOf(t, p)
	if !raced {
		assert.Less(t, now.rss, mostMemory)
	}
	t.Logf("%d translated streams: %d MB resident, %d KB a stream", len(list), now.rss/1e6, (now.rss-before.rss)/len(list)/1000)
	gate.Open()
	for _, o := range list {
		require.Contains(t, o.rest().Body, "message_stop")
	}
}
