package usage_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// What a killed gateway has put into a shared cache is whole: the answer that it was passing on is not there.
func TestAKilledGatewayLeavesWholeAnswersInTheCache(t *testing.T) {
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	t.Setenv("TEST_SEAL_KEY", "a key that all gateways have")
	p := gatewaytest.NewProvider(t)
	lines := []string{
		"seal_keys {env.TEST_SEAL_KEY}", "cache {\nin redis " + server.Address + "\n}",
		site.Direct.Provider("p", p, "models off"), "model m {\nto p/m\ncache {\nany_temperature on\n}\n}",
	}
	state := func(g *site.Process, prompt string) string {
		r := g.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", prompt, true))
		require.Equal(t, http.StatusOK, r.Status, r.Body)
		assert.True(t, r.Read(t, site.ChatPath).Complete)
		return r.Header.Get("X-Gateway-Cache")
	}
	gateway := site.StartProcess(t, "", lines...)
	assert.Equal(t, "miss", state(gateway, "whole"))
	for range 2 {
		stalledStream(t, p, gateway.Open)
		gateway.Kill()
		gateway = site.StartProcess(t, "", lines...)
		assert.Equal(t, "hit", state(gateway, "whole"))
	}
	assert.Equal(t, "miss", state(gateway, "hello"), "the prompt of the stalled stream")
	assert.Equal(t, "hit", state(gateway, "hello"))
}
