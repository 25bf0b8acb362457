package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
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

// lastFinish is the last reason in core events.
type lastFinish struct {
	reason event.FinishReason
	failed bool
}

func (l *lastFinish) Handle(e *event.Event) {
	if e.Kind == event.Finish {
		l.reason = e.Finish
	}
	l.failed = l.failed || e.Kind == event.Error
}

// parsed returns the reason that the parser of a format reads of a stream, or of a JSON answer.
func parsed(format translate.Format, stream, answer []byte) (last lastFinish) {
	parser := formats.Of(format).Answers.NewParser(&last)
	if answer != nil {
		parser.Answer(answer)
		return last
	}
	lexer := sse.NewLexer(0)
	lexer.Feed(stream)
	for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
		parser.Event(e)
	}
	return last
}

// Records have why an answer ended, whether it was translated or its bytes were passed on. The byte lane of
// chat does not look for refusals, which end with the word for an ordinary end.
func TestAnAnswerThatIsPassedOnEndsAsATranslatedOneDoes(t *testing.T) {
	seen := make(map[event.FinishReason]int)
	for _, r := range everyStream(t) {
		want, got := parsed(r.format, r.bytes, nil), observe(r.format, [][]byte{r.bytes}, false)
		if want.failed || got.Fault() != nil || want.reason == event.FinishRefused {
			continue
		}
		assert.Equal(t, want.reason, got.Reason(), r.name())
		seen[want.reason]++
	}
	for _, format := range known {
		for name, body := range wholeAnswers(t, format) {
			answer, _ := formats.Of(format).Answers.Inspect(body, translate.Generate)
			if want := parsed(format, nil, body).reason; want != event.FinishRefused {
				assert.Equal(t, want, answer.Ended, "%s: %s", format, name)
			}
		}
	}
	for _, reason := range []event.FinishReason{event.FinishStop, event.FinishLength, event.FinishTools, event.FinishFiltered} {
		assert.NotZero(t, seen[reason], reason)
	}
}
