package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	messagesanswer "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func TestUsageIsWrittenForMessagesClients(t *testing.T) {
	for name, tt := range map[string]struct {
		usage token.Usage
		tier  event.Tier
		want  string
	}{
		"unknown": {want: `{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}`},
		"all": {
			token.Usage{Counts: token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 3, Answer: 35, Reasoning: 5}, Known: true}, event.TierPriority,
			`{"input_tokens":1,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":40,"output_tokens_details":{"thinking_tokens":5},"service_tier":"priority"}`,
		},
	} {
		assert.Equal(t, "x"+tt.want, string(messagesanswer.AppendUsage([]byte("x"), tt.usage, tt.tier)), name)
	}
}

func TestUsageIsWrittenForClientsOfChoices(t *testing.T) {
	usage := token.Usage{Counts: token.Counts{Fresh: 3, CacheRead: 900, CacheWrite: 12304, Answer: 500, Reasoning: 50}, Known: true}
	const output = `"completion_tokens_details":{"text_tokens":500,"audio_tokens":0,"reasoning_tokens":50}}`
	for name, tt := range map[string]struct {
		memory translate.AnswerContext
		want   string
	}{
		"text alone": {translate.AnswerContext{}, `"prompt_tokens_details":{"cached_tokens":900,"text_tokens":13207,"audio_tokens":0,"image_tokens":0,"cache_write_tokens":12304},`},
		"media":      {translate.AnswerContext{Input: translate.Input{Media: true}}, `"prompt_tokens_details":{"cached_tokens":900,"audio_tokens":0,"image_tokens":0,"cache_write_tokens":12304},`},
		"images":     {translate.AnswerContext{Input: translate.Input{Images: true, Media: true}}, `"prompt_tokens_details":{"cached_tokens":900,"audio_tokens":0,"cache_write_tokens":12304},`},
	} {
		want := `{"prompt_tokens":13207,"completion_tokens":550,"total_tokens":13757,` + tt.want + output
		assert.Equal(t, want, string(openai.AppendUsage(nil, usage, &tt.memory)), name)
	}
}
