package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// withoutCalls returns a stream and an answer that announce calls and contain none.
func withoutCalls(format translate.Format, text string) (stream []byte, answer string) {
	if format == translate.Messages {
		block := `{"type":"text","text":"` + text + `"}`
		return messagesStream(
			`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":`+block+`}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`,
			`{"type":"message_stop"}`,
		), `{"model":"m","content":[` + block + `],"stop_reason":"tool_use"}`
	}
	if format == translate.Responses { // the format has no reason that announces calls
		whole := `{"model":"m","output":[{"type":"message","content":[{"type":"output_text","text":"` + text + `"}]}]}`
		return responsesStream(`{"type":"response.completed","response":` + whole + `}`), whole
	}
	if format == translate.Gemini { // neither has this one
		whole := `{"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"` + text + `"}]},"finishReason":"STOP"}]}`
		return chatStream(nil, whole), whole
	}
	if format == translate.Converse {
		return converseStream(
			`contentBlockDelta{"contentBlockIndex":0,"delta":{"text":"`+text+`"}}`, `messageStop{"stopReason":"tool_use"}`, `metadata{}`,
		), `{"output":{"message":{"content":[{"text":"` + text + `"}]}},"stopReason":"tool_use"}`
	}
	said := `{"content":"` + text + `","tool_calls":[]}`
	choice := `{"model":"m","choices":[{"index":0,"text":"` + text + `","message":` + said + `,"finish_reason":"tool_calls"}]}`
	return chatStream(nil, strings.Replace(choice, "message", "delta", 1), "[DONE]"), choice
}

// Completions clients got 502 for an answer that announces calls and contains none, while
// messages and chat clients got an ordinary end.
func TestAnAnswerWithoutCallsSimplyEnds(t *testing.T) {
	ends := map[translate.Format]string{
		translate.Messages:    `"stop_reason":"end_turn"`,
		translate.Chat:        `"finish_reason":"stop"`,
		translate.Completions: `"finish_reason":"stop"`,
		translate.Responses:   `"status":"completed"`,
	}
	for _, w := range ways {
		for _, text := range []string{"", "x"} {
			body, whole := withoutCalls(w.source, text)
			stream := translated(w, w.remembered(true), [][]byte{body}, true)
			answer := answered(w, w.remembered(false), []byte(whole))
			require.True(t, answer.Finished(), w.name())
			requireAgreement(t, w, stream, answer)
			assert.Contains(t, stream.out, ends[w.target], w.name())
			assert.Contains(t, answer.out, ends[w.target], w.name())
		}
	}
}
