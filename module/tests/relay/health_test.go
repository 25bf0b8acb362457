package relay_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestHealthChecksCarryTheCredential(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", "sk-upstream")
	p := gatewaytest.NewProvider(t, demo.WithKey("sk-upstream"))
	s := site.Start(t, site.Proxied.Provider("p", p, "api_key {env.UPSTREAM_KEY}", "health_uri /v1/models", "health_interval 1m"))
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	assert.Equal(t, "Bearer sk-upstream", p.Requests()[0].Header.Get("Authorization"))
	assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	s.AssertNoEntry("sk-upstream")
}

// A configuration that was only validated, or refused by a reload, once sent health checks.
func TestOnlyAConfigurationThatStartsSendsHealthChecks(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	checked := func(path string) string {
		return site.Block("", site.Proxied.Provider("p", p, "health_uri "+path, "health_interval 1m"))
	}
	s := site.Start(t, site.DemoProvider)
	require.Error(t, s.Reload(checked("/refused")+"http://127.0.0.1:PORT(other) {\nai_gateway {\nprovider demo\nkey a {env.NO_SUCH_VARIABLE}\n}\n}\n"))
	require.NoError(t, s.Reload(checked("/started")))
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	assert.Equal(t, []string{"/started"}, p.Paths())
}

// Faults of clients do not count against the health of a provider (T1).
func TestTheClientsOwnFaultsMarkNoProviderDown(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Proxied.Provider("p", p, "fail_duration 1m", "max_fails 1"))
	assert.Equal(t, http.StatusBadRequest, s.Ask(site.ChatPath, `{"model":"m"`).Status)
	assert.Equal(t, http.StatusBadRequest, s.Ask(site.ChatPath, `{"model":"m","messages":7}`).Status)
	p.Script(gatewaytest.Status(http.StatusBadRequest))
	assert.Equal(t, http.StatusBadRequest, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)

	p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.ChatPath][:3]...), gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.More())))
	open := s.Open(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
	open.Next()
	open.Cancel()
	require.NoError(t, p.WaitCancelled(site.Waiting(t)))
	s.Record(open.Header.Get("Request-Id"))

	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
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
			s := site.Start(t,
				site.Proxied.Provider("p", p, "models m", "fail_duration 1m", "max_fails 1", "unhealthy_status 5xx"),
				site.Proxied.Provider("other", other, "models o"), "model both {\nto p\nto other\n}")
			p.Script(step)
			s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
			for _, path := range site.ClientPaths {
				site.ErrorAnswer{
					Status: 503, Kind: "server_error", Code: "upstream_unavailable",
					MessagesStatus: 529, MessagesKind: "overloaded_error", Message: "no upstream for model 'm' is available",
				}.Assert(t, path, s.Ask(path, site.BodyFor(path, "m", "hello", true)))
			}
			assert.Equal(t, 1, p.Count(), "a provider that is down is not asked")
			assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "both", "hello", true)).Status)
		})
	}
}
