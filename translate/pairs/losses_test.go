package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// answerLoss is an answer of which something has no place in another format.
type answerLoss struct {
	name     string
	from, to translate.Format
	stream   []byte // "" for what no stream has
	body     string
	lost     string
}

func message(rest string) string {
	return `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":` + rest + `}]}`
}

var answerLosses = []answerLoss{
	{
		name: "nothing", from: translate.Chat, to: translate.Messages,
		stream: chatStream([]string{`{"content":"a","annotations":[],"audio":null}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   message(`{"role":"assistant","content":"a","annotations":[],"audio":null}`),
	},
	{
		name: "annotations", from: translate.Chat, to: translate.Messages, lost: "choices[*].message.annotations",
		stream: chatStream([]string{`{"content":"a"}`, `{"annotations":[{"type":"url_citation"}]}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   message(`{"role":"assistant","content":"a","annotations":[{"type":"url_citation"}]}`),
	},
	{
		name: "audio", from: translate.Chat, to: translate.Messages, lost: "choices[*].message.audio",
		stream: chatStream([]string{`{"content":"a","audio":{"id":"x"}}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   message(`{"role":"assistant","content":"a","audio":{"id":"x"}}`),
	},
	{
		name: "a part that nobody knows", from: translate.Chat, to: translate.Messages, lost: "choices[*].message.content[*]",
		body: message(`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"image_url","image_url":{}}]}`),
	},
	{
		name: "a reason that nobody knows", from: translate.Chat, to: translate.Messages, lost: "choices[*].finish_reason",
		stream: chatStream([]string{`{"content":"a"}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"bored"}]}`, `[DONE]`),
		body:   `{"model":"m","choices":[{"index":0,"finish_reason":"bored","message":{"content":"a"}}]}`,
	},
	{
		name: "a second choice", from: translate.Chat, to: translate.Messages, lost: "choices[*]",
		body: `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"content":"a"}},{"index":1,"finish_reason":"stop","message":{"content":"b"}}]}`,
	},
	{
		name: "reasoning", from: translate.Chat, to: translate.Completions, lost: "reasoning",
		stream: chatStream([]string{`{"reasoning_content":"r"}`, `{"content":"a"}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		body:   message(`{"role":"assistant","content":"a","reasoning_content":"r"}`),
	},
	{
		name: "citations, a block that nobody knows, a reason that nobody knows", from: translate.Messages, to: translate.Completions,
		lost: "content.*.citations,content.*,stop_reason",
		stream: messagesStream(
			`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"url":"u"}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"bored"}}`,
			`{"type":"message_stop"}`,
		),
		body: `{"type":"message","model":"m","content":[{"type":"text","text":"a","citations":[{"url":"u"}]},{"type":"novelty"}],"stop_reason":"bored"}`,
	},
}

func TestWhatAnAnswerLosesIsTold(t *testing.T) {
	for _, c := range answerLosses {
		t.Run(c.name, func(t *testing.T) {
			if c.stream != nil {
				o := translated(way{c.from, c.to}, translate.Memory{Stream: true}, [][]byte{c.stream}, true)
				assert.True(t, o.Finished())
				assert.Equal(t, c.lost, o.Losses().String())
			}
			whole := pairs.NewTranslator(c.from, c.to, &translate.Memory{}, translate.IDs{})
			assert.Nil(t, whole.Answer([]byte(c.body)))
			assert.Equal(t, c.lost, whole.Losses().String())
			for _, loss := range whole.Losses() {
				assert.Equal(t, translate.OfAnswer, loss.Class)
			}
		})
	}
}
