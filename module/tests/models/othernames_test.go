package models_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Services have one model under many names: in capital letters, behind a resource or a publisher, or
// with another context. Nothing was known of them, so that they got what they refuse.
func TestOtherNamesOfAModelHaveItsFacts(t *testing.T) {
	fakes := service.Start(t)
	lines, _ := configuration(t, fakes)
	names := [][3]string{
		{"azure", "GPT-5.5", "gpt-5.5"}, {"azure", "Gpt-5.5-2026-04-23", "gpt-5.5"},
		{"azure", "deepseek-v4-flash", "DeepSeek-V4-Flash"},
		{"groq", "OpenAI/GPT-OSS-120B", "openai/gpt-oss-120b"},
		{"openrouter", "Anthropic/Claude-Opus-5.5:Free", "anthropic/claude-opus-5.5"},
		{"gemini", "models/gemini-2.5-pro", "gemini-2.5-pro"},
		{"vertex", "publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"},
		{"vertex", "google/gemini-2.5-pro", "gemini-2.5-pro"},
		{"vertex_claude", "publishers/anthropic/models/claude-opus-5-5", "claude-opus-5-5"},
		{"vertex_claude", "claude-opus-5-5@default", "claude-opus-5-5"},
		{"bedrock_converse", "amazon.nova-pro-v1:0:300k", "amazon.nova-pro-v1:0"},
		{"bedrock_converse", "us.amazon.nova-pro-v1:0:24k", "amazon.nova-pro-v1:0"},
		{"bedrock_converse", "sa.anthropic.claude-opus-4-7", "anthropic.claude-opus-4-7"}, // of no region in the table
		{"bedrock_converse", "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0:300k", "amazon.nova-pro-v1:0"},
		{"bedrock", "arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{"bedrock", "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{"vertex_claude", "projects/p/locations/eu/publishers/anthropic/models/claude-opus-4-1@20250805", "claude-opus-4-1"},
		{"openai", "ft:gpt-4.1-mini-2025-04-14:acme::AbC", "gpt-4.1-mini"},
		{"openai", "ft:gpt-4.1-2025-04-14:acme:suffix:AbC:ckpt-step-90", "gpt-4.1"},
		{"openai", "FT:gpt-4.1-2025-04-14:acme::AbC", "gpt-4.1"},
		{"openai", "openai/gpt-5.5", "gpt-5.5"},
		{"azure", "gpt-5-5", "gpt-5.5"},
		{"vertex_claude", "claude-opus-4.7", "claude-opus-4-7"},
		{"vertex_claude", "claude-opus-4@20250514", "claude-opus-4@default"},
		{"openrouter", "anthropic/claude-opus-4-7", "anthropic/claude-opus-4.7"},
		{"gemini", "gemini-3.8-flash-preview-11-2026", "gemini-3.8-flash"},
	}
	for i, n := range names {
		lines = append(lines, fmt.Sprintf("model other%d {\nto %s/%s\n}\nmodel usual%d {\nto %s/%s\n}", i, n[0], n[1], i, n[0], n[2]))
	}
	unknown := []string{
		"bedrock_converse/Unheard-Of:300k", "bedrock/arn:aws:bedrock:us-east-1:1:provisioned-model/gpt4abc", "bedrock/arn:aws:bedrock:us-east-1:1:imported-model/o3",
		"bedrock_converse/arn:aws:bedrock:us-east-1:1:custom-model-deployment/abc", "vertex/1234567890123456789", "vertex/projects/1/locations/us-central1/endpoints/1234",
		"gemini/tunedModels/gemini-2.5-flash-x1", "azure/gpt-5.5-for-sales", "azure/my-gpt-5.5", "azure/o3-deployment", "openai/ft:unheard-of:acme::AbC",
	}
	for i, n := range unknown {
		lines = append(lines, fmt.Sprintf("model unknown%d {\nto %s\n}", i, n))
	}
	s := site.Start(t, lines...)
	for i, n := range names {
		facts := factsOf(t, s, fmt.Sprintf("other%d", i))
		if assert.NotNil(t, facts, n) {
			assert.Equal(t, factsOf(t, s, fmt.Sprintf("usual%d", i))["values"], facts["values"], n)
		}
	}
	for i, n := range unknown { // a part of which may look like the name of a model
		assert.Nil(t, factsOf(t, s, fmt.Sprintf("unknown%d", i)), n)
	}
}

// explained is what operators see of the target of a model.
type explained struct {
	Facts map[string]any
	Price string
	Lane  string
}

// factsOf returns the facts of the target of a model, nil for none.
func factsOf(t *testing.T, s *site.Site, model string) map[string]any {
	t.Helper()
	return explain(t, s, model).Facts
}

func explain(t *testing.T, s *site.Site, model string) explained {
	t.Helper()
	reply := s.Call(http.MethodGet, s.AdminURL("/api/v1/explain?model="+model), "")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	var explanation struct{ Targets []explained }
	require.NoError(t, json.Unmarshal([]byte(reply.Body), &explanation))
	return explanation.Targets[0]
}

// The ARN of an application inference profile shows no model, so that Claude behind it got the fields
// of no vendor: a temperature, and an effort in a member that it refuses.
func TestSameAsNamesTheModelBehindAName(t *testing.T) {
	fakes := service.Start(t)
	lines, _ := configuration(t, fakes)
	lines = append(lines,
		"model profile {\nto bedrock_converse/arn:aws:bedrock:us-east-1:1:application-inference-profile/abc {\nsame_as anthropic.claude-sonnet-5-5\n}\n}",
		"model deployment {\nsame_as gpt-5.5\nto azure/ours\n}",
		"model codex {\nsame_as gpt-5.3-codex\nto azure/coder\n}",
	)
	s := site.Start(t, lines...)
	ask := func(model string) (body string, dropped string) {
		reply := s.Ask(site.ChatPath, `{"model":"`+model+`","temperature":0.7,"reasoning_effort":"high","messages":[{"role":"user","content":"a"}]}`)
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		arrived, rule := fakes.Last()
		require.Nil(t, rule)
		return encoded(arrived.Body), reply.Header.Get("X-Gateway-Dropped")
	}
	body, dropped := ask("profile")
	assert.NotContains(t, body, "temperature")
	assert.Contains(t, body, `"thinking":{"type":"adaptive"}`)
	assert.NotContains(t, body, "reasoning_effort")
	assert.Equal(t, "temperature", dropped)
	body, dropped = ask("deployment")
	assert.NotContains(t, body, "temperature")
	assert.Contains(t, body, `"model":"ours"`)
	assert.Equal(t, "temperature", dropped)

	// The table has prices and endpoints by the same names: keys with a budget were refused, and clients
	// of chat were not translated for models that only the endpoint of responses has.
	assert.Contains(t, explain(t, s, "profile").Price, "claude-sonnet-5-5")
	assert.Contains(t, explain(t, s, "deployment").Price, "gpt-5.5")
	assert.Equal(t, "bytes", explain(t, s, "deployment").Lane)
	assert.Equal(t, "translated", explain(t, s, "codex").Lane)

	for _, model := range []string{"profile", "deployment"} { // operators were warned that nothing is known of the name
		assert.NotNil(t, factsOf(t, s, model), model)
	}
}

// Variants of OpenRouter, names with a date and rolling names had no price, so that keys with a budget
// were refused. Those that cost nothing must not have the price of their model; but every name that
// ended with :free cost nothing, whatever else it asked for.
func TestOtherNamesHaveAPrice(t *testing.T) {
	fakes := service.Start(t)
	lines, _ := configuration(t, fakes)
	names := [][3]string{
		{"openrouter", "qwen/qwen3-coder:free", "openrouter :free USD 0/0 "},
		{"openrouter", "nobody/Has-Heard-Of:free", "openrouter :free USD 0/0 "},
		{"openrouter", "anthropic/claude-opus-5.5:nitro", "openrouter anthropic/claude-opus-5.5 "},
		{"openrouter", "anthropic/claude-opus-5.5:online:free", "openrouter anthropic/claude-opus-5.5 "},
		{"openrouter", "anthropic/claude-opus-5.5:free:online", "openrouter anthropic/claude-opus-5.5 "},
		{"openrouter", "anthropic/claude-opus-5.5@preset/ours:free", ""},
		{"openrouter", "openai/gpt-5.4-2026-03-05", "openrouter openai/gpt-5.4 "},
		{"openrouter", "~anthropic/claude-sonnet-latest", "openrouter anthropic/claude-sonnet-5.5 "},
		{"openrouter", "nobody/has-heard-of", ""},
		{"azure", "GPT-5.4-2026-03-05", "azure gpt-5.4"},
	}
	for i, n := range names {
		lines = append(lines, fmt.Sprintf("model priced%d {\nto %s/%s\n}", i, n[0], n[1]))
	}
	s := site.Start(t, lines...)
	for i, n := range names {
		price := explain(t, s, fmt.Sprintf("priced%d", i)).Price
		assert.True(t, strings.HasPrefix(price, n[2]) && (n[2] != "" || price == ""), "%s: %s", n[1], price)
	}
}
