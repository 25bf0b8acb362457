package figures_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// After 10,000 requests and 1,000 streams that broke off, by the client or by the provider,
// the gateway has as many goroutines, descriptors and memory as before.
func TestNothingIsHeldBehindRequests(t *testing.T) {
	t.Parallel()
	provider := gatewaytest.NewProvider(t)
	p := site.StartProcess(t, options, site.Direct.Provider("p", provider))
	c := site.NewClient(t, false)
	request := func(n int) {
		for i := range n {
			path := site.ClientPaths[i%len(site.ClientPaths)]
			assert.True(t, askOnce(t, c, p, path).Read(t, path).Complete)
		}
	}
	request(100) // what the first requests make stays
	c.CloseIdleConnections()
	before := footprintOf(t, p)
	inTurns(10, func() { request(scaled(1000)) })
	provider.Always(site.WaitingAt(gatewaytest.NewGate(t)))
	for _, o := range openStreams(t, c, p, scaled(500)) {
		o.leave()
	}
	provider.Always(gatewaytest.CutAt(400))
	for range scaled(500) {
		assert.NotContains(t, askOnce(t, c, p, site.ChatPath).Body, "[DONE]")
	}
	c.CloseIdleConnections()
	t.Logf("before: %+v, after: %+v", before, waitBack(t, p, before))
}

// askOnce sends one streaming request, and reads the answer to its end.
func askOnce(t *testing.T, c *http.Client, p *site.Process, path string) site.Reply {
	response, err := c.Do(site.NewRequest(t.Context(), t, "http://"+p.Address, path, site.BodyFor(path, "m", "hello", true)))
	require.NoError(t, err)
	return site.ReadReply(response)
}

// inTurns runs a function n times at once.
func inTurns(n int, run func()) {
	var running sync.WaitGroup
	for range n {
		running.Go(run)
	}
	running.Wait()
}

// Caddy bounds the write behind the end of a handler by a timer, if the handler leaves something
// to write. With HTTP/2, net/http may start that timer when the stream has already ended, and
// then keeps the stream and its connection until the timer fires, for a minute.
func TestEndedStreamsOverHTTP2HoldNothing(t *testing.T) {
	t.Parallel()
	provider := gatewaytest.NewProvider(t)
	p := site.StartProcess(t, options, site.Direct.Provider("p", provider))
	ask := func() {
		c := site.NewClient(t, true)
		defer c.CloseIdleConnections()
		askOnce(t, c, p, site.MessagesPath)
	}
	for range 50 {
		ask()
	}
	before := footprintOf(t, p)
	for range 600 {
		ask()
	}
	grown := footprintOf(t, p).heap - before.heap
	assert.Less(t, grown, 250<<10, "bytes of heap; about 500 KB with the timers")
}
