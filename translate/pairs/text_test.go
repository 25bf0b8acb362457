package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// pieces are the events with a piece of an answer. # is the piece, an escaped text.
var pieces = []struct {
	name   string
	format translate.Format
	first  string // the data of the event before
	event  string // the name and the data
}{
	{"chat text", translate.Chat, `{"choices":[{"delta":{"role":"assistant","content":""}}]}`, ` {"id":"a","choices":[{"index":0,"delta":{"content":"#"}}],"obfuscation":"xyz"}`},
	{"chat reasoning", translate.Chat, `{"choices":[]}`, ` {"choices":[{"index":0,"delta":{"reasoning_content":"#"}}]}`},
	{"chat reasoning twice", translate.Chat, `{"choices":[]}`, ` {"choices":[{"index":0,"delta":{"reasoning":"#","reasoning_content":"#"}}]}`},
	{"chat arguments", translate.Chat, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_with_a_long_id","type":"function","function":{"name":"f","arguments":""}}]}}]}`,
		` {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"#"},"type":"function"}]}}]}`},
	{"completions text", translate.Completions, `{"choices":[]}`, ` {"id":"a","choices":[{"index":0,"text":"#","logprobs":null}]}`},
	{"messages text", translate.Messages, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"#"}}`},
	{"messages reasoning", translate.Messages, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"#"}}`},
	{"messages arguments", translate.Messages, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"#"}}`},
	{"messages without names of events", translate.Messages, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		` {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"#"}}`},
	{"responses text", translate.Responses, responsesItem(messageItem),
		`response.output_text.delta {"type":"response.output_text.delta","sequence_number":9,"output_index":0,"content_index":0,"delta":"#","obfuscation":"xyz"}`},
	{"responses reasoning", translate.Responses, responsesItem(`{"type":"reasoning","id":"i","summary":[]}`),
		`response.reasoning_summary_text.delta {"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"#"}`},
	{"responses arguments", translate.Responses, responsesItem(`{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":""}`),
		`response.function_call_arguments.delta {"type":"response.function_call_arguments.delta","item_id":"i","output_index":0,"delta":"#"}`},
}

// An answer that breaks off is priced by its text. Messages and responses streams were once
// priced by the number of their bytes, less a constant for each line: between 8 and 130
// percent of the text counted, by the length of the pieces.
func TestEveryPieceOfTextIsCounted(t *testing.T) {
	for _, tt := range pieces {
		for _, script := range []string{"word ", "敏捷的棕色", `\u654f\n`} {
			for _, repeats := range []int{1, 4, 160} {
				o := formats.Of(tt.format).Answers.NewObserver()
				tr := pairs.NewTranslator(tt.format, waysFrom(tt.format)[0].target, &translate.AnswerContext{Stream: true}, newIDs())
				see := func(name, data string) {
					for _, read := range []func(sse.Event){func(e sse.Event) { o.Observe(e) }, func(e sse.Event) { tr.Event(e) }} {
						read(sse.Event{Name: []byte(name), Data: []byte(data)})
					}
					tr.Output()
				}
				piece := strings.Repeat(script, repeats)
				name, data, _ := strings.Cut(tt.event, " ")
				see("", tt.first)
				var want token.Text
				for i := range 20 {
					if i == 10 {
						see("ping", `{"type":"ping"}`) // another shape
					}
					see(name, strings.ReplaceAll(data, "#", piece))
					want.AddString([]byte(`"` + piece + `"`))
				}
				assert.Equal(t, want, o.Text(), "observed: %s, %s", tt.name, piece)
				assert.Equal(t, want, tr.Text(), "translated: %s, %s", tt.name, piece)
			}
		}
	}
}

// countedOtherwise are recorded streams whose relayed and translated texts differ: a
// translation leaves out the calls of unknown tools, adds an empty object of arguments, and
// takes text that only the end of an item contains from there.
var countedOtherwise = map[string]bool{
	"messages/server_tools": true, "messages/tools": true, "responses/custom_tool": true, "responses/tools": true,
	"responses/done_only": true, "responses/only_completed": true, "responses/vllm": true,
}

// TestTheTextOfEveryRecordedStreamIsCounted ensures that answers cost the same whether they
// are relayed or translated.
func TestTheTextOfEveryRecordedStreamIsCounted(t *testing.T) {
	for _, r := range recordings(t) {
		for _, w := range waysFrom(r.format) {
			o, tr := observe(r.format, [][]byte{r.bytes}, true), translated(w, translate.AnswerContext{Stream: true}, [][]byte{r.bytes}, true)
			same := tr.Text() == o.Text()
			assert.True(t, same || countedOtherwise[r.name()], "%s, %s: %d and %d tokens", r.name(), w.name(), o.Text().Tokens(), tr.Text().Tokens())
		}
	}
}
