package module_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
)

func TestHealthChecksCarryTheCredential(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", "sk-upstream")
	p := gatewaytest.NewProvider(t, demo.WithKey("sk-upstream"))
	s := startSite(t, proxied.provider("p", p, "api_key {env.UPSTREAM_KEY}", "health_uri /v1/models", "health_interval 1m"))
	require.NoError(t, p.WaitRequests(waiting(t), 1))
	assert.Equal(t, "Bearer sk-upstream", p.Requests()[0].Header.Get("Authorization"))
	assert.Equal(t, http.StatusOK, s.ask(chatPath, bodyFor(chatPath, "m", "hello", false)).status)
	s.assertNoEntry("sk-upstream")
}

// What a client does wrong, or leaves undone, says nothing about the provider's
// health (T1).
func TestTheClientsOwnFaultsMarkNoProviderDown(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := startSite(t, proxied.provider("p", p, "fail_duration 1m", "max_fails 1"))
	assert.Equal(t, http.StatusBadRequest, s.ask(chatPath, `{"model":"m"`).status)
	assert.Equal(t, http.StatusBadRequest, s.ask(chatPath, `{"model":"m","messages":7}`).status)
	p.Script(gatewaytest.Status(http.StatusBadRequest))
	assert.Equal(t, http.StatusBadRequest, s.ask(chatPath, bodyFor(chatPath, "m", "hello", false)).status)

	p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, streams[chatPath][:3]...), gatewaytest.Stall(gatewaytest.NewGate(t), more())))
	open := s.open(chatPath, bodyFor(chatPath, "m", "hello", true))
	open.next()
	open.cancel()
	require.NoError(t, p.WaitCancelled(waiting(t)))
	s.record(open.Header.Get("Request-Id"))

	answer := s.ask(chatPath, bodyFor(chatPath, "m", "hello", false))
	assert.Equal(t, http.StatusOK, answer.status, answer.body)
}

func TestUnhealthyAnswersMarkAProviderDown(t *testing.T) {
	faults := map[string]gatewaytest.Step{
		"status":              gatewaytest.Status(http.StatusServiceUnavailable),
		"reset":               gatewaytest.Reset(),
		"200 with an error":   gatewaytest.Body(200, "application/json", []byte(`{"error":{"message":"broken","code":500}}`)),
		"200 with HTML":       gatewaytest.Body(200, "text/html", []byte("<html>")),
		"stream without text": gatewaytest.HeadersThenClose(),
	}
	for name, step := range faults {
		t.Run(name, func(t *testing.T) {
			p, other := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
			s := startSite(t,
				proxied.provider("p", p, "models m", "fail_duration 1m", "max_fails 1", "unhealthy_status 5xx"),
				proxied.provider("other", other, "models o"), "model both {\nto p\nto other\n}")
			p.Script(step)
			s.ask(chatPath, bodyFor(chatPath, "m", "hello", true))
			for _, path := range callPaths {
				told{
					status: 503, kind: "server_error", code: "upstream_unavailable",
					messagesStatus: 529, messagesKind: "overloaded_error", message: "no upstream for model 'm' is available",
				}.assert(t, path, s.ask(path, bodyFor(path, "m", "hello", true)))
			}
			assert.Equal(t, 1, p.Count(), "a provider that is down is not asked")
			assert.Equal(t, http.StatusOK, s.ask(chatPath, bodyFor(chatPath, "both", "hello", true)).status)
		})
	}
}
