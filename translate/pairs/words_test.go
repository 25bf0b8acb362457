package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	completionsanswer "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	messagesanswer "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
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
		reason := event.Reason([]byte(word))
		assert.Equal(t, want.messages, messagesanswer.StopReason(reason, false), word)
		assert.Equal(t, want.called, messagesanswer.StopReason(reason, true), word)
		assert.Equal(t, want.completions, completionsanswer.FinishReason(reason, false), word)
	}
}

// Completions clients got 502 for an answer that announced calls and contained none,
// while the other clients got an ordinary end. The format has no word for calls.
func TestOnlyCallsThatWereMadeWaitForCompletionsClients(t *testing.T) {
	for _, word := range []string{"tool_calls", "function_call"} {
		assert.Equal(t, "stop", completionsanswer.FinishReason(event.Reason([]byte(word)), false), word)
		assert.Empty(t, completionsanswer.FinishReason(event.Reason([]byte(word)), true), word)
	}
	assert.Equal(t, "stop", completionsanswer.FinishReason(event.FinishTools, false))
	assert.Empty(t, completionsanswer.FinishReason(event.FinishTools, true))
	assert.Equal(t, "length", completionsanswer.FinishReason(event.FinishLength, true))
}

// If a provider made calls and reported an ordinary end, clients did not run the calls;
// if it announced calls and made none, clients waited.
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
		reason := event.Reason([]byte(word))
		assert.Equal(t, want.chat, openai.FinishReason(reason, false), word)
		assert.Equal(t, want.called, openai.FinishReason(reason, true), word)
		assert.Equal(t, want.completions, completionsanswer.FinishReason(reason, false), word)
	}
	assert.Equal(t, "max_tokens", messagesanswer.StopReason(event.FinishPaused, false), "a client would send the turn back to a service that does not continue it")
}

// Chat clients read the text of a refusal in a member of its own, and an ordinary
// finish_reason; in the other formats the reason must express the refusal.
func TestARefusalInWordsIsAnOrdinaryEndForChatClients(t *testing.T) {
	assert.Equal(t, "refusal", messagesanswer.StopReason(event.FinishRefused, false))
	assert.Equal(t, "stop", openai.FinishReason(event.FinishRefused, false))
	assert.Equal(t, "tool_calls", openai.FinishReason(event.FinishRefused, true))
	assert.Equal(t, "content_filter", completionsanswer.FinishReason(event.FinishRefused, false))
}
