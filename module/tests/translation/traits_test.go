package translation_test

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestTraitsShapeTranslatedRequests(t *testing.T) {
	const ask = `{"model":"m","max_tokens":100,"top_k":3,"stream":true,"metadata":{"user_id":"u1"},` +
		`"messages":[{"role":"user","content":"hello"}]}`
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat", "max_tokens_field max_completion_tokens",
			"user_field safety_identifier", "extensions top_k min_p", "include_usage off"))
		s.Ask(site.MessagesPath, ask)
		body := p.LastJSON(t)
		assert.Equal(t, 100.0, body["max_completion_tokens"])
		assert.NotContains(t, body, "max_tokens")
		assert.Equal(t, "u1", body["safety_identifier"])
		assert.Equal(t, 3.0, body["top_k"])
		assert.NotContains(t, body, "stream_options")
	})
}

func TestPresetsBringTraitsAndTheConfigurationOverrulesThem(t *testing.T) {
	t.Setenv("MISTRAL_API_KEY", "sk-mistral-0123456789")
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		mistral := func(name string, lines ...string) string {
			return w.Preset("mistral", name, p, append(lines, "models "+name, "api_key {env.MISTRAL_API_KEY}")...)
		}
		s := site.Start(t, mistral("preset"), mistral("overruled", "include_usage on", "user_field user"))
		asked := func(path, model, more string) map[string]any {
			body := strings.TrimSuffix(site.BodyFor(path, model, "hello", true), "}") + more + "}"
			assert.Equal(t, 200, s.Ask(path, body).Status)
			return p.LastJSON(t)
		}
		const user = `,"metadata":{"user_id":"u1"}`
		for _, path := range []string{site.ChatPath, site.MessagesPath} {
			assert.NotContains(t, asked(path, "preset", ""), "stream_options", path)
			assert.Contains(t, asked(path, "overruled", ""), "stream_options", path)
		}
		assert.NotContains(t, asked(site.MessagesPath, "preset", user), "user")
		assert.Equal(t, "u1", asked(site.MessagesPath, "overruled", user)["user"])
	})
}

// Completions requests to OpenAI once contained safety_identifier and service_tier, options
// of chat requests that the endpoint refuses.
func TestCompletionsOfOpenAIGetTheirOwnFieldsAlone(t *testing.T) {
	t.Setenv("OPENAI_KEY", "sk-openai-0123456789")
	const turns, key = `"Human: x\n\nAssistant:","stop":["\n\nHuman:"]`, "api_key {env.OPENAI_KEY}"
	runAskings(t, []asking{
		{
			name: "from messages", lane: "m>t openai", traits: key, body: `"service_tier":"auto","metadata":{"user_id":"u1"},` + oneTurn,
			want: `"max_tokens":9,"user":"u1","prompt":` + turns, dropped: "service_tier",
		},
		{
			name: "from chat", lane: "c>t openai", traits: key, body: `"safety_identifier":"u1","service_tier":"flex",` + chatTurn,
			want: `"user":"u1","prompt":` + turns, dropped: "service_tier",
		},
	})
}

// DeepSeek refuses a max_tokens above the bound of its model, as Claude Code sends it.
// Claude once ended answers early if the client sent no max_tokens.
func TestTokensAreThoseThatThePresetKnowsOfTheModel(t *testing.T) {
	t.Setenv("PROVIDER_KEY", "sk-provider-0123456789")
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		block := func(preset string, lines ...string) string {
			return w.Preset(preset, preset, p, append(lines, "api_key {env.PROVIDER_KEY}")...)
		}
		s := site.Start(t, block("deepseek", "models deepseek-*"), block("anthropic", "models claude-*", "thinking_style none"), "model alias {\nto deepseek/deepseek-chat\n}")
		for _, c := range []struct {
			path, model, tokens, dropped string
			want                         float64
		}{
			{site.MessagesPath, "deepseek-chat", "32000", "max_tokens", 8192},
			{site.MessagesPath, "alias", "32000", "max_tokens", 8192},
			{site.MessagesPath, "deepseek-v4-pro", "32000", "", 32000},
			{site.ChatPath, "claude-sonnet-4-5", "null", "max_tokens", 32000},
			{site.ChatPath, "claude-3-haiku-20240307", "5000", "max_tokens", 4096},
		} {
			answer := s.Ask(c.path, `{"model":"`+c.model+`","max_tokens":`+c.tokens+`,"messages":[{"role":"user","content":"hello"}]}`)
			require.Equal(t, 200, answer.Status, answer.Body)
			assert.Equal(t, c.want, p.LastJSON(t)["max_tokens"], c.model)
			assert.Equal(t, c.dropped, answer.Header.Get("X-Gateway-Dropped"), c.model)
		}
	})
}

// `caddy validate` checks traits that are written in JSON.
func TestTraitsInJSONAreChecked(t *testing.T) {
	for traits, want := range map[string]string{
		`{"files":"true"}`:    "",
		`{"files":"yes"}`:     "provider 'p': traits: files: must be 'false', 'true' or 'drop', got 'yes'",
		`{"file":"true"}`:     "provider 'p': traits: file: is not known; the traits are max_tokens_field, ",
		`{"max_fan_out":"0"}`: "provider 'p': traits: max_fan_out: must be an integer of at least 1, got '0'",
	} {
		site.EitherWay(t, func(t *testing.T, w site.Way) {
			t.Setenv("CLIENT_KEY", site.ClientKey)
			raw, err := gatewaytest.Adapt(strings.ReplaceAll(
				site.Block("", "provider p vllm {\n"+w.To("127.0.0.1:9")+"files on\n}"), "PORT(site)", "9"))
			require.NoError(t, err)
			raw = []byte(strings.Replace(string(raw), `{"files":"on"}`, traits, 1))
			var config caddy.Config
			require.NoError(t, caddy.StrictUnmarshalJSON(raw, &config))
			config.StorageRaw = []byte(`{"module":"file_system","root":"` + t.TempDir() + `"}`)
			err = caddy.Validate(&config)
			if want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}
