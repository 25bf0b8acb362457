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

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
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
	const chat, messages, completions, responses = translate.Chat, translate.Messages, translate.Completions, translate.Responses
	type list = []translate.Format
	type traits = map[string]string
	local := aigateway.AnswerBounds{ResponseHeaderTimeout: caddy.Duration(30 * time.Minute), FirstEventTimeout: caddy.Duration(30 * time.Minute)}
	for id, want := range map[string]aigateway.Defaults{
		"anthropic": {
			BaseURL: "https://api.anthropic.com", Formats: list{messages},
			Header: "X-Api-Key", KeyRequired: true, ListsModels: true,
			Traits: traits{"thinking_style": "both"},
		},
		"openai": {
			BaseURL: "https://api.openai.com/v1", Formats: list{responses, chat, completions}, KeyRequired: true, ListsModels: true,
			ModelFormats: []aigateway.ModelFormats{
				{Pattern: "*-instruct*", Formats: list{completions}}, {Pattern: "*davinci-002*", Formats: list{completions}},
				{Pattern: "*babbage-002*", Formats: list{completions}}, {Pattern: "*", Formats: list{responses, chat}},
			},
			Traits: traits{
				"max_tokens_field": "max_completion_tokens", "max_stops": "4", "responses_reasoning": "encrypted", "user_field": "safety_identifier",
				"files": "true", "tool_call_ids": "short", "extensions": "service_tier prompt_cache_key",
			},
		},
		"openai_compatible": {Formats: list{chat, completions}},
		"deepseek": {
			BaseURL: "https://api.deepseek.com", Formats: list{chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{"attribution": "drop", "reasoning_effort": "low medium high xhigh max", "reasoning_replay": "reasoning_content"},
		},
		"groq": {
			BaseURL: "https://api.groq.com/openai/v1", Formats: list{chat, responses}, KeyRequired: true, ListsModels: true,
			Traits: traits{"max_tokens_field": "max_completion_tokens", "max_stops": "4", "native_n": "false", "reasoning_replay": "drop"},
		},
		"mistral": {
			BaseURL: "https://api.mistral.ai/v1", Formats: list{chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{"include_usage": "false", "user_field": "none", "tool_call_ids": "nine", "after_results": "assistant", "reasoning_replay": "drop"},
		},
		"openrouter": {
			BaseURL: "https://openrouter.ai/api/v1", Formats: list{chat, messages, responses}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"extensions": "top_k min_p top_a repetition_penalty", "files": "true",
				"prefill": "native", "reasoning_replay": "reasoning", "tool_call_ids": "short", "stated_cost": "usd",
				"video": "true",
			},
		},
		"together": {
			BaseURL: "https://api.together.xyz/v1", Formats: list{chat, completions}, KeyRequired: true, ListsModels: true,
			Traits: traits{"extensions": "top_k min_p repetition_penalty", "reasoning_replay": "reasoning"},
		},
		"xai": {
			BaseURL: "https://api.x.ai/v1", Formats: list{responses, chat, completions}, KeyRequired: true, ListsModels: true,
			Traits: traits{"max_tokens_field": "max_completion_tokens", "responses_reasoning": "encrypted", "stated_cost": "usd"},
		},
		"moonshot": {
			BaseURL: "https://api.moonshot.ai/v1", Formats: list{chat, responses}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"max_tokens_field": "max_completion_tokens", "user_field": "safety_identifier", "max_stops": "5", "native_n": "false",
				"reasoning_replay": "reasoning_content", "schema_references": "alone", "tool_names": "letter", "attribution": "drop", "extensions": "prompt_cache_key",
			},
		},
		"dashscope": {
			BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Formats: list{chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"reasoning_replay": "reasoning_content", "attribution": "drop",
				"extensions": "top_k repetition_penalty enable_thinking thinking_budget preserve_thinking", "video": "true",
			},
		},
		"zai": {
			BaseURL: "https://api.z.ai/api/paas/v4", Formats: list{chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"max_stops": "1", "tool_choice": "auto", "json_schema": "object", "native_n": "false", "user_field": "none",
				"reasoning_replay": "reasoning_content", "attribution": "drop",
			},
		},
		"minimax": {
			BaseURL: "https://api.minimax.io/v1", Formats: list{responses, chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"max_tokens_field": "max_completion_tokens", "mid_system": "hoist", "native_n": "false", "user_field": "none",
				"attribution": "drop", "extensions": "reasoning_split", "responses_reasoning": "summary",
			},
		},
		"siliconflow": {
			BaseURL: "https://api.siliconflow.com/v1", Formats: list{chat}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"max_stops": "4", "reasoning_replay": "reasoning_content", "attribution": "drop", "extensions": "top_k min_p enable_thinking thinking_budget",
				"video": "true",
			},
		},
		"fireworks": {
			BaseURL: "https://api.fireworks.ai/inference/v1", Formats: list{chat, completions, messages, responses}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"max_stops": "4", "reasoning_replay": "reasoning_content", "attribution": "drop",
				"extensions": "top_k min_p repetition_penalty prompt_cache_key",
			},
		},
		"deepinfra": {
			BaseURL: "https://api.deepinfra.com/v1/openai", Formats: list{chat, completions}, KeyRequired: true, ListsModels: true,
			Traits: traits{"extensions": "top_k min_p repetition_penalty", "stated_cost": "usd", "reasoning_replay": "reasoning_content"},
		},
		"cerebras": {
			BaseURL: "https://api.cerebras.ai/v1", Formats: list{chat, completions}, KeyRequired: true, ListsModels: true,
			Traits: traits{
				"max_tokens_field": "max_completion_tokens", "max_stops": "4", "native_n": "false", "reasoning_replay": "reasoning", "penalties": "false",
			},
		},
		"nvidia": {
			BaseURL: "https://integrate.api.nvidia.com/v1", Formats: list{chat, completions}, KeyRequired: true, ListsModels: true,
			Traits: traits{"reasoning_replay": "reasoning_content"},
		},
		"cohere": {
			BaseURL: "https://api.cohere.ai/compatibility/v1", Formats: list{chat}, KeyRequired: true,
			Traits: traits{"max_stops": "5", "native_n": "false", "user_field": "none"},
		},
		"llamacpp": {
			BaseURL: "http://localhost:8080/v1", Formats: list{chat, completions, messages}, ListsModels: true, AnswerBounds: local,
			Traits: traits{"messages_schema": "false",
				"extensions": "top_k min_p repeat_penalty grammar json_schema cache_prompt",
				"mid_system": "user", "alternation": "true", "attribution": "drop",
				"native_n": "false", "prefill": "native", "reasoning_replay": "reasoning_content", "usage_details": "fill", "trace_upstream": "true",
			},
		},
		"ollama": {
			BaseURL: "http://localhost:11434/v1", Formats: list{chat, completions, messages, responses}, ListsModels: true, AnswerBounds: local,
			Traits: traits{"messages_schema": "false",
				"mid_system": "user", "alternation": "true", "attribution": "drop",
				"image_url": "base64", "native_n": "false", "reasoning_effort": "none", "reasoning_replay": "reasoning", "usage_details": "fill", "trace_upstream": "true", "user_field": "none",
			},
		},
		"vllm": {
			BaseURL: "http://localhost:8000/v1", Formats: list{chat, completions, messages, responses}, ListsModels: true, AnswerBounds: local,
			Traits: traits{
				"extensions": "top_k min_p repetition_penalty length_penalty min_tokens stop_token_ids" +
					" include_stop_str_in_output ignore_eos structured_outputs priority",
				"mid_system": "user", "alternation": "true", "attribution": "drop", "prefill": "vllm", "reasoning_replay": "reasoning", "usage_details": "fill", "trace_upstream": "true",
			},
		},
		"demo": {BaseURL: "http://demo/v1", Formats: formats.Names(), ListsModels: true},
	} {
		t.Run(id, func(t *testing.T) {
			got := load(t, id, `{}`).(aigateway.Preset).Defaults()
			got.ModelTraits = nil                                                 // another test checks them
			got.Protocol, got.Listing = aigateway.Protocol{}, aigateway.Listing{} // functions cannot be compared
			assert.Equal(t, want, got)
		})
	}
}

func TestPresetsHaveTraitsThatExist(t *testing.T) {
	for _, p := range presets {
		assert.NoError(t, new(trait.Traits).SetAll(p.defaults.Traits), p.name)
		for _, row := range p.defaults.ModelTraits {
			_, err := aigateway.ParsePattern(string(row.Pattern))
			assert.NoError(t, err, p.name)
			assert.NoError(t, new(trait.Traits).SetAll(row.Traits), "%s %s", p.name, row.Pattern)
		}
	}
}

// Claude Code requests 32000 tokens, which services refuse for some of their models. Answers
// of Claude to chat clients that set no bound were cut off at 4096 tokens.
func TestPresetsKnowTheLongestAnswers(t *testing.T) {
	for _, c := range []struct {
		preset, model   string
		limit, standard int64 // 0 for no bound
	}{
		{"anthropic", "claude-3-haiku-20240307", 4096, 4096},
		{"anthropic", "claude-3-5-sonnet-20241022", 8192, 8192},
		{"anthropic", "claude-3-7-sonnet-20250219", 64000, 32000},
		{"anthropic", "claude-opus-4-20250514", 32000, 32000},
		{"anthropic", "claude-opus-4-1-20250805", 32000, 32000},
		{"anthropic", "claude-sonnet-4-20250514", 64000, 32000},
		{"anthropic", "claude-haiku-4-5", 64000, 32000},
		{"anthropic", "claude-opus-5-5", 128000, 32000},
		{"anthropic", "deepseek-chat", 0, 4096}, // other services speak the format, too
		{"openai", "gpt-4o-mini", 16384, 4096},
		{"openai", "gpt-4o-2024-05-13", 4096, 4096},
		{"openai", "gpt-4.1", 32768, 4096},
		{"openai", "gpt-5.4", 128000, 4096},
		{"openai", "ft:gpt-4.1-mini-2025-04-14:org::id", 32768, 4096},
		{"openrouter", "openai/gpt-4o-mini:online", 16384, 4096},
		{"openai", "gpt-5.2-chat-latest", 16384, 4096},
		{"gemini", "gemini-2.0-flash", 8192, 4096},
		{"gemini", "gemini-3.7-flash", 65536, 4096},
		{"groq", "meta-llama/llama-4-scout-17b-16e-instruct", 8192, 4096},
		{"deepseek", "deepseek-chat", 8192, 4096},
		{"deepseek", "deepseek-reasoner", 65536, 4096},
	} {
		traits := traitsOfModel(t, c.preset, c.model)
		assert.Equal(t, c.limit, traits.MaxOutputTokens, c.model)
		assert.Equal(t, c.standard, traits.MaxTokens(), c.model)
	}
}

// A session that changed to a model of Mistral on OpenRouter after a call was refused: the id of the
// call had not nine letters, or a text of the user was behind the result.
func TestModelsOfMistralGetIDsOfNineLettersAndNotesBehindResults(t *testing.T) {
	for _, preset := range []string{"openrouter", "together", "fireworks", "deepinfra", "nvidia", "openai_compatible", "vllm", "ollama", "llamacpp"} {
		for _, model := range []string{"mistralai/mistral-large", "Ministral-3B", "codestral-2", "devstral:24b", "mistralai/Mixtral-8x7B", "pixtral-12b"} {
			assert.Equal(t, trait.CallIDsNine, traitsOfModel(t, preset, model).CallIDs, "%s %s", preset, model)
			assert.True(t, traitsOfModel(t, preset, model).AssistantAfterResults, "%s %s", preset, model)
		}
		assert.NotEqual(t, trait.CallIDsNine, traitsOfModel(t, preset, "qwen3").CallIDs, preset)
	}
}

// traitsOfModel returns the traits that a preset and the table of models set for a model.
func traitsOfModel(t *testing.T, preset, model string) (traits trait.Traits) {
	d := load(t, preset, `{}`).(aigateway.Preset).Defaults()
	for _, row := range d.ModelTraits {
		if row.Pattern.Match(model) {
			require.NoError(t, traits.SetAll(row.Traits))
			break
		}
	}
	facts := models.Builtin().Find(preset, model)
	if facts == nil && d.Listing.Base != nil {
		facts = models.Builtin().Find(preset, d.Listing.Base(model))
	}
	require.NoError(t, traits.SetAll(facts.Traits()))
	return traits
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

// If the demo provider offered a format that it does not speak, every request in this format
// would fail in a gateway without another provider.
func TestDemoSpeaksEveryFormat(t *testing.T) {
	d := load(t, "demo", `{"pace": -1}`).(*Demo)
	for _, f := range formats.All() {
		path, _ := f.Provider.Call(format.Call{Base: "/v1", Operation: translate.Generate})
		req, err := http.NewRequest(http.MethodPost, "http://demo"+path, strings.NewReader("{}"))
		require.NoError(t, err)
		res, err := d.RoundTrip(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		assert.NotEqual(t, http.StatusNotFound, res.StatusCode, path)
	}
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
		body := `{"model":"demo","messages":[{"role":"user","content":"x"}],"thinking":{}}`
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
