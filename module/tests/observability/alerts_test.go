package observability_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
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

// The day before the start is reported to the webhook that wants its report, and to no other. It was not in most
// starts: whether a handler wants reports is known when Caddy has started its app of events, not before.
func TestASpendReportReachesAWebhook(t *testing.T) {
	got := make(chan map[string]any, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var alert map[string]any
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&alert))
		assert.Equal(t, "/daily", r.URL.Path)
		got <- alert
	}))
	t.Cleanup(receiver.Close)
	folder := t.TempDir()
	at := time.Now().UTC().Add(-40 * time.Hour)
	gatewaytest.SpendEarlier(t, filepath.Join(folder, "gateway.db"), at)
	site.StartCaddyfile(t, "{\nstorage file_system "+folder+"\nevents {\non ai_gateway_spend_report ai_gateway_webhook "+receiver.URL+"/daily {\nreport daily\n}\n"+
		"on * ai_gateway_webhook "+receiver.URL+"/alerts\n}\n}\n"+site.Block("", "store sqlite "+filepath.Join(folder, "gateway.db"), "provider demo"))
	alert := <-got
	day := at.Format(time.DateOnly)
	assert.Equal(t, "ai_gateway_spend_report", alert["event"])
	assert.Equal(t, "Spend on "+day+" (UTC): 2.00 USD (new) for 1 request. Changes are to the day before.\n"+
		"By limit: research 2.00 USD (new).\nBy user: ada 2.00 USD (new).\nBy key: ci 2.00 USD (new).\nBy model: fast 2.00 USD (new).\nBy provider: p 2.00 USD (new).", alert["text"])
	data := alert["data"].(map[string]any)
	assert.Equal(t, "daily", data["period"])
	assert.Equal(t, day+"T00:00:00Z", data["from"])
	assert.Equal(t, []any{map[string]any{"name": "ada", "requests": 1.0, "cost_micro": 2e6, "currency": "USD", "before_micro": 0.0}}, data["user"])
}

// A webhook with reports at sites without a ledger got none, and nothing named the reason.
func TestReportsWithoutALedgerAreAWarning(t *testing.T) {
	const warning = "no spend is reported, because no site has a ledger"
	for name, c := range map[string]struct {
		ledger, report string
		warns          bool
	}{"off": {"ledger off", "report weekly", true}, "on": {"ledger", "report weekly", false}, "no reports": {"ledger off", "format json", false}} {
		t.Run(name, func(t *testing.T) {
			s := site.StartCaddyfile(t, "{\nstorage file_system "+t.TempDir()+"\nevents {\non * ai_gateway_webhook https://alerts.example {\n"+c.report+"\n}\n}\n}\n"+
				site.Block("", c.ledger, "provider demo"))
			assert.Equal(t, c.warns, strings.Contains(s.Logs.String(), warning))
		})
	}
}
