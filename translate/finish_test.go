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
		"tool_calls":     {"end_turn", "tool_use", "stop"},
		"function_call":  {"end_turn", "tool_use", "stop"},
		"content_filter": {"refusal", "refusal", "content_filter"},
		"":               {"end_turn", "tool_use", "stop"},
		"eos_token":      {"end_turn", "tool_use", "stop"},
		"STOP":           {"end_turn", "tool_use", "stop"},
	} {
		reason := translate.ReadChoicesFinish(word)
		assert.Equal(t, want.messages, reason.Messages(false), word)
		assert.Equal(t, want.called, reason.Messages(true), word)
		assert.Equal(t, want.completions, reason.Completions(false), word)
	}
}

// A completions client got 502 for an answer that spoke of calls and made none,
// while the others got one that simply ended. For calls it has no word.
func TestOnlyCallsThatWereMadeWaitForCompletionsClients(t *testing.T) {
	for _, word := range []string{"tool_calls", "function_call"} {
		assert.Equal(t, "stop", translate.ReadChoicesFinish(word).Completions(false), word)
		assert.Empty(t, translate.ReadChoicesFinish(word).Completions(true), word)
	}
	assert.Equal(t, "stop", translate.ReadMessagesFinish("tool_use").Completions(false))
	assert.Empty(t, translate.ReadMessagesFinish("tool_use").Completions(true))
	assert.Equal(t, "length", translate.FinishLength.Completions(true))
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
		"tool_use":                      {"stop", "tool_calls", "stop"},
		"refusal":                       {"content_filter", "content_filter", "content_filter"},
		"pause_turn":                    {"length", "length", "length"},
		"compaction":                    {"length", "length", "length"},
		"":                              {"stop", "tool_calls", "stop"},
		"new_reason":                    {"stop", "tool_calls", "stop"},
	} {
		reason := translate.ReadMessagesFinish(word)
		assert.Equal(t, want.chat, reason.Chat(false), word)
		assert.Equal(t, want.called, reason.Chat(true), word)
		assert.Equal(t, want.completions, reason.Completions(false), word)
	}
	assert.Equal(t, "pause_turn", translate.FinishPaused.Messages(false))
}

// Chat clients read the words of a refusal in a member of their own, beside a turn
// that ended; the reason has to tell it in the other formats.
func TestARefusalInWordsEndsATurnOfChatClients(t *testing.T) {
	assert.Equal(t, "refusal", translate.FinishRefused.Messages(false))
	assert.Equal(t, "stop", translate.FinishRefused.Chat(false))
	assert.Equal(t, "tool_calls", translate.FinishRefused.Chat(true))
	assert.Equal(t, "content_filter", translate.FinishRefused.Completions(false))
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
