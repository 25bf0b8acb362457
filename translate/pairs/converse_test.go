package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// conversed translates the events of a stream of Converse for a client that asks for its usage.
func conversed(w way, events ...string) outcome {
	return translated(w, translate.AnswerContext{Stream: true, IncludeUsage: true}, [][]byte{converseStream(events...)}, true)
}

const (
	conversedText = `contentBlockDelta{"contentBlockIndex":0,"delta":{"text":"a"},"p":"abc"}`
	conversedEnd  = `messageStop{"stopReason":"max_tokens","p":"ab"}`
)

func TestK062TheUsageBehindTheReasonIsInOneLastDelta(t *testing.T) {
	got := conversed(converseToMessages, conversedText, conversedEnd, `metadata{"usage":{"inputTokens":7,"outputTokens":5}}`)
	require.True(t, got.Finished())
	assert.Equal(t, 1, strings.Count(got.out, "event: message_delta"))
	assert.Contains(t, got.out, `"stop_reason":"max_tokens","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":7,`)
}

func TestK064ACallWithoutArgumentsHasAnEmptyObject(t *testing.T) {
	const call = `contentBlockStart{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t1","name":"now"}}}`
	for _, end := range []string{`contentBlockStop{"contentBlockIndex":1}`, `messageStart{"role":"assistant"}`} { // the latter says nothing
		got := conversed(converseToChat, call, end, `messageStop{"stopReason":"tool_use"}`, `metadata{}`)
		require.True(t, got.Finished())
		assert.Contains(t, got.out, `"arguments":"{}"`)
	}
}

func TestK067TheInputOfConverseExcludesCaches(t *testing.T) {
	body := `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn",` +
		`"usage":{"inputTokens":10,"cacheReadInputTokens":5,"cacheWriteInputTokens":3,"outputTokens":7,"totalTokens":25}}`
	got := answered(converseToChat, translate.AnswerContext{}, []byte(body))
	require.True(t, got.Finished())
	assert.Equal(t, token.Counts{Fresh: 10, CacheRead: 5, CacheWrite: 3, Answer: 7}, got.Usage().Counts)
	assert.Contains(t, got.out, `"prompt_tokens":18,"completion_tokens":7,"total_tokens":25,"prompt_tokens_details":{"cached_tokens":5`)
}

// A turn that the model has written wrongly, and events that violate the format, must not look
// like the end of an answer.
func TestAnswersOfConverseThatFailed(t *testing.T) {
	const begun = `contentBlockStart{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t1","name":"f"}}}`
	for name, event := range map[string]string{
		"a failed turn":                `messageStop{"stopReason":"malformed_tool_use"}`,
		"an end without a reason":      `messageStop{}`,
		"a text that is no text":       `contentBlockDelta{"contentBlockIndex":0,"delta":{"text":1}}`,
		"a call without a name":        `contentBlockStart{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t2"}}}`,
		"a call that begins again":     begun,
		"arguments outside of a call":  `contentBlockDelta{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{"}}}`,
		"a text in a call":             `contentBlockDelta{"contentBlockIndex":1,"delta":{"text":"a"}}`,
		"an exception of the provider": `error{"type":"error","error":{"type":"rate_limit_error","message":"Too many tokens"}}`,
		"the usage, and no reason":     `metadata{"usage":{"inputTokens":7,"outputTokens":5}}`,
	} {
		got := conversed(converseToMessages, conversedText, begun, event)
		assert.False(t, got.Finished(), name)
		assert.NotContains(t, got.out, "message_stop", name)
	}
}

func TestManyOpenBlocksAreAnError(t *testing.T) {
	events := []string{conversedText}
	for i := range 300 {
		events = append(events, fmt.Sprintf(`contentBlockDelta{"contentBlockIndex":%d,"delta":{"text":"a"}}`, i))
	}
	got := conversed(converseToChat, append(events, conversedEnd, `metadata{}`)...)
	assert.False(t, got.Finished())
	got = conversed(converseToChat, append(events[:200], conversedEnd, `metadata{}`)...)
	assert.True(t, got.Finished())
}

// A text or another signature behind the signature of some reasoning was part of the same block,
// which a signature ends for messages clients.
func TestASignatureOfConverseEndsItsReasoning(t *testing.T) {
	const signature = `contentBlockDelta{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`
	got := conversed(converseToMessages, `contentBlockDelta{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"t"}}}`, signature, signature, conversedEnd, `metadata{}`)
	require.True(t, got.Finished())
	assert.Equal(t, 2, strings.Count(got.out, `"type":"content_block_start"`))
	_, err := converseToMessages.added(got.out, false)
	assert.NoError(t, err)
}

// Padding differs from event to event, and hides no text.
func TestPaddingOfConverseIsIgnored(t *testing.T) {
	events := []string{conversedText}
	for _, p := range []string{"", "a", "abcdefghijklmnop", "ab"} {
		events = append(events, `contentBlockDelta{"contentBlockIndex":0,"delta":{"text":"b"},"p":"`+p+`"}`)
	}
	got := conversed(converseToChat, append(events, conversedEnd, `metadata{}`)...)
	require.True(t, got.Finished())
	assert.Equal(t, 4, strings.Count(got.out, `"content":"b"`))
	assert.Empty(t, got.Losses())
}
