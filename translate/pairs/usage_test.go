package pairs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
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
	if format == translate.Converse {
		return converseStream(
			`contentBlockDelta{"contentBlockIndex":0,"delta":{"text":"a"}}`,
			`metadata{"usage":{"inputTokens":5,"cacheReadInputTokens":2,"outputTokens":1}}`,
			`metadata{"usage":{"inputTokens":-5,"cacheReadInputTokens":1.5,"outputTokens":3}}`,
			`messageStop{"stopReason":"end_turn"}`,
			`metadata{"usage":{"inputTokens":"5","outputTokens":-3}}`,
		)
	}
	if format == translate.Gemini {
		return chatStream(nil,
			`{"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":7,"cachedContentTokenCount":2,"candidatesTokenCount":1}}`,
			`{"usageMetadata":{"promptTokenCount":-7,"cachedContentTokenCount":-2,"candidatesTokenCount":3}}`,
			`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":-3}}`,
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
// made 0 of a good one that came before it. A negative one contradicts it.
func TestAMalformedCountReplacesNoGoodOne(t *testing.T) {
	want := token.Usage{Counts: token.Counts{Fresh: 5, CacheRead: 2, Answer: 3}, Known: true, Inconsistent: true}
	for _, w := range ways {
		t.Run(w.name(), func(t *testing.T) {
			o := translated(w, translate.AnswerContext{Stream: true}, [][]byte{malformed(w.source)}, true)
			assert.True(t, o.Finished())
			assert.Equal(t, want, o.Usage())
			assert.Contains(t, observe(w.source, [][]byte{malformed(w.source)}, true).lines(), fmt.Sprintf("usage %s", usageText(want)))
		})
	}
}

// fromChoices reports whether the provider's answers are lists of choices.
func (w way) fromChoices() bool {
	return w.source == translate.Chat || w.source == translate.Completions
}

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
		"zeros behind counts":   {[]string{counts, zeros}, token.Usage{Counts: token.Counts{Fresh: 7}, Known: true}},
		"counts behind zeros":   {[]string{zeros, counts}, token.Usage{Counts: token.Counts{Fresh: 7}, Known: true}},
		"zeros without choices": {[]string{zeros, alone}, token.Usage{Known: true}},
	} {
		for _, w := range ways {
			if !w.fromChoices() {
				continue
			}
			cut := [][]byte{chatStream(nil, tt.chunks...)}
			o := translated(w, translate.AnswerContext{Stream: true}, cut, false)
			assert.Equal(t, tt.want, o.Usage(), "%s, %s", w.name(), name)
			assert.Contains(t, observe(w.source, cut, false).lines(), fmt.Sprintf("usage %s", usageText(tt.want)), "%s, %s", w.name(), name)
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

// contradicting returns a stream whose counts contradict each other twice: more tokens are
// cached than sent, or cached for an hour than cached; and its end takes output back.
func contradicting(format translate.Format) []byte {
	switch format {
	case translate.Messages:
		return messagesStream(
			`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_creation":{"ephemeral_1h_input_tokens":9},"output_tokens":80}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`,
			`{"type":"message_stop"}`,
		)
	case translate.Responses:
		return responsesStream(
			`{"type":"response.created","response":{"model":"m","usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":9},"output_tokens":80}}}`,
			`{"type":"response.completed","response":{"output":[],"usage":{"input_tokens":5,"output_tokens":3}}}`,
		)
	}
	if format == translate.Converse { // whose counts exclude each other
		return converseStream(
			`contentBlockDelta{"contentBlockIndex":0,"delta":{"text":"a"}}`,
			`metadata{"usage":{"inputTokens":0,"cacheReadInputTokens":9,"outputTokens":80}}`,
			`messageStop{"stopReason":"end_turn"}`,
			`metadata{"usage":{"inputTokens":5,"cacheReadInputTokens":9,"outputTokens":3}}`,
		)
	}
	if format == translate.Gemini {
		return chatStream(nil,
			`{"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":9,"candidatesTokenCount":80}}`,
			`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3}}`,
		)
	}
	return chatStream(nil,
		`{"model":"m","choices":[{"index":0,"text":"a","delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9},"completion_tokens":80}}`,
		`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}`,
		`[DONE]`,
	)
}

// Each format read contradictions in its own way, mostly the cheapest, and none told them
// from counts that can be relied on.
func TestContradictionsAreReadInTheMostExpensiveWay(t *testing.T) {
	for _, w := range ways {
		want := token.Usage{Counts: token.Counts{Fresh: 5, CacheRead: 9, Answer: 80}, Known: true, Inconsistent: true}
		if w.source == translate.Messages {
			want = token.Usage{Counts: token.Counts{Fresh: 5, CacheWrite: 2, CacheWriteLong: 9, Answer: 80}, Known: true, Inconsistent: true}
		}
		stream := contradicting(w.source)
		o := translated(w, translate.AnswerContext{Stream: true}, [][]byte{stream}, true)
		assert.True(t, o.Finished(), w.name())
		assert.Equal(t, want, o.Usage(), w.name())
		assert.Equal(t, want, observe(w.source, [][]byte{stream}, true).Usage(), w.name())
	}
}

// Searches of responses answers are items of the output, not a count of the usage: they
// were free. A stream that breaks off has reported them, but no tokens.
func TestSearchesOfResponsesAreCounted(t *testing.T) {
	const (
		search  = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`
		older   = `{"type":"web_search_call","id":"ws_2","status":"completed"}`
		opened  = `{"type":"web_search_call","id":"ws_3","status":"completed","action":{"type":"open_page","url":"u"}}`
		failed  = `{"type":"web_search_call","id":"ws_4","status":"failed","action":{"type":"search"}}`
		message = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"of a web_search_call","annotations":[]}]}`
		output  = search + "," + older + "," + opened + "," + failed + "," + message
		counts  = `"usage":{"input_tokens":5,"output_tokens":3}`
	)
	done := func(item string) string {
		return `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
	}
	begun := []string{`{"type":"response.created","response":{"model":"m"}}`, done(search), done(opened), done(message), done(older)}
	whole := token.Usage{Counts: token.Counts{Fresh: 5, Answer: 3, Searches: 2}, Known: true}
	for name, tt := range map[string]struct {
		events []string
		want   token.Usage
	}{
		"items and the whole":     {append(slices.Clone(begun), `{"type":"response.completed","response":{"output":[`+output+`],`+counts+`}}`), whole},
		"items":                   {append(slices.Clone(begun), `{"type":"response.completed","response":{`+counts+`}}`), whole},
		"the whole":               {[]string{`{"type":"response.completed","response":{"output":[` + output + `],` + counts + `}}`}, whole},
		"a stream that broke off": {begun, token.Usage{Counts: token.Counts{Searches: 2}}},
	} {
		stream := [][]byte{responsesStream(tt.events...)}
		assert.Equal(t, tt.want, observe(translate.Responses, stream, false).Usage(), name)
		for _, w := range ways {
			if w.source == translate.Responses {
				assert.Equal(t, tt.want, translated(w, translate.AnswerContext{Stream: true}, stream, false).Usage(), "%s, %s", w.name(), name)
			}
		}
	}
	body := []byte(`{"model":"m","status":"completed","output":[` + output + `],` + counts + `}`)
	seen, refused := formats.Of(translate.Responses).Answers.Inspect(body, translate.Generate)
	assert.Nil(t, refused)
	assert.Equal(t, whole, seen.Usage)
	for _, w := range ways {
		if w.source == translate.Responses {
			assert.Equal(t, whole, answered(w, translate.AnswerContext{}, body).Usage(), w.name())
		}
	}
}
