package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// parse reads events, and then the end of the body.
func parse(events []string, clean bool) []string {
	return translatetest.ReadEvents(answer.NewParser, clean, events...)
}

// deltaChunk returns a chunk with a delta of choice 0.
func deltaChunk(delta string) string {
	return `{"model":"m","created":5,"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

// calls wraps entries of tool_calls into a chunk.
func calls(entries string) string { return deltaChunk(`{"tool_calls":[` + entries + `]}`) }

const (
	begin     = "start m 5"
	stop      = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	tools     = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	done      = "[DONE]"
	unread    = "error 502 the upstream returned an unusable answer"
	brokenOff = "error 502 the upstream broke the answer off: 'error'"
	cutOff    = "error 502 the upstream closed the stream before completing the answer"
)

var streams = []struct {
	name   string
	events []string
	want   []string
}{
	{"the role alone only starts", []string{deltaChunk(`{"role":"assistant","content":""}`), stop, done}, []string{begin, "finish stop", "end"}},
	{"text", []string{deltaChunk(`{"content":"Hel"}`), deltaChunk(`{"content":"lo"}`), stop, done}, []string{begin, `text "Hel"`, `text "lo"`, "finish stop", "end"}},
	{"escapes are decoded", []string{deltaChunk(`{"content":"\u00e9\n"}`), deltaChunk(`{"content":"\ud83d\ude00\""}`), done}, []string{begin, `text "é\n"`, `text "😀\""`, "end"}},
	{"empty, null and absent say nothing", []string{deltaChunk(`{"content":""}`), deltaChunk(`{"content":null,"tool_calls":null}`), deltaChunk(`{"tool_calls":[]}`), deltaChunk(`{"content":[]}`), deltaChunk(`{"content":{}}`), deltaChunk(`null`), deltaChunk(`""`), done}, []string{begin, "end"}},
	{"text beside empty calls", []string{deltaChunk(`{"content":"x","tool_calls":[]}`), done}, []string{begin, `text "x"`, "end"}},
	{"a chunk about the prompt is no start", []string{`{"choices":[],"model":"","prompt_filter_results":[]}`, deltaChunk(`{"content":"a"}`), done}, []string{begin, `text "a"`, "end"}},
	{"a model without choices is a start", []string{`{"choices":[],"model":"m","created":5}`, deltaChunk(`{"content":"a"}`), done}, []string{begin, `text "a"`, "end"}},
	{"the model of the first chunk counts", []string{deltaChunk(`{"content":"a"}`), `{"model":"x","choices":[{"delta":{"content":"b"}}]}`, done}, []string{begin, `text "a"`, `text "b"`, "end"}},
	{"tiers", []string{`{"model":"m","created":5,"service_tier":"default","choices":[{"delta":{"content":"a"}}]}`, done}, []string{"start m 5 tier 1", `text "a"`, "end"}},

	// Reasoning.
	{"reasoning_content", []string{deltaChunk(`{"reasoning_content":"a"}`), deltaChunk(`{"reasoning_content":"b","content":null}`), deltaChunk(`{"content":"c","reasoning_content":null}`), done}, []string{begin, `reasoning "a"`, `reasoning "b"`, `text "c"`, "end"}},
	{"reasoning", []string{deltaChunk(`{"reasoning":"a"}`), done}, []string{begin, `reasoning "a"`, "end"}},
	{"both say the same", []string{deltaChunk(`{"reasoning":"a","reasoning_content":"a"}`), deltaChunk(`{"reasoning_content":"b","reasoning":"b"}`), deltaChunk(`{"reasoning_content":"","reasoning":"c"}`), done}, []string{begin, `reasoning "a"`, `reasoning "b"`, `reasoning "c"`, "end"}},
	{"reasoning comes before text", []string{deltaChunk(`{"content":"b","reasoning":"a"}`), done}, []string{begin, `reasoning "a"`, `text "b"`, "end"}},
	{"a block that finishes streamed reasoning only signs it", []string{deltaChunk(`{"reasoning_content":"a"}`), deltaChunk(`{"thinking_blocks":[{"type":"thinking","thinking":"a","signature":"s"}]}`), deltaChunk(`{"content":"b"}`), done}, []string{begin, `reasoning "a"`, `signature "s"`, "reasoning end", `text "b"`, "end"}},
	{"blocks that no reasoning came before", []string{deltaChunk(`{"thinking_blocks":[{"type":"thinking","thinking":"a","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"thinking","thinking":"","signature":"t"}]}`), done}, []string{begin, `reasoning "a"`, `signature "s"`, "reasoning end", `redacted "d"`, `signature "t"`, "reasoning end", "end"}},
	{"parts of a block beside the same reasoning", []string{deltaChunk(`{"reasoning_content":"a","thinking_blocks":[{"type":"thinking","thinking":"a","signature":null}]}`), deltaChunk(`{"thinking_blocks":[{"type":"thinking","thinking":"b"}]}`), deltaChunk(`{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"s"}]}`), done}, []string{begin, `reasoning "a"`, `reasoning "b"`, `signature "s"`, "reasoning end", "end"}},
	{"content as parts", []string{deltaChunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"a"}]}`), deltaChunk(`{"content":[{"type":"text","text":"b"}]}`), done}, []string{begin, `reasoning "t"`, `text "a"`, `text "b"`, "end"}},

	{"parts of other kinds", []string{deltaChunk(`{"content":[7,{"type":"image_url","image_url":{"url":"x"}},{"type":"refusal","refusal":"no"},{"type":"thinking","thinking":"t"},{"type":"thinking"}]}`), stop, done}, []string{begin, `text "no" refusal`, `reasoning "t"`, "finish refused", "end"}},
	{"blocks of other kinds", []string{deltaChunk(`{"thinking_blocks":[7,{"type":"thinking","thinking":7},{"type":"redacted_thinking"}]}`), done}, []string{begin, "end"}},
	{"choices and deltas that are none", []string{`{"model":"m","created":5,"choices":[7,{"index":0,"delta":"","logprobs":"y","finish_reason":7}]}`, `{"choices":{}}`, done}, []string{begin, "end"}},

	// Refusals.
	{"a refusal is text and finishes as one", []string{deltaChunk(`{"refusal":"no"}`), stop, done}, []string{begin, `text "no" refusal`, "finish refused", "end"}},
	{"a null refusal is none", []string{deltaChunk(`{"content":"a","refusal":null}`), stop, done}, []string{begin, `text "a"`, "finish stop", "end"}},

	// Finish.
	{"the first reason wins", []string{deltaChunk(`{"content":"a"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, stop, done}, []string{begin, `text "a"`, "finish length", "end"}},
	{"a reason behind the content of its chunk", []string{`{"model":"m","created":5,"choices":[{"finish_reason":"stop","delta":{"content":"a"}}]}`, done}, []string{begin, `text "a"`, "finish stop", "end"}},
	{"an empty reason is none", []string{`{"model":"m","created":5,"choices":[{"delta":{"content":"a"},"finish_reason":""}]}`, stop, done}, []string{begin, `text "a"`, "finish stop", "end"}},
	{"an unknown reason", []string{deltaChunk(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"tired"}]}`, done}, []string{begin, `text "a"`, "finish unknown", "end"}},
	{"a matched stop sequence", []string{deltaChunk(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"stop","stop_reason":"END"}]}`, done}, []string{begin, `text "a"`, `finish stop "END"`, "end"}},
	{"a stop token says nothing", []string{deltaChunk(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"stop","stop_reason":128001}]}`, done}, []string{begin, `text "a"`, "finish stop", "end"}},
	{"no reason but done", []string{deltaChunk(`{"content":"a"}`), done}, []string{begin, `text "a"`, "end"}},
	{"finish_reason error", []string{deltaChunk(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"error"}]}`, done}, []string{begin, `text "a"`, brokenOff}},

	// The end.
	{"a reason and the end of the body", []string{deltaChunk(`{"content":"a"}`), stop}, []string{begin, `text "a"`, "finish stop", "end"}},
	{"neither", []string{deltaChunk(`{"content":"a"}`)}, []string{begin, `text "a"`, cutOff}},
	{"one of two choices has no reason", []string{`{"model":"m","created":5,"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`, stop}, []string{begin, `text "a"`, `1: text "b"`, "finish stop", cutOff}},
	{"nothing at all", nil, []string{cutOff}},
	{"done alone is no answer", []string{done}, []string{unread}},
	{"only another choice is no answer", []string{`{"model":"m","created":5,"choices":[{"index":1,"delta":{"content":"a"}}]}`, done}, []string{begin, `1: text "a"`, unread}},
	{"nothing counts behind done", []string{deltaChunk(`{"content":"a"}`), done, deltaChunk(`{"content":"b"}`), `{"error":{"message":"late"}}`}, []string{begin, `text "a"`, "end"}},
	{"nothing counts behind an error", []string{deltaChunk(`{"content":"a"}`), `{"error":{"message":"boom","code":500}}`, deltaChunk(`{"content":"b"}`), done}, []string{begin, `text "a"`, "error 500 boom"}},

	// Usage.
	{"usage alone", []string{deltaChunk(`{"content":"a"}`), stop, `{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":12,"prompt_tokens_details":{"cached_tokens":900},"completion_tokens_details":{"reasoning_tokens":4}}}`, done}, []string{begin, `text "a"`, "finish stop", "usage 100+900+0 12 (4)", "end"}},
	{"usage of every chunk", []string{`{"model":"m","created":5,"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, done}, []string{begin + " input 3", `text "a"`, "usage 3+0+0 1 (0)", "finish stop", "usage 3+0+0 2 (0)", "end"}},
	{"null usage is none", []string{`{"model":"m","created":5,"choices":[{"delta":{"content":"a"}}],"usage":null}`, done}, []string{begin, `text "a"`, "end"}},

	// Errors.
	{"not JSON", []string{deltaChunk(`{"content":"a"}`), "what"}, []string{begin, `text "a"`, unread}},
	{"half of a chunk", []string{`{"choices":[{"ind`}, []string{unread}},
	{"no object", []string{`["a"]`}, []string{unread}},
	{"more than JSON", []string{`{"choices":[]} x`}, []string{unread}},
	{"a member that stands twice", []string{deltaChunk(`{"content":"a","content":"b"}`)}, []string{unread}},
	{"a member of a call that stands twice", []string{calls(`{"index":0,"id":"a","id":"b"}`)}, []string{begin, unread}},
	{"an error", []string{`{"error":{"message":"overloaded","code":"server_is_overloaded"}}`}, []string{"error 503 overloaded"}},
	{"an error beside choices", []string{`{"choices":[{"delta":{"content":"a"}}],"error":{"message":"gone","code":502}}`}, []string{"error 502 gone"}},
	{"a null error is none", []string{`{"model":"m","created":5,"choices":[{"delta":{"content":"a"}}],"error":null}`, done}, []string{begin, `text "a"`, "end"}},
	{"an error as a text", []string{`{"error":"not loaded"}`}, []string{"error 502 not loaded"}},
	{"an old error of vLLM", []string{`{"object":"error","message":"too long","type":"BadRequestError","code":400}`}, []string{"error 400 too long"}},
	{"an object behind an error", []string{`{"error":{"message":"no","code":429},"object":"chat.completion.chunk","type":"x"}`}, []string{"error 429 no"}},
	{"a detail without choices", []string{`{"detail":"nope"}`}, []string{"error 502 nope"}},
	{"an event named error", []string{`error|{"message":"away","code":503}`}, []string{"error 503 away"}},
	{"a choice out of bounds", []string{`{"model":"m","created":5,"choices":[{"index":4096,"delta":{"content":"a"}}]}`}, []string{begin, unread}},

	// Calls.
	{"a call in fragments", []string{calls(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}`), calls(`{"index":0,"function":{"arguments":"{\"x\""}}`), calls(`{"index":0,"function":{"arguments":":1}"}}`), tools, done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{\"x\""`, `args 0 ":1}"`, "finish tools", "end"}},
	{"a call in one piece", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), tools, done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{}"`, "finish tools", "end"}},
	{"calls that interleave", []string{calls(`{"index":0,"id":"a","function":{"name":"f"}}`), calls(`{"index":1,"id":"b","function":{"name":"g"}}`), calls(`{"index":0,"function":{"arguments":"{"}}`), calls(`{"index":1,"function":{"arguments":"{}"}}`), calls(`{"index":0,"function":{"arguments":"}"}}`), done}, []string{begin, `tool 0 "a" "f"`, `tool 1 "b" "g"`, `args 0 "{"`, `args 1 "{}"`, `args 0 "}"`, "end"}},
	{"indices with gaps", []string{calls(`{"index":3,"id":"a","function":{"name":"f","arguments":"{}"}}`), calls(`{"index":7,"id":"b","function":{"name":"g","arguments":"{}"}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{}"`, `tool 1 "b" "g"`, `args 1 "{}"`, "end"}},
	{"all calls numbered 0", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), calls(`{"index":0,"id":"b","function":{"name":"f","arguments":"{"}}`), calls(`{"index":0,"function":{"arguments":"}"}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{}"`, `tool 1 "b" "f"`, `args 1 "{"`, `args 1 "}"`, "end"}},
	{"all calls numbered 0, without ids", []string{calls(`{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}`), calls(`{"index":0,"id":"","function":{"name":"f","arguments":"{\"x\":1}"}}`), calls(`{"index":0,"function":{"name":"g","arguments":"{"}}`), calls(`{"index":0,"function":{"arguments":"1"}}`), calls(`{"index":0,"function":{"arguments":"}"}}`), calls(`{"index":0,"function":{"name":"h","arguments":"{}"}}`), done}, []string{begin, `tool 0 "" "f"`, `args 0 "{}"`, `tool 1 "" "f"`, `args 1 "{\"x\":1}"`, `tool 2 "" "g"`, `args 2 "{"`, `args 2 "1"`, `args 2 "}"`, `tool 3 "" "h"`, `args 3 "{}"`, "end"}},
	{"a name with every fragment, without ids", []string{calls(`{"index":0,"function":{"name":"f","arguments":"{"}}`), calls(`{"index":0,"function":{"name":"f","arguments":"}"}}`), calls(`{"index":0,"function":{"name":"f","arguments":"{"}}`), calls(`{"index":0,"function":{"name":"f","arguments":"}"}}`), calls(`{"index":0,"function":{"name":"f","arguments":""}}`), done}, []string{begin, `tool 0 "" "f"`, `args 0 "{"`, `args 0 "}"`, `tool 1 "" "f"`, `args 1 "{"`, `args 1 "}"`, "end"}},
	{"odd entries", []string{calls(`{"index":"0","id":7,"function":"f"},{"index":0.5,"function":{"name":7,"other":1}}`), calls(`{"index":1,"id":"a","function":{"name":"f\u0041","arguments":"{}"}}`), calls(`{"index":1,"id":"a","function":{"name":"f\u0041","arguments":" "}}`), deltaChunk(`{"function_call":""}`), done}, []string{begin, `tool 0 "a" "fA"`, `args 0 "{}"`, `args 0 " "`, "end"}},
	{"a new id with every fragment is the same call", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`), calls(`{"index":0,"id":"b","function":{"arguments":"}"}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{"`, `args 0 "}"`, "end"}},
	{"a name and id with every fragment", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`), calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{"`, `args 0 "}"`, "end"}},
	{"no indices, ids", []string{calls(`{"id":"a","function":{"name":"f","arguments":"{"}}`), calls(`{"function":{"arguments":"}"}}`), calls(`{"id":"b","function":{"name":"f","arguments":"{}"}}`), calls(`{"id":"a","function":{"arguments":" "}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{"`, `args 0 "}"`, `tool 1 "b" "f"`, `args 1 "{}"`, `args 0 " "`, "end"}},
	{"index -1, ids", []string{calls(`{"index":-1,"id":"a","function":{"name":"f","arguments":"{}"}}`), calls(`{"index":-1,"id":"b","function":{"name":"g","arguments":"{"}}`), calls(`{"index":-1,"function":{"arguments":"}"}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{}"`, `tool 1 "b" "g"`, `args 1 "{"`, `args 1 "}"`, "end"}},
	{"neither indices nor ids", []string{calls(`{"function":{"name":"f","arguments":"{"}}`), calls(`{"function":{"name":"f","arguments":"}"}}`), calls(`{"function":{"name":"f","arguments":"{}"}}`), calls(`{"function":{"name":"g","arguments":"{"}}`), done}, []string{begin, `tool 0 "" "f"`, `args 0 "{"`, `args 0 "}"`, `tool 1 "" "f"`, `args 1 "{}"`, `tool 2 "" "g"`, `args 2 "{"`, "end"}},
	{"two entries of one chunk without indices", []string{calls(`{"function":{"name":"f","arguments":"{"}},{"function":{"name":"f","arguments":"}"}}`), done}, []string{begin, `tool 0 "" "f"`, `args 0 "{"`, `tool 1 "" "f"`, `args 1 "}"`, "end"}},
	{"arguments before the name", []string{calls(`{"index":0,"id":"a","function":{"arguments":"{\"x\""}}`), calls(`{"index":0,"function":{"arguments":":1"}}`), calls(`{"index":0,"function":{"name":"f","arguments":"}"}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{\"x\":1"`, `args 0 "}"`, "end"}},
	{"an id behind the name is too late", []string{calls(`{"index":0,"function":{"name":"f","arguments":"{"}}`), calls(`{"index":0,"id":"a","function":{"arguments":"}"}}`), done}, []string{begin, `tool 0 "" "f"`, `args 0 "{"`, `args 0 "}"`, "end"}},
	{"a call without any arguments", []string{calls(`{"index":0,"id":"a","function":{"name":"f"}}`), tools, done}, []string{begin, `tool 0 "a" "f"`, "finish tools", "end"}},
	{"null arguments, null ids", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`), calls(`{"index":0,"id":null,"function":{"name":null,"arguments":"{}"}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{}"`, "end"}},
	{"arguments that are an object", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x": 1}}}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{\"x\": 1}"`, "end"}},
	{"entries that are none", []string{calls(`null,7,{"index":0}`), deltaChunk(`{"tool_calls":{}}`), done}, []string{begin, "end"}},
	{"a call that never gets a name", []string{calls(`{"index":0,"id":"a","function":{"arguments":"{}"}}`), tools, done}, []string{begin, "finish tools", unread}},
	{"a custom call", []string{calls(`{"index":0,"id":"a","type":"custom","custom":{"name":"f","input":"x"}}`), done}, []string{begin, `tool 0 "a" "f" custom`, `args 0 "x"`, "end"}},
	{"function_call", []string{deltaChunk(`{"function_call":{"name":"f","arguments":"{"}}`), deltaChunk(`{"function_call":{"arguments":"}"}}`), `{"choices":[{"delta":{},"finish_reason":"function_call"}]}`, done}, []string{begin, `tool 0 "" "f"`, `args 0 "{"`, `args 0 "}"`, "finish tools", "end"}},
	{"calls of two choices", []string{`{"model":"m","created":5,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}},{"index":1,"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g"}}]}}]}`, done}, []string{begin, `tool 0 "a" "f"`, `1: tool 0 "b" "g"`, "end"}},
	{"text behind a call", []string{calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), deltaChunk(`{"content":"x"}`), done}, []string{begin, `tool 0 "a" "f"`, `args 0 "{}"`, `text "x"`, "end"}},

	// Other shapes.
	{"a message in place of a delta", []string{`{"model":"m","created":5,"choices":[{"message":{"role":"assistant","content":"all","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`, done}, []string{begin, `text "all"`, `tool 0 "a" "f"`, `args 0 "{}"`, "finish stop", "end"}},
	{"logprobs behind their text", []string{`{"model":"m","created":5,"choices":[{"logprobs":{"content":[{"token":"a","logprob":-1}],"refusal":null},"delta":{"content":"a"}}]}`, done}, []string{begin, `text "a"`, `logprobs [{"token":"a","logprob":-1}]`, "end"}},
	{"choices in any order", []string{`{"model":"m","created":5,"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"},{"index":0,"delta":{"content":"a"},"finish_reason":"length"}]}`, done}, []string{begin, `1: text "b"`, "1: finish stop", `text "a"`, "finish length", "end"}},
}

// What was of a kind of JSON that the format does not have was once skipped: an
// answer without its text, or without its call, looked whole.
func TestUnreadableContentIsAnError(t *testing.T) {
	for _, delta := range []string{
		`{"content":7}`, `{"content":true}`, `{"content":false}`, `{"content":{"text":"a"}}`, `{"role":"assistant","content":0.5}`,
		`{"tool_calls":{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}}`, `{"tool_calls":"f"}`,
		`{"function_call":"f"}`, `{"function_call":[{"name":"f"}]}`, `"text"`, `["text"]`, `7`,
	} {
		assert.Equal(t, []string{begin, unread}, parse([]string{deltaChunk(delta), stop, done}, true), delta)
		var r translatetest.Transcript
		answer.NewParser(&r).Answer([]byte(`{"model":"m","created":5,"choices":[{"index":0,"message":` + delta + `,"finish_reason":"stop"}]}`))
		assert.Equal(t, []string{begin, unread}, r.Lines, delta)
	}
}

func TestStreamsAreReadIntoCoreEvents(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, parse(tt.events, true))
		})
	}
}

func TestABodyThatBreaksOffIsNeverComplete(t *testing.T) {
	for _, tt := range streams {
		if last := tt.want[len(tt.want)-1]; last == "end" && tt.events[len(tt.events)-1] != done && !strings.HasPrefix(tt.events[len(tt.events)-1], "{\"error") {
			t.Run(tt.name, func(t *testing.T) {
				got := parse(tt.events, false)
				assert.Equal(t, append(tt.want[:len(tt.want)-1:len(tt.want)-1], cutOff), got)
			})
		}
	}
}

// TestChunksOfOneShapeGiveTheSameEvents ensures that a chunk read by the shape of the one before
// gives the same events as a chunk read whole.
func TestChunksOfOneShapeGiveTheSameEvents(t *testing.T) {
	chunk := func(text, pad string) string {
		return `{"model":"m","created":5,"choices":[{"index":0,"delta":{"content":` + text + `}}],"usage":null,"obfuscation":` + pad + `}`
	}
	for name, tt := range map[string]struct {
		event string
		want  []string
	}{
		"another text":               {chunk(`"b"`, `"xx"`), []string{`text "b"`}},
		"an empty text":              {chunk(`""`, `"xx"`), nil},
		"an escape":                  {chunk(`"\u0041\\"`, `"xx"`), []string{`text "A\\"`}},
		"other padding":              {chunk(`"b"`, `"\n"`), []string{`text "b"`}},
		"no text":                    {chunk(`null`, `"xx"`), nil},
		"no padding":                 {chunk(`"b"`, `null`), []string{`text "b"`}},
		"a finish behind the text":   {chunk(`"b"},"finish_reason":"stop","x":{"y":""`, `"xx"`), []string{`text "b"`, "finish stop"}},
		"a finish behind a quote":    {chunk(`"b\"},\"finish_reason\":\"stop"`, `"xx"`), []string{`text "b\"},\"finish_reason\":\"stop"`}},
		"usage in front":             {strings.Replace(chunk(`"b"`, `"xx"`), `"usage":null`, `"usage":{"prompt_tokens":1}`, 1), []string{`text "b"`, "usage 1+0+0 0 (0)"}},
		"an error in the padding":    {chunk(`"b"`, `"","error":{"message":"boom","code":500}`), []string{"error 500 boom"}},
		"bad escapes":                {chunk(`"\x"`, `"xx"`), []string{unread}},
		"a control character":        {chunk("\"\n\"", `"xx"`), []string{unread}},
		"bytes that are not UTF-8":   {chunk("\"\xff\"", `"xx"`), []string{unread}},
		"a bad escape in padding":    {chunk(`"b"`, `"\x"`), []string{unread}},
		"a quote that is not closed": {chunk(`"b`, `"xx"`), []string{unread}},
		"more behind the end":        {chunk(`"b"`, `"xx"`) + "}", []string{unread}},
		"less at the end":            {strings.TrimSuffix(chunk(`"b"`, `"xx"`), "}"), []string{unread}},
		"a byte order mark":          {chunk("\ufeff\"b\"", `"xx"`), []string{unread}},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]string{begin, `text "first"`}, tt.want...)
			if len(tt.want) == 0 || !strings.HasPrefix(tt.want[len(tt.want)-1], "error") {
				want = append(want, "end")
			}
			assert.Equal(t, want, parse([]string{chunk(`"first"`, `"pad"`), tt.event, done}, true))
		})
	}
}

// A call without a name yet used to take a number, so that the numbers of later calls
// began with a gap.
func TestCallsAreNumberedAsTheyBegin(t *testing.T) {
	nameless := calls(`{"index":0,"function":{"arguments":""}}`)
	second := calls(`{"index":1,"id":"b","function":{"name":"g"}}`)
	fragment := calls(`{"index":1,"function":{"arguments":"1"}}`)
	named := calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"2"}}`)
	assert.Equal(t, []string{
		begin, `tool 0 "b" "g"`, `args 0 "1"`, `args 0 "1"`, `tool 1 "a" "f"`, `args 1 "2"`, "end",
	}, parse([]string{nameless, second, fragment, fragment, named, done}, true))
	assert.Equal(t, []string{begin, `tool 0 "b" "g"`, "end"}, parse([]string{nameless, second, done}, true))
}

// TestRepeatedShapesFollowTheCallTheyBelongTo ensures that the shape of a fragment is
// forgotten when its index changes to another call.
func TestRepeatedShapesFollowTheCallTheyBelongTo(t *testing.T) {
	fragment := calls(`{"index":0,"function":{"arguments":"1"}}`)
	first := calls(`{"index":0,"id":"a","function":{"name":"f"}}`)
	second := calls(`{"index":0,"id":"b","function":{"name":"g"}}`)
	assert.Equal(t, []string{
		begin, `tool 0 "a" "f"`, `args 0 "1"`, `args 0 "1"`, `tool 1 "b" "g"`, `args 1 "1"`, `args 1 "1"`, "end",
	}, parse([]string{first, fragment, fragment, second, fragment, fragment, done}, true))
}

// A chunk that differs from the one before in its text and its usage alone is recognised, and
// means what it would mean to a parser that reads it.
func TestUsageInEveryChunkIsReadInEveryChunk(t *testing.T) {
	chunk := func(text, usage string) string {
		return `{"model":"m","created":5,"choices":[{"index":0,"delta":{"content":"` + text + `"}}],"usage":` + usage + `}`
	}
	first, second := chunk("a", `{"prompt_tokens":3,"completion_tokens":1}`), chunk("b", `{"prompt_tokens":3,"completion_tokens":2}`)
	for usage, want := range map[string][]string{
		`{"prompt_tokens":3,"completion_tokens":3}`:                           {`text "c"`, "usage 3+0+0 3 (0)"},
		`{"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":1}}`: {`text "c"`, "usage 2+1+0 3 (0)"},
		`{"prompt_tokens":0,"completion_tokens":0}`:                           {`text "c"`},
		`null`:                                  {`text "c"`},
		`{"prompt_tokens":3,"prompt_tokens":4}`: {unread},
		`{"prompt_tokens":3,`:                   {unread},
		`{"prompt_tokens":3,"x":[[[[[[[[[]]]]]]]]]}`: {`text "c"`, "usage 3+0+0 2 (0)"},
	} {
		want = append([]string{begin + " input 3", `text "a"`, "usage 3+0+0 1 (0)", `text "b"`, "usage 3+0+0 2 (0)"}, want...)
		if want[len(want)-1] != unread {
			want = append(want, "end")
		}
		assert.Equal(t, want, parse([]string{first, second, chunk("c", usage), done}, true), usage)
	}
}

func whole(message, rest string) string {
	return `{"id":"x","object":"chat.completion","created":5,"model":"m","choices":[{"index":0,"message":` + message + rest + `}]}`
}

var answers = []struct {
	name, body string
	want       []string
}{
	{"text", whole(`{"role":"assistant","content":"a"}`, `,"finish_reason":"stop"`), []string{begin, `text "a"`, "finish stop", "end"}},
	{"null content", whole(`{"content":null}`, `,"finish_reason":"stop"`), []string{begin, "finish stop", "end"}},
	{"empty content", whole(`{"content":""}`, `,"finish_reason":"stop"`), []string{begin, "finish stop", "end"}},
	{"parts are texts of their own", whole(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, ``), []string{begin, `text "a"`, "text end", `text "b"`, "end"}},
	{"think markup stays text", whole(`{"content":"<think>a</think>b"}`, ``), []string{begin, `text "<think>a</think>b"`, "end"}},
	{"everything, in the order of the table", whole(`{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}],"refusal":"no","content":"t","reasoning_content":"r"}`, `,"finish_reason":"stop"`), []string{begin, `reasoning "r"`, `text "t"`, `text "no" refusal`, `tool 0 "a" "f"`, `args 0 "{}"`, "finish refused", "end"}},
	{"reasoning", whole(`{"reasoning":"r","content":"t"}`, ``), []string{begin, `reasoning "r"`, `text "t"`, "end"}},
	{"blocks instead of reasoning", whole(`{"reasoning_content":"ab","thinking_blocks":[{"type":"thinking","thinking":"a","signature":"s"},{"type":"thinking","thinking":"b"},{"type":"redacted_thinking","data":"d"}],"content":"t"}`, ``), []string{begin, `reasoning "a"`, `signature "s"`, "reasoning end", `reasoning "b"`, "reasoning end", `redacted "d"`, `text "t"`, "end"}},
	{"every entry is a call", whole(`{"content":null,"tool_calls":[{"function":{"name":"f","arguments":"{"}},{"id":"b","index":0,"function":{"name":"f"}},{"id":"b","index":0,"function":{"name":"f","arguments":{"x":1}}}]}`, `,"finish_reason":"tool_calls"`), []string{begin, `tool 0 "" "f"`, `args 0 "{"`, `tool 1 "b" "f"`, `tool 2 "b" "f"`, `args 2 "{\"x\":1}"`, "finish tools", "end"}},
	{"function_call", whole(`{"content":null,"function_call":{"name":"f","arguments":"{}"}}`, `,"finish_reason":"function_call"`), []string{begin, `tool 0 "" "f"`, `args 0 "{}"`, "finish tools", "end"}},
	{"a custom call", whole(`{"tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"x"}}]}`, ``), []string{begin, `tool 0 "a" "f" custom`, `args 0 "x"`, "end"}},
	{"annotations and audio say nothing", whole(`{"content":"a","annotations":[{"type":"url_citation"}],"audio":{"id":"x"}}`, `,"logprobs":null`), []string{begin, `text "a"`, "end"}},
	{"usage and tier", `{"model":"m","created":5,"service_tier":"priority","choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, []string{"start m 5 input 3 tier 2", `text "a"`, "usage 3+0+0 2 (0) tier 2", "end"}},
	{"two choices without an index", `{"model":"m","created":5,"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]}`, []string{begin, `text "a"`, `1: text "b"`, "end"}},
	{"no choice", `{"model":"m","created":5,"choices":[]}`, []string{begin, unread}},
	{"no choices", `{"id":"x"}`, []string{unread}},
	{"an error", `{"error":{"message":"no","code":429}}`, []string{"error 429 no"}},
	{"an error without a code", `{"error":{"message":"no"}}`, []string{"error 502 no"}},
	{"an error of the messages kind", `{"type":"error","message":"no"}`, []string{"error 502 no"}},
	{"not JSON", `<html>`, []string{unread}},
	{"not an object", `[]`, []string{unread}},
	{"finish_reason error", whole(`{"content":"a"}`, `,"finish_reason":"error"`), []string{begin, `text "a"`, brokenOff}},
}

func TestAnswersAreReadIntoCoreEvents(t *testing.T) {
	for _, tt := range answers {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, translatetest.ReadAnswer(answer.NewParser, tt.body))
		})
	}
}

// A bug was here: arguments waited without a bound for the name of their call,
// and a stream of nothing else took all the memory there was. Names wait too.
func TestArgumentsAndNamesWaitForTheirCallsWithinABound(t *testing.T) {
	waits := func(choice, index int, member, letter string) string {
		return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"tool_calls":[{"index":%d,"function":{"%s":"%s"}}]}}]}`,
			choice, index, member, strings.Repeat(letter, 12<<20))
	}
	tooMuch := parse([]string{waits(0, 0, "name", "a"), waits(0, 0, "name", "b"), waits(1, 0, "arguments", "c")}, true)
	assert.Contains(t, tooMuch[len(tooMuch)-1], "error 502")
	told := parse([]string{
		waits(0, 0, "arguments", "a"), waits(0, 0, "name", "b"), waits(0, 1, "arguments", "c"), waits(1, 0, "arguments", "d"),
	}, false)
	assert.Len(t, told, 4, "what was told waits no more")
}

// A bug was here: the texts of choices that a server gave the same index became
// one text. In a stream an index that comes again goes on with its choice.
func TestEveryChoiceOfAWholeAnswerIsOneOfItsOwn(t *testing.T) {
	var r translatetest.Transcript
	answer.NewParser(&r).Answer([]byte(`{"model":"m","choices":[` +
		`{"index":0,"message":{"content":"a"},"finish_reason":"stop"},` +
		`{"index":0,"message":{"content":"b"},"finish_reason":"length"}]}`))
	assert.Equal(t, []string{"start m 0", `text "a"`, "finish stop", `1: text "b"`, "1: finish length", "end"}, r.Lines)
}

// A bug was here: unknown members of an answer, and images, were dropped without a
// report, or without the name of the member.
func TestUnknownMembersOfAnAnswerAreReported(t *testing.T) {
	const envelope = `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","service_tier":"default","obfuscation":"abc","usage":{"x":1},`
	for data, want := range map[string]string{
		`"choices":[{"index":0,"delta":{"role":"assistant","content":"a","refusal":null,"x":null,"y":[],"z":""},"logprobs":null,"finish_reason":null,"stop_reason":7}]}`: "",

		`"timings":{"n":1},"citations":["u"],"x":{ },"choices":[{"index":0,"delta":{}}]}`:       "timings,citations",
		`"choices":[{"delta":{},"guardrail_results":{"hate":{}},"matched":null}]}`:              "choices[*].guardrail_results",
		`"choices":["a",null,{"delta":{}}]}`:                                                    "choices[*]",
		`"choices":[{"delta":{"x":1}}]}`:                                                        "choices[*].message.x",
		`"choices":[{"message":{"x":false,"y":"z"}}]}`:                                          "choices[*].message.x,choices[*].message.y",
		`"choices":[{"delta":{"images":[{"type":"x"}]}}]}`:                                      "choices[*].message.images",
		`"choices":[{"delta":{"audio":"x"}}]}`:                                                  "choices[*].message.audio",
		`"choices":[{"delta":{"reasoning":{"steps":["a"]},"refusal":["no"]}}]}`:                 "choices[*].message.reasoning,choices[*].message.refusal",
		`"choices":[{"delta":{"thinking_blocks":{"thinking":"t"}}}]}`:                           "choices[*].message.thinking_blocks",
		`"choices":[{"delta":{"thinking_blocks":[{"type":"x","text":"t"}]}}]}`:                  "choices[*].message.thinking_blocks[*]",
		`"choices":[{"delta":{"thinking_blocks":[{"type":"thinking","thinking":"t","x":1}]}}]}`: "choices[*].message.thinking_blocks[*].x",
		`"choices":[{"delta":{"content":[{"type":"text","text":"t","citations":[1]}]}}]}`:       "choices[*].message.content[*].citations",
		`"choices":[{"delta":{"tool_calls":[7,{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f","arguments":"{}","x":1}}]}}]}`: "choices[*].message.tool_calls[*],choices[*].message.tool_calls[*].function.x",
		`"choices":[{"delta":{"tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"","x":1}}]}}]}`:                                                                            "choices[*].message.tool_calls[*].custom.x",
		`"choices":[{"delta":{"function_call":{"name":"f","x":1}}}]}`:                                                                                                                          "choices[*].message.function_call.x",
		`"choices":[{"delta":{"content":"a"},"logprobs":{"content":[],"refusal":[{"token":"a"}]}}]}`:                                                                                           "choices[*].logprobs.refusal",
		`"choices":[{"delta":{"content":"a"},"logprobs":[1]}]}`:                                                                                                                                "choices[*].logprobs",
	} {
		p := answer.NewParser(&translatetest.Transcript{})
		p.Event(sse.Event{Data: []byte(envelope + data)})
		assert.Equal(t, want, p.Losses().String(), data)
	}
}

// What surrounds an error is no part of an answer.
func TestAnErrorLosesNothing(t *testing.T) {
	p := answer.NewParser(&translatetest.Transcript{})
	p.Answer([]byte(`{"error":{"message":"no"},"request_id":"x"}`))
	assert.Empty(t, p.Losses())
}

// A bug was here: a name that was repeated with every fragment became get_get_weather.
func TestANameThatGrowsIsNotJoinedToItself(t *testing.T) {
	assert.Equal(t, []string{begin, `tool 0 "a" "get_weather"`, `args 0 "{}"`, "end"}, parse([]string{
		calls(`{"index":0,"id":"a","function":{"name":"get_"}}`),
		calls(`{"index":0,"function":{"name":"get_wea"}}`),
		calls(`{"index":0,"function":{"name":"get_weather"}}`),
		calls(`{"index":0,"function":{"arguments":"{}"}}`), done,
	}, true))
}

// A bug was here: two calls of one index and without ids became one, with the
// arguments {"a":1}{"a":2}.
func TestANameAgainBehindAllArgumentsBeginsACallWithTheNextOnes(t *testing.T) {
	two := []string{begin, `tool 0 "" "f"`, `args 0 "{\"a\":1}"`, `tool 1 "" "f"`, `args 1 "{\"a\":2}"`, "end"}
	for _, index := range []string{`"index":0,`, ``} {
		first := calls(`{` + index + `"function":{"name":"f","arguments":"{\"a\":1}"}}`)
		repeated := calls(`{` + index + `"function":{"name":"f","arguments":""}}`)
		next := calls(`{` + index + `"function":{"arguments":"{\"a\":2}"}}`)
		assert.Equal(t, two, parse([]string{first, repeated, next, done}, true), index)
		assert.Equal(t, append(two[:3:3], "end"), parse([]string{first, repeated, done}, true), "the name alone is no call")
	}
}
