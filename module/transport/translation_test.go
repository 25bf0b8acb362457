package transport

import (
	"bytes"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// translations are the recorded streams with each format in which a client can
// read them.
func translations(t *testing.T, test func(t *testing.T, r recording, client translate.Format)) {
	for _, r := range recordings(t) {
		name, usual := strings.CutSuffix(r.name, "/LF")
		for _, client := range formats.Names() {
			if usual && client != r.format && pairs.CanTranslate(client, r.format) {
				t.Run(name+" to "+string(client), func(t *testing.T) { test(t, r, client) })
			}
		}
	}
}

// replayFor plays a stream for a client of another format.
func replayFor(t *testing.T, client translate.Format, r recording, pieces [][]byte, end error) replayed {
	t.Helper()
	source := &chunks{pieces: pieces, end: end}
	a := attemptFor(t, client, true)
	a.Format = formats.Of(r.format)
	transport := newTransport(body(source))
	return carry(t, transport, a)
}

// random parts of an answer: ids and the time.
var randomParts = regexp.MustCompile(`(msg_|chatcmpl-|cmpl-|toolu_|call_|resp_|rs_|fc_|ctc_)[0-9A-Za-z]{24}|"created(_at)?":[0-9]+`)

func TestAnyChunkingOfAStreamIsTranslatedAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	translations(t, func(t *testing.T, r recording, client translate.Format) {
		want := replayFor(t, client, r, whole(r.bytes), io.EOF)
		for _, most := range []int{1, 9, 99, 999} {
			got := replayFor(t, client, r, split(r.bytes, func() int { return 1 + random.IntN(most) }), io.EOF)
			require.Equal(t, want.State, got.State)
			require.Equal(t, want.Fault == nil, got.Fault == nil)
			require.Equal(t, want.Usage, got.Usage)
			require.Equal(t, want.status, got.status, "the status must not depend on the bytes that arrive with an error")
			require.Equal(t, randomParts.ReplaceAllString(want.output, ""), randomParts.ReplaceAllString(got.output, ""))
		}
	})
}

// finishAt returns the offset of the first event after which the turn is over: the
// stop reason of every choice, or the last event.
func (r recording) finishAt() int64 {
	lexer, observer := sse.NewLexer(0), formats.Of(r.format).Answers.NewObserver()
	lexer.Feed(r.bytes)
	for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
		if observer.Observe(event)&(signal.Finish|signal.Terminal) != 0 {
			return event.Start
		}
	}
	return int64(len(r.bytes))
}

// TestNoTranslatedPrefixIsFinished ensures that the end of a translated stream is written only
// after the end of the provider's stream.
func TestNoTranslatedPrefixIsFinished(t *testing.T) {
	translations(t, func(t *testing.T, r recording, client translate.Format) {
		want := r.expect(false)
		if !want.finished {
			return
		}
		// At least one line break follows the events.
		for n := 0; n < int(want.terminal)-2; n += 13 {
			requireUnfinished(t, replayFor(t, client, r, whole(r.bytes[:n]), errReset))
			if n <= int(r.finishAt()) {
				requireUnfinished(t, replayFor(t, client, r, whole(r.bytes[:n]), io.EOF))
			}
		}
	})
}

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
			got := replayFor(t, translate.Chat, recording{format: translate.Gemini, bytes: stream}, split(stream, func() int { return size }), io.EOF)
			requireUnfinished(t, got)
			assert.Equal(t, fault.Overloaded, got.Fault.Kind, failure)
			assert.Contains(t, got.output, "So")
		}
	}
	// Behind the end, it has no effect.
	stream := []byte(`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"So"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n{\"error\":{\"message\":\"no\"}}")
	assert.True(t, replayFor(t, translate.Messages, recording{format: translate.Chat, bytes: stream}, whole(stream), io.EOF).Whole())
}

func TestNothingIsTranslatedBehindTheLastEvent(t *testing.T) {
	translations(t, func(t *testing.T, r recording, client translate.Format) {
		want := replayFor(t, client, r, whole(r.bytes), io.EOF)
		if !want.Whole() || r.expect(false).terminal == 0 {
			return
		}
		twice := bytes.Repeat(r.bytes, 2)
		got := replayFor(t, client, r, split(twice, func() int { return 50 }), io.EOF)
		require.Equal(t, randomParts.ReplaceAllString(want.output, ""), randomParts.ReplaceAllString(got.output, ""))
		require.Equal(t, want.Usage, got.Usage)
	})
}

// If the gateway had ended an answer at a stop string, and the connection broke after that,
// the answer counted as cut off.
func TestAnAnswerThatWasCutAtAStopIsWholeHoweverItsConnectionEnds(t *testing.T) {
	for name, text := range map[string]string{"all": `\nb`, "text in front": `a\nb`} {
		t.Run(name, func(t *testing.T) {
			a := attemptFor(t, translate.Completions, true)
			a.Format = formats.Of(translate.Messages)
			a.Exchange.Body = []byte(`{"model":"m","prompt":"x","max_tokens":9,"stream":true,"stop":["\n"]}`)
			stream := `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"` + text + `"}}` + "\n\n"
			got := carry(t, newTransport(streams(stream, errReset)), a)
			assert.Nil(t, got.Fault)
			assert.True(t, got.Whole())
			assert.Contains(t, got.output, `"finish_reason":"stop"`)
		})
	}
}
