package module_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// received is the last request that a provider got.
func received(t *testing.T, p *gatewaytest.Provider) map[string]any {
	t.Helper()
	requests := p.Requests()
	require.NotEmpty(t, requests)
	var body map[string]any
	require.NoError(t, json.Unmarshal(requests[len(requests)-1].Body, &body))
	return body
}

func TestTraitsShapeTranslatedRequests(t *testing.T) {
	const ask = `{"model":"m","max_tokens":100,"top_k":3,"stream":true,"metadata":{"user_id":"u1"},` +
		`"messages":[{"role":"user","content":"hello"}]}`
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "format chat", "max_tokens_field max_completion_tokens",
			"user_field safety_identifier", "extensions top_k min_p", "include_usage off"))
		s.ask(messagesPath, ask)
		body := received(t, p)
		assert.Equal(t, 100.0, body["max_completion_tokens"])
		assert.NotContains(t, body, "max_tokens")
		assert.Equal(t, "u1", body["safety_identifier"])
		assert.Equal(t, 3.0, body["top_k"])
		assert.NotContains(t, body, "stream_options")
	})
}

func TestPresetsBringTraitsAndTheConfigurationOverrulesThem(t *testing.T) {
	t.Setenv("MISTRAL_API_KEY", "sk-mistral-0123456789")
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		mistral := func(name string, lines ...string) string {
			block := w.provider(name, p, append(lines, "models "+name, "api_key {env.MISTRAL_API_KEY}")...)
			return strings.Replace(block, " vllm ", " mistral ", 1)
		}
		s := startSite(t, mistral("preset"), mistral("overruled", "include_usage on", "user_field user"))
		asked := func(path, model, more string) map[string]any {
			body := strings.TrimSuffix(bodyFor(path, model, "hello", true), "}") + more + "}"
			assert.Equal(t, 200, s.ask(path, body).status)
			return received(t, p)
		}
		const user = `,"metadata":{"user_id":"u1"}`
		for _, path := range []string{chatPath, messagesPath} {
			assert.NotContains(t, asked(path, "preset", ""), "stream_options", path)
			assert.Contains(t, asked(path, "overruled", ""), "stream_options", path)
		}
		assert.NotContains(t, asked(messagesPath, "preset", user), "user")
		assert.Equal(t, "u1", asked(messagesPath, "overruled", user)["user"])
	})
}

// OpenAI's completions got safety_identifier and service_tier, options of its
// chat requests that the endpoint refuses.
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

// DeepSeek refuses more tokens than its model gives, which Claude Code asks for;
// Claude cut off clients that ask for no number.
func TestTokensAreThoseThatThePresetKnowsOfTheModel(t *testing.T) {
	t.Setenv("PROVIDER_KEY", "sk-provider-0123456789")
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		block := func(preset string, lines ...string) string {
			block := w.provider(preset, p, append(lines, "api_key {env.PROVIDER_KEY}")...)
			return strings.Replace(block, " vllm ", " "+preset+" ", 1)
		}
		s := startSite(t, block("deepseek", "models deepseek-*"), block("anthropic", "models claude-*", "thinking_style none"), "model alias {\nto deepseek/deepseek-chat\n}")
		for _, c := range []struct {
			path, model, tokens, dropped string
			want                         float64
		}{
			{messagesPath, "deepseek-chat", "32000", "max_tokens", 8192},
			{messagesPath, "alias", "32000", "max_tokens", 8192},
			{messagesPath, "deepseek-v4-pro", "32000", "", 32000},
			{chatPath, "claude-sonnet-4-5", "null", "max_tokens", 32000},
			{chatPath, "claude-3-haiku-20240307", "5000", "max_tokens", 4096},
		} {
			answer := s.ask(c.path, `{"model":"`+c.model+`","max_tokens":`+c.tokens+`,"messages":[{"role":"user","content":"hello"}]}`)
			require.Equal(t, 200, answer.status, answer.body)
			assert.Equal(t, c.want, received(t, p)["max_tokens"], c.model)
			assert.Equal(t, c.dropped, answer.header.Get("X-Gateway-Dropped"), c.model)
		}
	})
}

// What `caddy validate` says of traits that were written in JSON.
func TestTraitsInJSONAreChecked(t *testing.T) {
	for traits, want := range map[string]string{
		`{"files":"true"}`:    "",
		`{"files":"yes"}`:     "provider 'p': traits: files: must be 'false', 'true' or 'drop', got 'yes'",
		`{"file":"true"}`:     "provider 'p': traits: file: is not known; the traits are max_tokens_field, ",
		`{"max_fan_out":"0"}`: "provider 'p': traits: max_fan_out: must be an integer of at least 1, got '0'",
	} {
		eachWay(t, func(t *testing.T, w way) {
			t.Setenv("CLIENT_KEY", clientKey)
			raw, err := gatewaytest.Adapt(strings.ReplaceAll(
				siteBlock("", "provider p vllm {\n"+w.to("127.0.0.1:9")+"files on\n}"), "PORT(site)", "9"))
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
