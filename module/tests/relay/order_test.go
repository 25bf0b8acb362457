package relay_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The cheapest target of a request depends on the lengths of its prompt and of its answer, and the
// next one answers if it fails.
func TestTheCheapestTargetIsAskedFirst(t *testing.T) {
	reading, writing := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, site.Steady,
		site.Direct.Provider("reading", reading, "models off", "price m1 input 1 output 50"),
		site.Direct.Provider("writing", writing, "models off", "price m2 input 5 output 5"),
		"model m {\nto writing/m2\nto reading/m1\norder cost\n}")
	ask := func(prompt, want string) {
		t.Helper()
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", prompt, false))
		assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, want, s.Record(answer.ID())["provider"])
	}
	ask("hello", "writing")
	ask(strings.Repeat("a long story ", 10_000), "reading")
	writing.Script(gatewaytest.Status(http.StatusServiceUnavailable))
	ask("hello", "reading")

	// Two services of one model often differ in the price of caches alone.
	require.NoError(t, s.Reload(site.Block("", site.Steady,
		site.Direct.Provider("reading", reading, "models off", "price m1 input 1 output 5 cache_read 0.1"),
		site.Direct.Provider("writing", writing, "models off", "price m2 input 1 output 5 cache_read 0.5"),
		"model m {\nto writing/m2 weight 1\nto reading/m1 weight 1\norder cost\n}")))
	for range 5 {
		ask(strings.Repeat("a long story ", 1_000), "reading")
	}

	require.NoError(t, s.Reload(site.Block("", site.Steady,
		site.Direct.Provider("reading", reading, "models off", "price m1 input 1 output 50"),
		site.Direct.Provider("writing", writing, "models off", "price m2 input 5 output 5"),
		"model m {\nto writing/m2\nto reading/m1\norder cost\n}")))
	explained := admin(t, s, "/api/v1/explain?format=chat&model=m", http.StatusOK)
	assert.Equal(t, "cost", explained["order"])
	first := explained["targets"].([]any)[0].(map[string]any)
	assert.Equal(t, "writing", first["provider"])
	assert.Equal(t, "0.01 USD for 1000 tokens with an answer of 1000", first["measured"])

	// The order was that of 1000 tokens, whatever the request was.
	long := strings.Replace(site.BodyFor(site.ChatPath, "m", strings.Repeat("a long story ", 10_000), false), "{", `{"max_completion_tokens":10,`, 1)
	answer := s.Call(http.MethodPost, s.AdminURL("/api/v1/explain?format=chat&model=m"), long)
	require.NoError(t, json.Unmarshal([]byte(answer.Body), &explained), answer.Body)
	first = explained["targets"].([]any)[0].(map[string]any)
	assert.Equal(t, "reading", first["provider"], "as for the request itself")
	assert.Contains(t, first["measured"], " tokens with an answer of 10")
}

// Until a stream has shown how fast a target is, all of them share the requests.
func TestTargetsOfUnknownLatencyShareTheRequests(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, site.Steady,
		site.Direct.Provider("first", first, "models off"), site.Direct.Provider("second", second, "models off"),
		"model m {\nto first/m1\nto second/m2\norder latency\n}")
	for range 40 {
		assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	}
	assert.Positive(t, first.Count())
	assert.Positive(t, second.Count())
	explained := admin(t, s, "/api/v1/explain?format=chat&model=m", http.StatusOK)
	assert.Equal(t, "latency", explained["order"])
	for _, target := range explained["targets"].([]any) {
		assert.Equal(t, "unknown", target.(map[string]any)["measured"])
		assert.Equal(t, 2.0, target.(map[string]any)["step_weight"])
	}
}
