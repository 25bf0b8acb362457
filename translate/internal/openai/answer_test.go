package openai_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func TestAnswersHaveModelAndUsage(t *testing.T) {
	answer, fault := openai.InspectAnswer([]byte(`{"id":"c","object":"chat.completion","model":"gpt\u002d5","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14}}`), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, signal.Answer{Model: "gpt-5", Ended: event.FinishStop, Usage: token.Usage{Counts: token.Counts{Fresh: 10, Answer: 4}, Known: true}}, answer)

	answer, fault = openai.InspectAnswer([]byte(`{"choices":[{}],"usage":null,"error":null}`), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, signal.Answer{}, answer)
}

func TestUnusableAnswersAreTheProvidersFault(t *testing.T) {
	for _, body := range []string{
		``, `<html>`, `null`, `[]`, `"a"`, `{}`, `{"choices":[]}`, `{"choices":null}`, `{"choices":[1]}`, `{"choices":{}}`,
		`{"choices":[{}]`, `{"choices":[{}]}x`, "{\"choices\":[{\"a\":\"\xff\"}]}", `{"content":[]}`,
	} {
		_, f := openai.InspectAnswer([]byte(body), translate.Generate)
		require.NotNil(t, f, body)
		assert.Equal(t, "the upstream returned an unusable answer", f.Message, body)
		assert.Equal(t, "upstream_invalid_response", f.Code)
		assert.Equal(t, fault.BadGateway, f.Kind)
	}
}

func TestErrorsInsideAnswersAreFaults(t *testing.T) {
	tests := []struct {
		body    string
		status  int
		message string
	}{
		{`{"error":{"message":"no","code":429}}`, 429, "no"},
		{`{"error":{"message":"no"},"choices":[{}]}`, 502, "no"},
		{`{"error":"no"}`, 502, "no"},
		{`{"object":"error","message":"no","code":400}`, 400, "no"},
		{`{"detail":"no"}`, 502, "no"},
		{`{"error":{"message":"no","code":200}}`, 502, "no"},
		{`{"error":{"message":"no","code":"insufficient_quota"}}`, 429, "the gateway's account with the upstream is exhausted"},
	}
	for _, tt := range tests {
		_, fault := openai.InspectAnswer([]byte(tt.body), translate.Generate)
		require.NotNil(t, fault, tt.body)
		assert.Equal(t, tt.status, formats.Of(translate.Chat).Errors.Status(fault), tt.body)
		assert.Equal(t, tt.message, fault.Message)
	}
}

func TestUsageCountsWithoutOverlap(t *testing.T) {
	tests := []struct {
		name, usage string
		want        token.Usage
	}{
		{"cached tokens", `{"prompt_tokens":1000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":900}}`, token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 900, Answer: 5}}},
		{"written tokens", `{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":100,"cache_write_tokens":300}}`, token.Usage{Counts: token.Counts{Fresh: 600, CacheRead: 100, CacheWrite: 300}}},
		{"hit tokens", `{"prompt_tokens":100,"prompt_cache_hit_tokens":64}`, token.Usage{Counts: token.Counts{Fresh: 36, CacheRead: 64}}},
		{"names of another format", `{"prompt_tokens":100,"cache_read_input_tokens":10,"cache_creation_input_tokens":20}`, token.Usage{Counts: token.Counts{Fresh: 70, CacheRead: 10, CacheWrite: 20}}},
		{"reasoning", `{"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":7}}`, token.Usage{Counts: token.Counts{Answer: 2, Reasoning: 7}}},
		{"more cached than sent", `{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9}}`, token.Usage{Counts: token.Counts{Fresh: 5, CacheRead: 9}, Inconsistent: true}},
		{"nulls", `{"prompt_tokens":null,"completion_tokens":null,"prompt_tokens_details":null,"completion_tokens_details":null}`, token.Usage{}},
		{"odd kinds", `{"prompt_tokens":"7","completion_tokens":[1],"prompt_tokens_details":5,"completion_tokens_details":"x"}`, token.Usage{}},
		{"negative", `{"prompt_tokens":-5,"completion_tokens":1}`, token.Usage{Counts: token.Counts{Answer: 1}, Inconsistent: true}},
		{"fractions", `{"prompt_tokens":1.5,"completion_tokens":2.0}`, token.Usage{Counts: token.Counts{Answer: 2}}},
		{"huge", `{"prompt_tokens":0,"prompt_tokens_details":{"cached_tokens":9223372036854775807,"cache_write_tokens":9223372036854775807}}`, token.Usage{Counts: token.Counts{CacheRead: 1 << 53, CacheWrite: 1 << 53}, Inconsistent: true}},
		{"nothing", `{}`, token.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, fault := openai.InspectAnswer([]byte(`{"choices":[{}],"usage":`+tt.usage+`}`), translate.Generate)
			require.Nil(t, fault)
			tt.want.Known = true
			assert.Equal(t, tt.want, got.Usage)
			assert.GreaterOrEqual(t, got.Usage.Input(), got.Usage.Fresh)
		})
	}
}
