package translate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestFinishReasonsOfChoicesFollowTheirTable(t *testing.T) {
	for word, want := range map[string]struct{ messages, called, completions string }{
		"stop":           {"end_turn", "tool_use", "stop"},
		"length":         {"max_tokens", "max_tokens", "length"},
		"tool_calls":     {"end_turn", "tool_use", ""},
		"function_call":  {"end_turn", "tool_use", ""},
		"content_filter": {"refusal", "refusal", "content_filter"},
		"":               {"end_turn", "tool_use", "stop"},
		"eos_token":      {"end_turn", "tool_use", "stop"},
		"STOP":           {"end_turn", "tool_use", "stop"},
	} {
		reason := translate.ReadChoicesFinish(word)
		assert.Equal(t, want.messages, reason.Messages(false), word)
		assert.Equal(t, want.called, reason.Messages(true), word)
		assert.Equal(t, want.completions, reason.Completions(), word)
	}
}

// Bugs were here: a provider that made calls and said that its turn simply ended
// left its client with calls that it did not run, and one that spoke of calls and
// made none left it waiting.
func TestStopReasonsOfMessagesFollowTheirTable(t *testing.T) {
	for word, want := range map[string]struct{ chat, called, completions string }{
		"end_turn":                      {"stop", "tool_calls", "stop"},
		"stop_sequence":                 {"stop", "tool_calls", "stop"},
		"max_tokens":                    {"length", "length", "length"},
		"model_context_window_exceeded": {"length", "length", "length"},
		"tool_use":                      {"stop", "tool_calls", ""},
		"refusal":                       {"content_filter", "content_filter", "content_filter"},
		"pause_turn":                    {"length", "length", "length"},
		"compaction":                    {"length", "length", "length"},
		"":                              {"stop", "tool_calls", "stop"},
		"new_reason":                    {"stop", "tool_calls", "stop"},
	} {
		reason := translate.ReadMessagesFinish(word)
		assert.Equal(t, want.chat, reason.Chat(false), word)
		assert.Equal(t, want.called, reason.Chat(true), word)
		assert.Equal(t, want.completions, reason.Completions(), word)
	}
	assert.Equal(t, "pause_turn", translate.FinishPaused.Messages(false))
}

func TestServiceTiersFollowTheirTable(t *testing.T) {
	for word, want := range map[string]string{
		"default": "standard", "priority": "priority", "fast": "priority",
		"": "", "auto": "", "flex": "", "scale": "", "standard": "",
	} {
		assert.Equal(t, want, translate.ReadChoicesTier(word).Messages(), word)
	}
	for word, want := range map[string]string{"standard": "standard", "priority": "priority", "batch": "", "": ""} {
		assert.Equal(t, want, translate.ReadMessagesTier(word).Messages(), word)
	}
}
