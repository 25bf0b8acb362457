package observability_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// One request leads to the alerts of a key that expires and of a provider that refuses the
// API key, and each further request to none.
func TestAlertsReachAWebhook(t *testing.T) {
	got := make(chan map[string]any, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var alert map[string]any
		assert.NoError(t, json.Unmarshal(body, &alert))
		assert.NotContains(t, string(body), "sk-")
		assert.NotEmpty(t, r.Header.Get("Webhook-Signature"))
		got <- alert
	}))
	t.Cleanup(receiver.Close)
	t.Setenv("ALERT_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	t.Setenv("ENDING_KEY", "sk-ending-0123456789abcdef")
	p := gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, "{\nstorage file_system "+filepath.Join(t.TempDir(), "storage")+"\nevents {\non * ai_gateway_webhook "+receiver.URL+" {\nsecret {env.ALERT_SECRET}\n}\n}\n}\n"+
		site.Block("", site.Direct.Provider("p", p, "format chat", "price m input 1 output 1"), "key ending {env.ENDING_KEY} {\nexpires "+time.Now().Add(48*time.Hour).Format(time.DateOnly)+"\n}"))
	p.Always(gatewaytest.Status(http.StatusUnauthorized))
	for range 3 {
		s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "Authorization", "Bearer sk-ending-0123456789abcdef")
	}
	alert := <-got
	assert.Equal(t, "ai_gateway_key_expires", alert["event"])
	assert.Equal(t, "ending", alert["data"].(map[string]any)["key"])
	alert = <-got
	assert.Equal(t, "ai_gateway_provider_down", alert["event"])
	assert.Contains(t, alert["text"], "The provider p refuses an API key of the gateway (credential_refused).")
	p.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}`)))
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "Authorization", "Bearer sk-ending-0123456789abcdef").Status)
	alert = <-got
	assert.Equal(t, "ai_gateway_provider_up", alert["event"])
	assert.Empty(t, got)
}
