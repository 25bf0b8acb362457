package models_test

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	}
	for i, n := range names {
		lines = append(lines, fmt.Sprintf("model other%d {\nto %s/%s\n}\nmodel usual%d {\nto %s/%s\n}", i, n[0], n[1], i, n[0], n[2]))
	}
	lines = append(lines, "model unheard-of {\nto bedrock_converse/Unheard-Of:300k\n}")
	s := site.Start(t, lines...)
	for i, n := range names {
		facts := factsOf(t, s, fmt.Sprintf("other%d", i))
		if assert.NotNil(t, facts, n) {
			assert.Equal(t, factsOf(t, s, fmt.Sprintf("usual%d", i))["values"], facts["values"], n)
		}
	}
	assert.Nil(t, factsOf(t, s, "unheard-of"))
}

// factsOf returns the facts of the target of a model, as operators see them; nil for none.
func factsOf(t *testing.T, s *site.Site, model string) map[string]any {
	t.Helper()
	reply := s.Call(http.MethodGet, s.AdminURL("/api/v1/explain?model="+model), "")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	var explanation struct {
		Targets []struct{ Facts map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(reply.Body), &explanation))
	return explanation.Targets[0].Facts
}

// The ARN of an application inference profile shows no model, so that Claude behind it got the fields
// of no vendor: a temperature, and an effort in a member that it refuses.
func TestSameAsNamesTheModelBehindAName(t *testing.T) {
	fakes := service.Start(t)
	lines, _ := configuration(t, fakes)
	lines = append(lines,
		"model profile {\nto bedrock_converse/arn:aws:bedrock:us-east-1:1:application-inference-profile/abc {\nsame_as anthropic.claude-sonnet-5-5\n}\n}",
		"model deployment {\nsame_as gpt-5.5\nto azure/ours\n}",
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

	for _, model := range []string{"profile", "deployment"} { // operators were warned that nothing is known of the name
		assert.NotNil(t, factsOf(t, s, model), model)
	}
}
