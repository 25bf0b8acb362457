package providers

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// load loads a preset as the gateway does.
func load(t *testing.T, id, config string) any {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	mod, err := ctx.LoadModuleByID("ai_gateway.providers."+id, []byte(config))
	require.NoError(t, err)
	return mod
}

func TestPresetsImplyTheirService(t *testing.T) {
	chat := []translate.Format{translate.Chat, translate.Completions}
	local := []translate.Format{translate.Chat, translate.Completions, translate.Messages}
	for id, want := range map[string]exchange.Defaults{
		"anthropic": {
			BaseURL: "https://api.anthropic.com", Formats: []translate.Format{translate.Messages},
			Header: "X-Api-Key", KeyRequired: true,
		},
		"openai":            {BaseURL: "https://api.openai.com/v1", Formats: chat, KeyRequired: true},
		"openai_compatible": {Formats: chat},
		"ollama":            {BaseURL: "http://localhost:11434/v1", Formats: local},
		"vllm":              {BaseURL: "http://localhost:8000/v1", Formats: local},
		"demo":              {BaseURL: "http://demo/v1", Formats: translate.Formats, Models: []string{"demo"}},
	} {
		t.Run(id, func(t *testing.T) {
			assert.Equal(t, want, load(t, id, `{}`).(exchange.Preset).Defaults())
		})
	}
}

func TestPresetHeadersAreCanonical(t *testing.T) {
	for _, p := range presets {
		assert.Equal(t, http.CanonicalHeaderKey(p.defaults.Header), p.defaults.Header, p.name)
	}
}

func TestPresetsRefuseOptionsTheyDoNotHave(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	_, err := ctx.LoadModuleByID("ai_gateway.providers.openai", []byte(`{"pace": 1}`))
	assert.Error(t, err)
}

func TestOnlyTheDemoAnswersInProcess(t *testing.T) {
	for _, p := range presets {
		_, inProcess := load(t, p.name, `{}`).(http.RoundTripper)
		assert.False(t, inProcess, p.name)
	}
	_, inProcess := load(t, "demo", `{}`).(http.RoundTripper)
	assert.True(t, inProcess)
}

func TestDemoAnswersAtTheAddressOfItsDefaults(t *testing.T) {
	d := load(t, "demo", `{"pace": -1}`).(*Demo)
	req, err := http.NewRequest(http.MethodGet, d.Defaults().BaseURL+"/models", nil)
	require.NoError(t, err)
	res, err := d.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	assert.Equal(t, http.StatusOK, res.StatusCode)
}

func TestDemoReadsItsPace(t *testing.T) {
	for input, want := range map[string]time.Duration{
		"pace 5ms": 5 * time.Millisecond, "pace off": -1, "pace 1s": time.Second,
	} {
		var d Demo
		require.NoError(t, d.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input)), input)
		assert.Equal(t, caddy.Duration(want), d.Pace, input)
	}
}

func TestStrictDemoRefusesWhatTheVendorsRefuse(t *testing.T) {
	for input, want := range map[string]int{"pace off": http.StatusOK, "pace off\nstrict": http.StatusBadRequest} {
		d := new(Demo)
		require.NoError(t, d.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input)))
		require.NoError(t, d.Provision(caddy.Context{}))
		body := `{"model":"demo","messages":[{"role":"user","content":"x"}],"cache_control":{}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.Defaults().BaseURL+"/chat/completions", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		res, err := d.RoundTrip(r)
		require.NoError(t, err)
		_ = res.Body.Close()
		assert.Equal(t, want, res.StatusCode, input)
	}
}

func TestDemoRefusesWhatIsNoPace(t *testing.T) {
	for _, input := range []string{"pace", "pace 0", "pace -1s", "pace soon", "pace 1s 2s", "speed 1s", "strict off"} {
		var d Demo
		err := d.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input))
		assert.ErrorContains(t, err, "Testfile:1", input)
	}
}
