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
	const chat, messages, completions = translate.Chat, translate.Messages, translate.Completions
	type formats = []translate.Format
	type traits = map[string]string
	local := exchange.Limits{ResponseHeaderTimeout: caddy.Duration(30 * time.Minute), FirstEventTimeout: caddy.Duration(30 * time.Minute)}
	for id, want := range map[string]exchange.Defaults{
		"anthropic": {
			BaseURL: "https://api.anthropic.com", Formats: formats{messages},
			Header: "X-Api-Key", KeyRequired: true, ListsModels: true,
			Traits: traits{"thinking_style": "adaptive"},
		},
		"openai": {
			BaseURL: "https://api.openai.com/v1", Formats: formats{chat, completions}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"max_tokens_field": "max_completion_tokens", "user_field": "safety_identifier",
				"files": "true", "extensions": "service_tier",
			},
		},
		"openai_compatible": {Formats: formats{chat, completions}},
		"deepseek": {
			BaseURL: "https://api.deepseek.com", Formats: formats{chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{"reasoning_effort": "low medium high xhigh max", "reasoning_replay": "reasoning_content"},
		},
		"groq": {
			BaseURL: "https://api.groq.com/openai/v1", Formats: formats{chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{"max_tokens_field": "max_completion_tokens", "native_n": "false"},
		},
		"mistral": {
			BaseURL: "https://api.mistral.ai/v1", Formats: formats{chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{"include_usage": "false", "user_field": "none"},
		},
		"openrouter": {
			BaseURL: "https://openrouter.ai/api/v1", Formats: formats{chat, messages}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"extensions": "top_k min_p top_a repetition_penalty", "files": "true",
				"prefill": "native", "reasoning_replay": "reasoning",
			},
		},
		"together": {
			BaseURL: "https://api.together.xyz/v1", Formats: formats{chat, completions}, KeyRequired: true, ListsModels: true,
			Traits: traits{"extensions": "top_k min_p repetition_penalty"},
		},
		"xai": {
			BaseURL: "https://api.x.ai/v1", Formats: formats{chat, completions}, KeyRequired: true, ListsModels: true,
			Traits: traits{"max_tokens_field": "max_completion_tokens"},
		},
		"llamacpp": {
			BaseURL: "http://localhost:8080/v1", Formats: formats{chat, completions, messages}, ListsModels: true, Limits: local,
			Traits: traits{
				"extensions": "top_k min_p repeat_penalty grammar json_schema cache_prompt",
				"mid_system": "user", "alternation": "true",
				"native_n": "false", "prefill": "native", "reasoning_replay": "reasoning_content", "usage_details": "fill",
			},
		},
		"ollama": {
			BaseURL: "http://localhost:11434/v1", Formats: formats{chat, completions, messages}, ListsModels: true, Limits: local,
			Traits: traits{
				"mid_system": "user", "alternation": "true",
				"image_url": "base64", "native_n": "false", "reasoning_replay": "reasoning", "usage_details": "fill", "user_field": "none",
			},
		},
		"vllm": {
			BaseURL: "http://localhost:8000/v1", Formats: formats{chat, completions, messages}, ListsModels: true, Limits: local,
			Traits: traits{
				"extensions": "top_k min_p repetition_penalty length_penalty min_tokens stop_token_ids" +
					" include_stop_str_in_output ignore_eos structured_outputs priority",
				"mid_system": "user", "alternation": "true", "prefill": "vllm", "usage_details": "fill",
			},
		},
		"demo": {BaseURL: "http://demo/v1", Formats: translate.Formats, ListsModels: true},
	} {
		t.Run(id, func(t *testing.T) {
			assert.Equal(t, want, load(t, id, `{}`).(exchange.Preset).Defaults())
		})
	}
}

func TestPresetsHaveTraitsThatExist(t *testing.T) {
	for _, p := range presets {
		assert.NoError(t, new(translate.Traits).SetAll(p.defaults.Traits), p.name)
	}
}

func TestEveryHostedServiceNeedsAKey(t *testing.T) {
	for _, p := range presets {
		hosted := strings.HasPrefix(p.defaults.BaseURL, "https://")
		assert.Equal(t, hosted, p.defaults.KeyRequired, p.name)
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
