package endpoints_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const bigModel = `{"id":"qwen-big","object":"model","created":1790000000,"owned_by":"vllm","max_model_len":32768}`

// If a provider had only patterns, the list and so the model pickers of clients were once
// empty.
func TestModelsOfAProviderWithPatternsAreItsOwnList(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		p.Script(modelList(bigModel, `{"id":"qwen-small"}`, `{"id":"qwen-lost"}`, `{"id":"other"}`))
		t.Setenv("BOB_KEY", site.BobKey)
		t.Setenv("UP_KEY", "sk-upstream")
		s := site.Start(t, w.Provider("up", p, "models qwen-*", "api_key {env.UP_KEY}"),
			"provider demo {\nmodels demo qwen-lost\n}", "model smart {\nto up/qwen-big\n}", "model qwen-lo* {\nto demo\n}",
			"key bob {env.BOB_KEY} {\nmodels qwen-s*\n}")
		const big = `{"id":"qwen-big","object":"model","created":1790000000,"owned_by":"vllm","context_length":32768}`
		const smart = `{"id":"smart","object":"model","created":0,"owned_by":"gateway","context_length":32768}`
		s.List(site.ClientKey, "/v1/models").AssertOurs(t, http.StatusOK, `{"object":"list","data":[`+
			strings.Join([]string{cardsOf(false, "demo"), big, cardsOf(false, "qwen-lost", "qwen-small"), smart}, ",")+`]}`)
		s.List(site.BobKey, "/v1/models").AssertOurs(t, http.StatusOK, `{"object":"list","data":[`+cardsOf(false, "qwen-small")+`]}`)
		s.List(site.ClientKey, "/v1/models?limit=1&after_id=demo").AssertOurs(t, http.StatusOK, `{"data":[`+
			`{"type":"model","id":"qwen-big","display_name":"qwen-big","created_at":"2026-09-21T14:13:20Z","max_input_tokens":32768}`+
			`],"has_more":true,"first_id":"qwen-big","last_id":"qwen-big"}`)
		s.List(site.ClientKey, "/v1/models/qwen-big").AssertOurs(t, http.StatusOK, big)
		s.List(site.ClientKey, "/v1/models/qwen-other").AssertOurs(t, http.StatusOK, cardsOf(false, "qwen-other"), "it can be asked for")
		_, models := capabilitiesOf(s, site.ClientKey)
		assert.Equal(t, []string{"demo", "qwen-big", "qwen-lost", "qwen-small", "smart"}, models)

		require.Equal(t, 1, p.Count(), "one list serves all of them")
		asked := p.Requests()[0]
		assert.Equal(t, http.MethodGet, asked.Method)
		assert.Equal(t, "/v1/models", asked.Path)
		assert.Empty(t, asked.Query)
		assert.Equal(t, []string{"Bearer sk-upstream"}, asked.Header["Authorization"])
		assert.NotContains(t, asked.Header, "X-Forwarded-For")
		s.AssertQuiet()
	})
}

func TestAModelRequestNeverAsksForTheList(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p, "models auto"))
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	require.NoError(t, p.WaitSettled(site.Waiting(t)))
	assert.Equal(t, []string{site.ChatPath}, p.Paths())
}

func TestAProviderOfMessagesIsAskedInItsOwnShape(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t, demo.WithModels("b", "a"))
		s := site.Start(t, w.Provider("up", p, "format messages"))
		s.List(site.ClientKey, "/v1/models", version).AssertOurs(t, http.StatusOK, pageOf(false, "a", "b"))
		asked := p.Requests()[0]
		assert.Equal(t, "limit=1000", asked.Query)
		assert.Equal(t, "2023-06-01", asked.Header.Get("Anthropic-Version"))
	})
}

// listPersistently returns the list of models. It repeats a request whose connection a
// reload has closed.
func listPersistently(s *site.Site) string {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, s.URL("site", "/v1/models"), nil)
	require.NoError(s.T, err)
	r.Header.Set("Authorization", "Bearer "+site.ClientKey)
	response, err := s.Client.Do(r)
	require.NoError(s.T, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(s.T, err)
	return string(body)
}

// If a reload dropped the lists, an outage of a provider during the reload would empty its
// list.
func TestAListOutlivesReloads(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		p.Script(modelList(bigModel))
		p.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		config := func(patterns string) string { return site.Block("", w.Provider("up", p, "models "+patterns)) }
		s := site.StartCaddyfile(t, config("qwen-*"))
		for _, patterns := range []string{"qwen-*", "qwen-b*", "auto *"} {
			require.NoError(t, s.Reload(config(patterns)))
			assert.Contains(t, listPersistently(s), "qwen-big", patterns)
		}
		require.NoError(t, s.Reload(config("llama-*")))
		assert.Equal(t, `{"object":"list","data":[]}`, listPersistently(s), "patterns bound what is shown")
		assert.Equal(t, 1, p.Count())
	})
}

func TestAProviderThatListsNothingIsLoggedOnce(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		p.Always(gatewaytest.Status(http.StatusNotFound))
		s := site.Start(t, w.Provider("up", p, "models m1 *"))
		for range 3 {
			s.List(site.ClientKey, "/v1/models").AssertOurs(t, http.StatusOK, `{"object":"list","data":[`+cardsOf(false, "m1")+`]}`)
		}
		assert.Equal(t, 1, p.Count())
		assert.Equal(t, 1, strings.Count(s.Logs.String(), "provider has no list of models"))
		s.AssertQuiet()
	})
}

// Every client gets the list of a provider, which must not contain the credential of the
// gateway.
func TestAListThatRepeatsTheCredentialIsNotShown(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		t.Setenv("UP_KEY", "sk-upstream-secret")
		p.Always(modelList(`{"id":"m"}`, `{"id":"for sk-upstream-secret"}`))
		s := site.Start(t, w.Provider("up", p, "api_key {env.UP_KEY}"))
		s.List(site.ClientKey, "/v1/models").AssertOurs(t, http.StatusOK, `{"object":"list","data":[]}`)
		entry, err := s.Logs.WaitEntry(site.Waiting(t), func(entry map[string]any) bool { return entry["cause"] == "the answer cannot be read" })
		require.NoError(t, err)
		assert.Equal(t, "warn", entry["level"])
		assert.Equal(t, "up", entry["provider"])
		assert.NotContains(t, s.Logs.String(), "sk-upstream-secret")
	})
}

// An address whose list could not be read once counted as down.
func TestAnUnreadableListDoesNotCountAgainstTheProvidersHealth(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Script(gatewaytest.Chunks("application/json", `{"data":[`))
	s := site.Start(t, site.Proxied.Provider("up", p, "fail_duration 1h", "max_fails 1"))
	s.List(site.ClientKey, "/v1/models").AssertOurs(t, http.StatusOK, `{"object":"list","data":[]}`)
	assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
}

// The gateway's list does not wait for a provider that does not answer. It contains the
// models of the other providers.
func TestAListIsShownWithoutAProviderThatDoesNotAnswer(t *testing.T) {
	silent, quick := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	silent.Always(gatewaytest.Stall(gate, modelList(`{"id":"late"}`)))
	quick.Always(modelList(bigModel))
	s := site.Start(t, site.Direct.Provider("silent", silent), site.Direct.Provider("quick", quick, "models qwen-*"))
	body := s.List(site.ClientKey, "/v1/models").Body
	assert.NotContains(t, body, "late")
	assert.Contains(t, body, "qwen-big")
	gate.Open()
	require.NoError(t, silent.WaitSettled(site.Waiting(t)))
	assert.Equal(t, 1, silent.Count())
}
