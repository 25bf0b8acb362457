package answer_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// parse reads events, and then the end of the body.
func parse(events []string, clean bool) []string {
	return translatetest.ReadEvents(answer.NewParser, clean, events...)
}

func opens(index int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)
}

func delta(index int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, delta)
}

func closes(index int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index) }

const (
	start  = `{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,"output_tokens":1}}}`
	ends   = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}`
	stops  = `{"type":"message_stop"}`
	begin  = "start m 0 input 3"
	first  = "usage 3+0+0 1 (0)"
	last   = "usage 3+0+0 9 (0)"
	finish = "finish stop"
	unread = "error 502 the upstream returned an unusable answer"
	cutOff = "error 502 the upstream closed the stream before completing the answer"
)

// message puts the events of a block between the beginning and the end.
func message(events ...string) []string {
	return append(append([]string{start}, events...), ends, stops)
}

// content is what the parser makes of such a message.
func content(lines ...string) []string {
	return append(append([]string{begin, first}, lines...), finish, last, "end")
}

var streams = []struct {
	name   string
	events []string
	want   []string
}{
	{"nothing but a beginning and an end", message(), content()},
	{"text", message(opens(0, `{"type":"text","text":""}`), delta(0, `{"type":"text_delta","text":"a"}`), delta(0, `{"type":"text_delta","text":""}`), delta(0, `{"type":"text_delta","text":"\u00e9"}`), closes(0)), content(`text "a"`, `text "é"`)},
	{"text in the start", message(opens(0, `{"type":"text","text":"a"}`), closes(0)), content(`text "a"`)},
	{"every text is a part of its own", message(opens(0, `{"type":"text","text":"a"}`), closes(0), opens(1, `{"type":"server_tool_use","id":"x","name":"f","input":{}}`), closes(1), opens(2, `{"type":"text","text":""}`), delta(2, `{"type":"text_delta","text":"b"}`), delta(2, `{"type":"text_delta","text":"c"}`), closes(2)), content(`text "a"`, `text "b" of part 1`, `text "c" of part 1`)},
	{"thinking", message(opens(0, `{"type":"thinking","thinking":"","signature":""}`), delta(0, `{"type":"thinking_delta","thinking":"a","estimated_tokens":4}`), delta(0, `{"type":"signature_delta","signature":"s"}`), closes(0)), content(`reasoning "a"`, `signature "s"`, "reasoning end")},
	{"thinking in the start", message(opens(0, `{"type":"thinking","thinking":"a","signature":"s"}`), closes(0)), content(`reasoning "a"`, `signature "s"`, "reasoning end")},
	{"thinking that is not shown", message(opens(0, `{"type":"thinking","thinking":"","signature":""}`), delta(0, `{"type":"signature_delta","signature":"s"}`), closes(0)), content(`signature "s"`, "reasoning end")},
	{"redacted thinking", message(opens(0, `{"type":"redacted_thinking","data":"d"}`), closes(0)), content(`redacted "d"`)},
	{"a tool", message(opens(0, `{"type":"tool_use","id":"a","name":"f","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":""}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"x\":"}`), delta(0, `{"type":"input_json_delta","partial_json":"1}"}`), closes(0)), content(`tool 0 "a" "f"`, `args 0 "{\"x\":"`, `args 0 "1}"`, "tool end 0")},
	{"a tool without any fragment", message(opens(0, `{"type":"tool_use","id":"a","name":"f","input":{}}`), closes(0)), content(`tool 0 "a" "f"`, `args 0 "{}"`, "tool end 0")},
	{"a tool whose input is in the start", message(opens(0, `{"type":"tool_use","id":"a","name":"f","input":{"x": [1, 2]}}`), closes(0)), content(`tool 0 "a" "f"`, `args 0 "{\"x\":[1,2]}"`, "tool end 0")},
	{"a tool whose input is null", message(opens(0, `{"type":"tool_use","id":"a","name":"f","input":null}`), delta(0, `{"type":"input_json_delta","partial_json":"{}"}`), closes(0)), content(`tool 0 "a" "f"`, `args 0 "{}"`, "tool end 0")},
	{"ordinals count tools alone", message(opens(0, `{"type":"text","text":"t"}`), closes(0), opens(1, `{"type":"tool_use","id":"a","name":"f","input":{}}`), closes(1), opens(2, `{"type":"server_tool_use","id":"x","name":"web_search","input":{}}`), closes(2), opens(3, `{"type":"tool_use","id":"b","name":"g","input":{}}`), closes(3)), content(`text "t"`, `tool 0 "a" "f"`, `args 0 "{}"`, "tool end 0", `tool 1 "b" "g"`, `args 1 "{}"`, "tool end 1")},
	{"server tools and unknown blocks", message(opens(0, `{"type":"server_tool_use","id":"x","name":"web_search","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{}"}`), closes(0), opens(1, `{"type":"web_search_tool_result","tool_use_id":"x","content":[]}`), closes(1), opens(2, `{"type":"other","text":"t"}`), delta(2, `{"type":"text_delta","text":"t"}`), closes(2)), content()},
	{"citations and unknown deltas", message(opens(0, `{"type":"text","text":"","citations":[]}`), delta(0, `{"type":"citations_delta","citation":{"cited_text":"x"}}`), delta(0, `{"type":"new_delta","value":1}`), closes(0)), content()},
	{"blocks that overlap", message(opens(0, `{"type":"tool_use","id":"a","name":"f","input":{}}`), opens(1, `{"type":"tool_use","id":"b","name":"g","input":{}}`), delta(1, `{"type":"input_json_delta","partial_json":"{}"}`), delta(0, `{"type":"input_json_delta","partial_json":"{}"}`), closes(0), closes(1)), content(`tool 0 "a" "f"`, `tool 1 "b" "g"`, `args 1 "{}"`, `args 0 "{}"`, "tool end 0", "tool end 1")},
	{"a delta without a start", message(delta(0, `{"type":"text_delta","text":"a"}`)), content(`text "a"`)},
	{"pings and unknown events", message(`{"type":"ping"}`, `telemetry|not json`, `{"type":"new_event"}`), content()},
	{"a block that is begun twice", []string{start, opens(0, `{"type":"text","text":"a"}`), opens(0, `{"type":"text","text":"b"}`)}, []string{begin, first, `text "a"`, unread}},

	// Usage and the reason.
	{"the counts of the delta overwrite, present ones alone", []string{`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1,"service_tier":"priority"}}}`, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"input_tokens":30,"cache_creation_input_tokens":5,"cache_read_input_tokens":null,"output_tokens":15,"output_tokens_details":{"thinking_tokens":7}}}`, stops}, []string{"start m 0 input 3 tier 2", "usage 3+4+0 1 (0) tier 2", "finish length", "usage 30+4+5 15 (7) tier 2", "end"}},
	{"no usage", []string{`{"type":"message_start","message":{"model":"m"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, stops}, []string{"start m 0", finish, "end"}},
	{"a null reason is none, a later one counts", []string{start, `{"type":"message_delta","delta":{"stop_reason":null}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"}}`, stops}, []string{begin, first, finish, `finish stop "END"`, "end"}},
	{"a refusal", []string{start, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"no"}}}`, stops}, []string{begin, first, `finish filtered "no"`, "end"}},
	{"details that are null", []string{start, `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_details":null}}`, stops}, []string{begin, first, finish, "end"}},

	// The end.
	{"a reason and the end of the body", []string{start, ends}, []string{begin, first, finish, last, "end"}},
	{"no reason", []string{start, opens(0, `{"type":"text","text":"a"}`)}, []string{begin, first, `text "a"`, cutOff}},
	{"a null reason does not end", []string{start, `{"type":"message_delta","delta":{"stop_reason":null}}`}, []string{begin, first, cutOff}},
	{"nothing at all", nil, []string{cutOff}},
	{"an end alone is no answer", []string{stops}, []string{unread}},
	{"nothing counts behind the end", append(message(), opens(0, `{"type":"text","text":"a"}`), `{"type":"error","error":{}}`), content()},

	// Errors.
	{"an error", []string{start, `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, stops}, []string{begin, first, "error 503 busy"}},
	{"an error without a name", []string{`|{"error":{"type":"rate_limit_error","message":"slow down"}}`}, []string{"error 429 slow down"}},
	{"events without names", []string{"|" + start, "|" + delta(0, `{"type":"text_delta","text":"a"}`), "|" + ends, "|" + stops}, content(`text "a"`)},
	{"a foreign format", []string{`|{"object":"chat.completion.chunk","choices":[]}`}, []string{unread}},
	{"not JSON", []string{start, "content_block_delta|{"}, []string{begin, first, unread}},
	{"not JSON and without a name", []string{start, "|what"}, []string{begin, first, unread}},
	{"no object", []string{"message_start|[]"}, []string{unread}},
	{"a member that stands twice", []string{start, delta(0, `{"type":"text_delta","text":"a","text":"b"}`)}, []string{begin, first, unread}},
}

func TestStreamsAreReadIntoCoreEvents(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, parse(tt.events, true)) })
	}
}

func TestABodyThatBreaksOffIsNeverComplete(t *testing.T) {
	assert.Equal(t, []string{begin, first, finish, last, cutOff}, parse([]string{start, ends}, false))
	assert.Equal(t, content(), parse(message(), false))
}

var answers = []struct {
	name, body string
	want       []string
}{
	{"every block", `{"id":"x","type":"message","model":"m","content":[{"type":"thinking","thinking":"r","signature":"s"},{"type":"thinking","thinking":"","signature":"t"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"a","citations":null},{"type":"server_tool_use","id":"x","name":"web_search","input":{}},{"type":"other"},{"type":"text","text":""},{"type":"tool_use","id":"a","name":"f","input":{ "x" : 12345678901234567890 }},{"type":"tool_use","id":"b","name":"g","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":9}}`, []string{
		begin, last, `reasoning "r"`, `signature "s"`, "reasoning end", `signature "t"`, "reasoning end", `redacted "d"`, `text "a"`,
		`tool 0 "a" "f"`, `args 0 "{\"x\":12345678901234567890}"`, "tool end 0", `tool 1 "b" "g"`, `args 1 "{}"`, "tool end 1", "finish tools", "end",
	}},
	{"nothing", `{"model":"m","content":[],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":9}}`, []string{begin, last, finish, "end"}},
	{"stop sequence and tier", `{"model":"m","content":[],"stop_reason":"stop_sequence","stop_sequence":"END","usage":{"input_tokens":3,"output_tokens":9,"service_tier":"standard"}}`, []string{"start m 0 input 3 tier 1", "usage 3+0+0 9 (0) tier 1", `finish stop "END"`, "end"}},
	{"a refusal", `{"model":"m","content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}}`, []string{"start m 0", `finish filtered "no"`, "end"}},
	{"no reason", `{"model":"m","content":[{"type":"text","text":"a"}],"stop_reason":null}`, []string{"start m 0", `text "a"`, "end"}},
	{"no content", `{"model":"m"}`, []string{unread}},
	{"null content", `{"model":"m","content":null}`, []string{"start m 0", "end"}},
	{"null texts and inputs", `{"model":"m","content":[{"type":"thinking","thinking":null,"signature":null},{"type":"text","text":null},{"type":"tool_use","id":"a","name":"f","input":null}]}`, []string{"start m 0", "reasoning end", `tool 0 "a" "f"`, `args 0 "{}"`, "tool end 0", "end"}},
	{"an error", `{"type":"error","error":{"type":"x","message":"no","code":429}}`, []string{"error 429 no"}},
	{"an error object alone", `{"error":{"message":"no"},"type":"message"}`, []string{"error 502 no"}},
	{"not JSON", `<html>`, []string{unread}},
	{"not an object", `[]`, []string{unread}},
	{"a member of a block that stands twice", `{"model":"m","content":[{"type":"text","text":"a","text":"b"}]}`, []string{"start m 0", unread}},
}

func TestAnswersAreReadIntoCoreEvents(t *testing.T) {
	for _, tt := range answers {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, translatetest.ReadAnswer(answer.NewParser, tt.body))
		})
	}
}

// A delta of an unknown type once became text if it had a member of that name, and
// arguments in a block of text were dropped without a report.
func TestUnknownDeltasAreNotText(t *testing.T) {
	for delta, lost := range map[string]string{
		`{"type":"x_delta","text":"b","x":1}`:             "content.*.x_delta",
		`{"type":"x\ny","text":"b"}`:                      "content.*.?",
		`{"type":"input_json_delta","partial_json":"{}"}`: "content.*.partial_json",
		`{"type":"text_delta","text":["b"]}`:              "content.*.text",
		`{"type":"text_delta","text":"","x":1}`:           "content.*.x",
	} {
		var r translatetest.Transcript
		p := answer.NewParser(&r)
		for _, data := range []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`,
			`{"type":"content_block_delta","index":0,"delta":` + delta + `}`,
		} {
			p.Event(sse.Event{Data: []byte(data)})
		}
		assert.Equal(t, []string{"start  0", `text "a"`}, r.Lines, delta)
		assert.Equal(t, lost, p.Losses().String(), delta)
	}
}

// A bug was here: what the gateway does not know of an answer went without a word,
// but for whole blocks.
func TestUnknownMembersOfAnAnswerAreReported(t *testing.T) {
	for _, c := range []struct {
		name, message, lost string
		events              []string
	}{
		{
			"what says nothing", `"container":null,"context_management":{},"stop_details":null,"x":[],"content":[{"type":"text","text":"a","citations":[ ],"x":null}]`, "",
			[]string{`{"type":"ping"}`, `{"type":"message_start","message":{"id":"x","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"container":null}}`},
		},
		{
			"members of the answer", `"content":[],"container":{"id":"c"},"context_management":{"applied_edits":[]},"diagnostics":{"a":1}`, "container,context_management,diagnostics",
			[]string{
				`{"type":"message_start","message":{"container":{"id":"c"}}}`,
				`{"type":"message_delta","delta":{"container":{"id":"c"}},"context_management":{"applied_edits":[]}}`,
				`{"type":"message_delta","delta":{"diagnostics":{"a":1}}}`,
			},
		},
		{
			"members of blocks", `"content":[{"type":"tool_use","id":"a","name":"f","input":{},"caller":{"type":"direct"}},{"type":"text","text":"a","mood":"x"}]`,
			"content.*.caller,content.*.mood", []string{
				`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{},"caller":{"type":"direct"}}}`,
				`{"type":"content_block_start","index":1,"content_block":{"mood":"x","text":"a","type":"text"}}`,
			},
		},
		{
			"a block that nobody knows is lost as a whole", `"content":[{"type":"web_search_tool_result","tool_use_id":"a","content":[1]}]`,
			"content.*.type=web_search_tool_result", []string{
				`{"type":"content_block_start","index":0,"content_block":{"type":"web_search_tool_result","tool_use_id":"a","content":[1]}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			},
		},
		{
			"details of a stop", `"content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"no","x":1}`, "stop_details.category,stop_details.x",
			[]string{`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"no","x":1}}}`},
		},
		{"details that are none", `"content":[],"stop_details":"cyber"`, "stop_details", []string{`{"type":"message_delta","delta":{"stop_details":"cyber"}}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := answer.NewParser(&translatetest.Transcript{})
			p.Answer([]byte(`{"id":"x","type":"message","role":"assistant","model":"m",` + c.message + `}`))
			assert.Equal(t, c.lost, p.Losses().String())
			p = answer.NewParser(&translatetest.Transcript{})
			for _, data := range c.events {
				p.Event(sse.Event{Data: []byte(data)})
			}
			assert.Equal(t, c.lost, p.Losses().String())
		})
	}
}

func TestEventsThatNobodyKnowsAreNamed(t *testing.T) {
	p := answer.NewParser(&translatetest.Transcript{})
	p.Event(sse.Event{Name: []byte("ping"), Data: []byte(`{}`)})
	p.Event(sse.Event{Name: []byte("mood"), Data: []byte(`anything`)})
	p.Event(sse.Event{Data: []byte(`{"type":"tone"}`)})
	assert.Equal(t, "event.mood,event.tone", p.Losses().String())
}

// What surrounds an error is no part of an answer.
func TestAnErrorLosesNothing(t *testing.T) {
	failed := `{"type":"error","error":{"type":"api_error","message":"no"},"request_id":"x"}`
	p := answer.NewParser(&translatetest.Transcript{})
	p.Answer([]byte(failed))
	assert.Empty(t, p.Losses())
	p = answer.NewParser(&translatetest.Transcript{})
	p.Event(sse.Event{Data: []byte(failed)})
	assert.Empty(t, p.Losses())
}

// Blocks that never ended were remembered without a bound.
func TestBlocksThatNeverEndAreBounded(t *testing.T) {
	const limit = 4096
	open, closed := []string{start}, []string{start}
	for i := range 3 * limit {
		begins := opens(i, `{"type":"text","text":""}`)
		if i < limit {
			open = append(open, begins)
		}
		closed = append(closed, begins, closes(i))
	}
	assert.Equal(t, content(), parse(append(closed, ends, stops), true), "those that ended are forgotten")
	assert.Equal(t, content(), parse(append(slices.Clip(open), ends, stops), true))
	assert.Equal(t, []string{begin, first, unread}, parse(append(open, opens(limit, `{"type":"text","text":""}`)), true))
}
