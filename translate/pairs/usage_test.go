package pairs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// malformed returns a stream with valid counts first, and malformed ones afterwards.
func malformed(format translate.Format) []byte {
	if format == translate.Messages {
		return messagesStream(
			`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":-1,"cache_read_input_tokens":1.5,"output_tokens":3}}`,
			`{"type":"message_delta","delta":{},"usage":{"input_tokens":"5","output_tokens":-3}}`,
			`{"type":"message_stop"}`,
		)
	}
	if format == translate.Responses {
		return responsesStream(
			`{"type":"response.created","response":{"model":"m","usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":2},"output_tokens":1}}}`,
			`{"type":"response.in_progress","response":{"usage":{"input_tokens":-7,"input_tokens_details":{"cached_tokens":1.5},"output_tokens":3}}}`,
			`{"type":"response.completed","response":{"output":[],"usage":{"input_tokens":"5","output_tokens":-3}}}`,
		)
	}
	return chatStream(nil,
		`{"model":"m","choices":[{"index":0,"text":"a","delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens":1}}`,
		`{"choices":[],"usage":{"prompt_tokens":-7,"prompt_tokens_details":{"cached_tokens":-2},"completion_tokens":3}}`,
		`{"choices":[],"usage":{"completion_tokens":-3}}`,
		`[DONE]`,
	)
}

// A bug was here: a count that was negative, or in chunks of choices missing,
// made 0 of a good one that came before it.
func TestAMalformedCountReplacesNoGoodOne(t *testing.T) {
	want := token.Usage{Input: 5, CacheRead: 2, Output: 3, Known: true}
	for _, w := range ways {
		t.Run(w.name(), func(t *testing.T) {
			o := translated(w, translate.AnswerContext{Stream: true}, [][]byte{malformed(w.from)}, true)
			assert.True(t, o.Finished())
			assert.Equal(t, want, o.Usage())
			assert.Contains(t, observe(w.from, [][]byte{malformed(w.from)}, true).lines(), fmt.Sprintf("usage %s", usageText(want)))
		})
	}
}

// fromChoices reports whether the provider's answers are lists of choices.
func (w way) fromChoices() bool { return w.from == translate.Chat || w.from == translate.Completions }

// Ollama puts zeros into every chunk that has choices. An answer that was cut off there
// once counted as an answer without cost, although its cost is unknown.
func TestZerosBesideChoicesAreNoCounts(t *testing.T) {
	const (
		zeros  = `{"model":"m","choices":[{"index":0,"text":"a","delta":{"content":"a"}}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`
		counts = `{"choices":[{"index":0,"text":"b","delta":{"content":"b"}}],"usage":{"prompt_tokens":7,"completion_tokens":0}}`
		alone  = `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`
	)
	for name, tt := range map[string]struct {
		chunks []string
		want   token.Usage
	}{
		"zeros":                 {[]string{zeros, zeros}, token.Usage{}},
		"zeros behind counts":   {[]string{counts, zeros}, token.Usage{Input: 7, Known: true}},
		"counts behind zeros":   {[]string{zeros, counts}, token.Usage{Input: 7, Known: true}},
		"zeros without choices": {[]string{zeros, alone}, token.Usage{Known: true}},
	} {
		for _, w := range ways {
			if !w.fromChoices() {
				continue
			}
			cut := [][]byte{chatStream(nil, tt.chunks...)}
			o := translated(w, translate.AnswerContext{Stream: true}, cut, false)
			assert.Equal(t, tt.want, o.Usage(), "%s, %s", w.name(), name)
			assert.Contains(t, observe(w.from, cut, false).lines(), fmt.Sprintf("usage %s", usageText(tt.want)), "%s, %s", w.name(), name)
		}
	}
}

// The usage of a whole answer is final.
func TestZerosOfAWholeAnswerAreCounts(t *testing.T) {
	for _, w := range ways {
		if !w.fromChoices() {
			continue
		}
		body := []byte(`{"choices":[{"index":0,"text":"a","message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`)
		assert.Equal(t, token.Usage{Known: true}, answered(w, translate.AnswerContext{}, body).Usage(), w.name())
	}
}
