package transport

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// replayFor plays a stream for a client of another format.
func replayFor(t *testing.T, client, provider translate.Format, pieces [][]byte, end error) replayed {
	t.Helper()
	source := &chunks{pieces: pieces, end: end}
	a := attemptFor(t, client, true)
	a.Format = formats.Of(provider)
	transport := newTransport(body(source))
	return carry(t, transport, a)
}

// random parts of an answer: ids and the time.
var randomParts = regexp.MustCompile(`(msg_|chatcmpl-|cmpl-|toolu_|call_|resp_|rs_|fc_|ctc_)[0-9A-Za-z]{24}|"created(_at)?":[0-9]+`)

func requireUnfinished(t *testing.T, got replayed) {
	t.Helper()
	require.False(t, got.Whole())
	require.NotNil(t, got.Fault)
	require.NotContains(t, got.output, "[DONE]")
	require.NotContains(t, got.output, "message_stop")
	require.True(t, got.output == "" || strings.HasSuffix(got.output, "\n\n"))
}

// The error was ignored, and the stream only seemed to break off.
func TestK034ErrorsOfGeminiWithoutAFieldEndTheirStreams(t *testing.T) {
	const begun = `data: {"candidates":[{"content":{"parts":[{"text":"So"}]}}]}` + "\n\n"
	for _, failure := range []string{
		`{"error":{"code":503,"message":"no","status":"UNAVAILABLE"}}`,
		"{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"no\"\n  }\n}\n\n",
		`[{"error":{"code":503,"message":"no"}}]`,
	} {
		for _, size := range []int{1, 1000} {
			stream := []byte(begun + failure)
			got := replayFor(t, translate.Chat, translate.Gemini, split(stream, func() int { return size }), io.EOF)
			requireUnfinished(t, got)
			assert.Equal(t, fault.Overloaded, got.Fault.Kind, failure)
			assert.Contains(t, got.output, "So")
		}
	}
	// Behind the end, it has no effect.
	stream := []byte(`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"So"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n{\"error\":{\"message\":\"no\"}}")
	assert.True(t, replayFor(t, translate.Messages, translate.Chat, whole(stream), io.EOF).Whole())
}

// If the gateway had ended an answer at a stop string, and the connection broke after that,
// the answer counted as cut off.
func TestAnAnswerThatWasCutAtAStopIsWholeHoweverItsConnectionEnds(t *testing.T) {
	for name, text := range map[string]string{"all": `\nb`, "text in front": `a\nb`} {
		t.Run(name, func(t *testing.T) {
			a := attemptFor(t, translate.Completions, true)
			a.Format = formats.Of(translate.Messages)
			a.Exchange.Request.Body = []byte(`{"model":"m","prompt":"x","max_tokens":9,"stream":true,"stop":["\n"]}`)
			stream := `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"` + text + `"}}` + "\n\n"
			got := carry(t, newTransport(streams(stream, errReset)), a)
			assert.Nil(t, got.Fault)
			assert.True(t, got.Whole())
			assert.Contains(t, got.output, `"finish_reason":"stop"`)
		})
	}
}
