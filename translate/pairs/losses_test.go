package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// answerLoss is an answer of which something has no place in another format.
type answerLoss struct {
	name           string
	source, target translate.Format
	stream         []byte // "" for what no stream has
	body           string
	lost           string
}

func message(rest string) string {
	return `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":` + rest + `}]}`
}

var answerLosses = []answerLoss{
	{
		name: "nothing", source: translate.Chat, target: translate.Messages,
		stream: chatStream([]string{`{"content":"a","annotations":[],"audio":null}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   message(`{"role":"assistant","content":"a","annotations":[],"audio":null}`),
	},
	{
		name: "annotations", source: translate.Chat, target: translate.Messages, lost: "choices[*].message.annotations",
		stream: chatStream([]string{`{"content":"a"}`, `{"annotations":[{"type":"url_citation"}]}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   message(`{"role":"assistant","content":"a","annotations":[{"type":"url_citation"}]}`),
	},
	{
		name: "audio", source: translate.Chat, target: translate.Messages, lost: "choices[*].message.audio",
		stream: chatStream([]string{`{"content":"a","audio":{"id":"x"}}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   message(`{"role":"assistant","content":"a","audio":{"id":"x"}}`),
	},
	{
		name: "a part that nobody knows", source: translate.Chat, target: translate.Messages, lost: "choices[*].message.content[*].type=image_url",
		body: message(`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"image_url","image_url":{}}]}`),
	},
	{
		name: "a reason that nobody knows", source: translate.Chat, target: translate.Messages, lost: "choices[*].finish_reason=bored",
		stream: chatStream([]string{`{"content":"a"}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"bored"}]}`, `[DONE]`),
		body:   `{"model":"m","choices":[{"index":0,"finish_reason":"bored","message":{"content":"a"}}]}`,
	},
	{
		name: "a second choice", source: translate.Chat, target: translate.Messages, lost: "choices[*]",
		body: `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"content":"a"}},{"index":1,"finish_reason":"stop","message":{"content":"b"}}]}`,
	},
	{
		name: "reasoning", source: translate.Chat, target: translate.Completions, lost: "reasoning",
		stream: chatStream([]string{`{"reasoning_content":"r"}`, `{"content":"a"}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   message(`{"role":"assistant","content":"a","reasoning_content":"r"}`),
	},
	{
		name: "reasoning of completions is carried", source: translate.Completions, target: translate.Chat,
		stream: chatStream(nil, `{"choices":[{"index":0,"text":"a","reasoning":"r","finish_reason":"stop"}]}`, `[DONE]`),
		body:   `{"choices":[{"index":0,"text":"a","reasoning":"r","finish_reason":"stop"}]}`,
	},
	{
		name: "log probabilities that nobody asked for", source: translate.Chat, target: translate.Messages, lost: "choices[*].logprobs",
		stream: chatStream(nil, `{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a"}]},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   `{"choices":[{"index":0,"message":{"content":"a"},"logprobs":{"content":[{"token":"a"}]},"finish_reason":"stop"}]}`,
	},
	{
		name: "reasoning that is nothing but its signature", source: translate.Messages, target: translate.Completions, lost: "reasoning",
		stream: messagesStream(
			`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"s"}}`,
			`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`,
		),
		body: `{"content":[{"type":"thinking","thinking":"","signature":"s"}],"stop_reason":"end_turn"}`,
	},
	{
		name: "calls that nobody asked for", source: translate.Messages, target: translate.Completions, lost: "tool_calls",
		stream: messagesStream(
			`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
			`{"type":"content_block_stop","index":1}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`,
		),
		body: `{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"a","name":"f","input":{}}],"stop_reason":"end_turn"}`,
	},
	{
		name: "an explanation that stands for the answer", source: translate.Messages, target: translate.Chat,
		stream: messagesStream(`{"type":"message_start","message":{"model":"m"}}`, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":"no"}}}`, `{"type":"message_stop"}`),
		body:   `{"content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":"no"}}`,
	},
	{
		name: "an explanation of what was said", source: translate.Messages, target: translate.Chat, lost: "stop_details.explanation",
		stream: messagesStream(
			`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}}}`, `{"type":"message_stop"}`,
		),
		body: `{"content":[{"type":"text","text":"a"}],"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}}`,
	},
	{
		name: "an explanation, of which completions have none", source: translate.Messages, target: translate.Completions, lost: "stop_details.explanation",
		stream: messagesStream(`{"type":"message_start","message":{"model":"m"}}`, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}}}`, `{"type":"message_stop"}`),
		body:   `{"content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}}`,
	},
	{
		name: "a page, of which completions have none", source: translate.Messages, target: translate.Completions, lost: "content.*.citations",
		stream: messagesStream(
			`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a","citations":[{"type":"web_search_result_location","url":"u"}]}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`,
		),
		body: `{"content":[{"type":"text","text":"a","citations":[{"type":"web_search_result_location","url":"u"}]}],"stop_reason":"end_turn"}`,
	},
	{
		name: "citations, a block that nobody knows, a reason that nobody knows", source: translate.Messages, target: translate.Completions,
		lost: "content.*.citations,content.*.type=novelty,stop_reason=bored",
		stream: messagesStream(
			`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"url":"u"}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"novelty"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"bored"}}`,
			`{"type":"message_stop"}`,
		),
		body: `{"type":"message","model":"m","content":[{"type":"text","text":"a","citations":[{"url":"u"}]},{"type":"novelty"}],"stop_reason":"bored"}`,
	},
}

func TestLossesOfAnAnswerAreReported(t *testing.T) {
	for _, c := range answerLosses {
		t.Run(c.name, func(t *testing.T) {
			if c.stream != nil {
				o := translated(way{c.source, c.target}, translate.AnswerContext{Stream: true}, [][]byte{c.stream}, true)
				assert.True(t, o.Finished())
				assert.Equal(t, c.lost, o.Losses().String())
			}
			whole := pairs.NewTranslator(c.source, c.target, &translate.AnswerContext{}, translate.IDs{})
			assert.Nil(t, whole.Answer([]byte(c.body)))
			assert.Equal(t, c.lost, whole.Losses().String())
			for _, loss := range whole.Losses() {
				assert.Equal(t, translate.OfAnswer, loss.Class)
			}
		})
	}
}

// A bug was here: a provider that does not know n gave one answer instead of several,
// without a report.
func TestMissingChoicesAreReported(t *testing.T) {
	said := map[way]string{{translate.Chat, translate.Completions}: `"message":{"content":"a"}`, {translate.Completions, translate.Chat}: `"text":"a"`}
	for w, said := range said {
		choice := func(i int) string { return fmt.Sprintf(`{"index":%d,%s,"finish_reason":"stop"}`, i, said) }
		stream := func(first, second int) []byte {
			return chatStream(nil, `{"choices":[`+choice(first)+`]}`, `{"choices":[`+choice(second)+`]}`, `[DONE]`)
		}
		for asked, lost := range map[int]string{0: "", 1: "", 2: "", 3: "choices"} {
			o := translated(w, translate.AnswerContext{Stream: true, Choices: asked}, [][]byte{stream(0, 1)}, true)
			assert.True(t, o.Finished(), "fewer are no error")
			assert.Equal(t, lost, o.Losses().String(), "%s, %d asked for", w.name(), asked)
			whole := pairs.NewTranslator(w.source, w.target, &translate.AnswerContext{Choices: asked}, translate.IDs{})
			assert.Nil(t, whole.Answer([]byte(`{"choices":[`+choice(0)+","+choice(1)+`]}`)))
			assert.Equal(t, lost, whole.Losses().String(), "%s, %d asked for", w.name(), asked)
		}
		gap := translated(w, translate.AnswerContext{Stream: true, Choices: 3}, [][]byte{stream(0, 2)}, true)
		assert.Equal(t, "choices", gap.Losses().String())
	}
}

// A bug was here: an answer that a call of several was not asked for went without
// a word.
func TestSurplusAnswersOfAFanOutAreReported(t *testing.T) {
	one, two := chatStream([]string{`{"content":"a"}`}, `[DONE]`), chatStream([]string{`{"content":"a"}`}, `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, `[DONE]`)
	f := fanned{way: way{translate.Chat, translate.Completions}, memory: []translate.AnswerContext{{Stream: true}, {Stream: true}}, streams: [][]byte{one, two}}
	fan, _ := f.play(inTurn)
	assert.Equal(t, "choices[*]", fan.Losses().String())
}

// Ensures that a provider which invents a new name in every chunk costs no more
// memory than one that keeps to a few.
func TestANewNameInEveryChunkGrowsNoReport(t *testing.T) {
	for _, w := range ways {
		tr := pairs.NewTranslator(w.source, w.target, &translate.AnswerContext{Stream: true}, translate.IDs{})
		for i := range 2000 {
			switch w.source {
			case translate.Messages:
				tr.Event(blockDelta(`"text_delta","text":"a","x%d":1`, i))
			case translate.Responses:
				tr.Event(sse.Event{Data: fmt.Appendf(nil, `{"type":"response.output_text.delta","output_index":0,"delta":"a","x%d":1}`, i)})
			case translate.Gemini:
				tr.Event(sse.Event{Data: fmt.Appendf(nil, `{"x%d":1,"candidates":[{"y%[1]d":1,"content":{"parts":[{"text":"a","z%[1]d":1}]}}]}`, i)})
			case translate.Converse:
				tr.Event(sse.Event{Name: []byte("contentBlockDelta"), Data: fmt.Appendf(nil, `{"x%d":1,"contentBlockIndex":0,"delta":{"text":"a","z%[1]d":1}}`, i)})
			default:
				tr.Event(sse.Event{Data: fmt.Appendf(nil, `{"x%d":1,"choices":[{"index":0,"text":"a","y%[1]d":1,"delta":{"content":"a","z%[1]d":1}}]}`, i)})
			}
			tr.Output()
		}
		assert.LessOrEqual(t, len(tr.Losses()), 40, w.name())
		assert.Contains(t, tr.Losses().String(), "?", "there are others")
	}
}

// idle are parts of answers without content, by what is reported of them: of JSON answers and of
// streams. Those of chat, completions and gemini are whole chunks in streams.
var idle = map[translate.Format]map[content]string{
	translate.Messages: {
		{`{"type":"text","text":""}`, `{"type":"content_block_start","index":9,"content_block":{"type":"text","text":""}}|{"type":"content_block_stop","index":9}`}: "",
		{"", `{"type":"ping"}`}:            "",
		{"", `{"type":"novelty","a":"b"}`}: "novelty",
		{`{"type":"thinking","thinking":"","signature":""}`, `{"type":"content_block_start","index":9,"content_block":{"type":"thinking","thinking":""}}|{"type":"content_block_stop","index":9}`}: "",
	},
	translate.Chat: {
		{`"moderation":{"results":[{"flagged":false}]}`, `{"model":"m","choices":[],"moderation":{"results":[{"flagged":false}]},"usage":null}`}: "moderation",
		{`"prompt_filter_results":[{"prompt_index":0}]`, `{"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}`}:               "",
		{"", `{"model":"m","choices":[]}`}: "",
		{"", `{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`}: "",
	},
	translate.Completions: {
		{"", `{"model":"m","choices":[{"index":0,"text":""}]}`}:                     "",
		{`"moderation":{"a":1}`, `{"model":"m","choices":[],"moderation":{"a":1}}`}: "moderation",
	},
	translate.Responses: {
		{`{"type":"message","content":[]}`, `{"type":"response.queued","response":{"model":"m"}}`}:        "",
		{`{"type":"reasoning","summary":[]}`, `{"type":"response.in_progress","response":{"model":"m"}}`}: "",
		{"", `{"type":"response.output_text.delta","output_index":0,"delta":""}`}:                         "",
		{"", `{"type":"response.novelty","a":"b"}`}:                                                       "novelty",
	},
	translate.Gemini: {
		{`{"text":""}`, `{"modelVersion":"m","candidates":[]}`}:                        "",
		{"", `{"modelVersion":"m","usageMetadata":{"promptTokenCount":1}}`}:            "",
		{`{"partMetadata":{"a":1}}`, `{"candidates":[{"content":{"role":"model"}}]}`}:  "",
		{"", `{"candidates":[{"groundingMetadata":{"groundingSupports":[{"a":1}]}}]}`}: "groundingMetadata",
	},
	translate.Converse: {
		{`{"citationsContent":{"citations":[{"title":"t"}]}}`, `contentBlockDelta{"contentBlockIndex":9,"delta":{"citation":{"title":"t"}}}`}:  "citation",
		{`{"citationsContent":{"content":[]}}`, `contentBlockStart{"contentBlockIndex":9,"start":{}}|contentBlockStop{"contentBlockIndex":9}`}: "",
		{`{"citationsContent":{}}`, `contentBlockDelta{"contentBlockIndex":9,"delta":{}}`}:                                                     "",
		{`{"text":""}`, `contentBlockDelta{"contentBlockIndex":9,"delta":{"text":""}}`}:                                                        "",
	},
}

// A block of citations without a text made an answer of Converse unusable, and the results of a
// moderation, which come in a chunk of their own, vanished with it.
func TestWhatHasNoContentIsNoEndAndNoBeginning(t *testing.T) {
	for _, from := range spoken {
		for part, lost := range idle[from] {
			text := someText[from]
			both := content{strings.Trim(part.part+","+text.part, ","), part.fragments + "|" + text.fragments}
			inChunks := from == translate.Chat || from == translate.Completions || from == translate.Gemini
			if inChunks {
				both.fragments = text.fragments
			}
			stream, whole := ended(from, both, "stop")
			if from == translate.Responses {
				whole = `{"model":"m","status":"completed","output":[` + both.part + `]}`
				stream = responsesStream(append(splitFragments(both), `{"type":"response.completed","response":`+whole+`}`)...)
			}
			if inChunks {
				stream = append(chatStream(nil, part.fragments), stream...)
			}
			if (from == translate.Chat || from == translate.Completions) && part.part != "" {
				_, whole = ended(from, text, "stop")
				whole = `{` + part.part + `,` + whole[1:]
			}
			begins := observe(from, [][]byte{idleStream(from, part)}, false)
			assert.NotContains(t, strings.Join(begins.lines(), "\n"), "content ", "%s: %s", from, part.fragments)
			for _, w := range waysFrom(from) {
				streamed := translated(w, w.remembered(true), [][]byte{stream}, true)
				for _, o := range []outcome{streamed, answered(w, w.remembered(true), []byte(whole))} {
					require.Nil(t, o.Fault(), "%s: %s: %v", w.name(), part, o.Fault())
					assert.True(t, o.Finished())
					assert.Contains(t, o.out, "half", w.name())
				}
				if lost == "" {
					assert.Empty(t, streamed.Losses(), "%s: %s", w.name(), part)
				} else {
					assert.Contains(t, streamed.Losses().String(), lost, "%s: %s", w.name(), part)
				}
			}
		}
	}
}

// idleStream returns a stream of a part alone.
func idleStream(format translate.Format, part content) []byte {
	switch format {
	case translate.Messages, translate.Responses:
		return messagesStream(splitFragments(part)...)
	case translate.Converse:
		return converseStream(splitFragments(part)...)
	}
	return chatStream(nil, part.fragments)
}
