package answer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// parse reads events, and then the end of the body.
func parse(events []string, clean bool) []string {
	return translatetest.ReadEvents(answer.NewParser, clean, events...)
}

// event is the data of an event; members follow its type.
func eventOf(name, members string) string { return `{"type":"` + name + `",` + members + `}` }

func added(index int, item string) string {
	return eventOf("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

func done(index int, item string) string {
	return eventOf("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

// textEvent returns a delta or a whole text; kind is the end of its name.
func textEvent(index, part int, kind, member, text string) string {
	place := "content_index"
	if strings.HasPrefix(kind, "reasoning_summary") {
		place = "summary_index"
	}
	return eventOf("response."+kind, fmt.Sprintf(`"item_id":"i","output_index":%d,%q:%d,%q:%q`, index, place, part, member, text))
}

func text(index, part int, delta string) string {
	return textEvent(index, part, "output_text.delta", "delta", delta)
}

func thinks(index, part int, delta string) string {
	return textEvent(index, part, "reasoning_summary_text.delta", "delta", delta)
}

func args(index int, delta string) string {
	return textEvent(index, 0, "function_call_arguments.delta", "delta", delta)
}

func ends(output string) string {
	return eventOf("response.completed", `"response":{"id":"resp_1","model":"m","status":"completed","output":`+output+`,"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":20,"cache_write_tokens":3},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":39},"service_tier":"default"}`)
}

const (
	created = `{"type":"response.created","response":{"id":"resp_1","created_at":7,"model":"m","status":"in_progress","output":[],"usage":null}}`
	begin   = "start m 7"
	counted = "usage 7+20+3 9 (4) tier 1"
	unread  = "error 502 the upstream returned an unusable answer"
	cutOff  = "error 502 the upstream closed the stream before completing the answer"

	message = `{"type":"message","id":"msg_1","role":"assistant","status":"in_progress","content":[]}`
	thought = `{"type":"reasoning","id":"rs_1","summary":[]}`
	call    = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"","status":"in_progress"}`
	free    = `{"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"g","input":""}`
)

// response puts the events of items between the beginning and the end.
func response(events ...string) []string {
	return append(append([]string{created}, events...), ends("[]"))
}

// content is what the parser makes of such a response, which finished for that reason.
func content(reason string, lines ...string) []string {
	return append(append([]string{begin}, lines...), counted, "finish "+reason, "end")
}

func whole(kind, texts string) string {
	return `{"type":"message","id":"msg_1","content":[{"type":"` + kind + `",` + texts + `}]}`
}

var streams = []struct {
	name   string
	events []string
	want   []string
}{
	{"nothing but a beginning and an end", response(), content("stop")},
	{"text", response(added(0, message), text(0, 0, "a"), text(0, 0, ""), text(0, 0, "é"), textEvent(0, 0, "output_text.done", "text", "aé"), eventOf("response.content_part.done", `"output_index":0,"content_index":0,"part":{"type":"output_text","text":"aé","annotations":[]}`), done(0, whole("output_text", `"text":"aé","annotations":[]`))), content("stop", `text "a"`, `text "é"`, "text end")},
	{"two parts and two messages", response(added(0, message), text(0, 0, "a"), text(0, 1, "b"), done(0, `{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}`), added(1, `{"type":"message","content":[]}`), text(1, 0, "c"), done(1, whole("output_text", `"text":"c"`))), content("stop", `text "a"`, `text "b" of part 1`, "text end", `text "c"`, "text end")},
	{"a refusal", response(added(0, message), textEvent(0, 0, "refusal.delta", "delta", "no"), textEvent(0, 0, "refusal.done", "refusal", "no"), done(0, whole("refusal", `"refusal":"no"`))), content("refused", `text "no" refusal`, "text end")},
	{"reasoning", response(added(0, thought), eventOf("response.reasoning_summary_part.added", `"output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}`), thinks(0, 0, "a"), thinks(0, 0, "b"), textEvent(0, 0, "reasoning_summary_text.done", "text", "ab"), eventOf("response.reasoning_summary_part.done", `"output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"ab"}`), thinks(0, 1, "c"), done(0, `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"ab"},{"type":"summary_text","text":"c"}],"encrypted_content":"gA=="}`)), content("stop", `reasoning "a"`, `reasoning "b"`, `reasoning "c" of part 1`, `signature "rs_1.2,1.gA==" of responses`, "reasoning end")},
	{"reasoning that is only encrypted", response(added(0, thought), done(0, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA=="}`)), content("stop", `signature "rs_1..gA==" of responses`, "reasoning end")},
	{"reasoning that says nothing", response(added(0, thought), done(0, thought)), content("stop")},
	{"reasoning as text", response(added(0, thought), textEvent(0, 0, "reasoning_text.delta", "delta", "a"), textEvent(0, 0, "reasoning_text.done", "text", "ab"), done(0, `{"type":"reasoning","id":"r s","summary":[],"content":[{"type":"reasoning_text","text":"ab"}],"encrypted_content":"g"}`)), content("stop", `reasoning "a"`, `reasoning "b"`, `signature "rs_1.t2.g" of responses`, "reasoning end")},
	{"reasoning in both lists", response(added(0, thought), textEvent(0, 0, "reasoning_text.delta", "delta", "a"), thinks(0, 0, "s"), done(0, `{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"a"}]}`)), content("stop", `reasoning "a"`, "reasoning end")},
	{"a call", response(added(0, call), args(0, `{"x":`), args(0, "1}"), textEvent(0, 0, "function_call_arguments.done", "arguments", `{"x":1}`), done(0, `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)), content("tools", `tool 0 "call_1" "f"`, `args 0 "{\"x\":"`, `args 0 "1}"`, "tool end 0")},
	{"a call without arguments", response(added(0, call), done(0, call)), content("tools", `tool 0 "call_1" "f"`, `args 0 "{}"`, "tool end 0")},
	{"a free call", response(added(0, free), textEvent(0, 0, "custom_tool_call_input.delta", "delta", "*** "), textEvent(0, 0, "custom_tool_call_input.done", "input", "*** Begin"), done(0, `{"type":"custom_tool_call","call_id":"call_2","name":"g","input":"*** Begin"}`)), content("tools", `tool 0 "call_2" "g" custom`, `args 0 "*** "`, `args 0 "Begin"`, "tool end 0")},
	{"a free call without input", response(added(0, free), done(0, free)), content("tools", `tool 0 "call_2" "g" custom`, "tool end 0")},
	{"calls that overlap", response(added(0, call), added(1, `{"type":"function_call","call_id":"b","name":"g","arguments":"{"}`), args(1, "}"), args(0, "{}"), done(1, `{"type":"function_call","call_id":"b","name":"g","arguments":"{}"}`), done(0, call)), content("tools", `tool 0 "call_1" "f"`, `tool 1 "b" "g"`, `args 1 "{"`, `args 1 "}"`, `args 0 "{}"`, "tool end 1", "tool end 0")},
	{"reasoning, text, call", response(added(0, thought), thinks(0, 0, "a"), done(0, thought), added(1, message), text(1, 0, "b"), done(1, whole("output_text", `"text":"b"`)), added(2, call), args(2, "{}"), done(2, call)), content("tools", `reasoning "a"`, "reasoning end", `text "b"`, "text end", `tool 0 "call_1" "f"`, `args 0 "{}"`, "tool end 0")},
	{"log probabilities", response(added(0, message), eventOf("response.output_text.delta", `"output_index":0,"content_index":0,"delta":"a","logprobs":[{"token":"a","logprob":-1}]`), eventOf("response.output_text.delta", `"output_index":0,"content_index":0,"delta":"b","logprobs":[]`), done(0, whole("output_text", `"text":"ab","logprobs":[{"token":"ab"}]`))), content("stop", `text "a"`, `logprobs [{"token":"a","logprob":-1}]`, `text "b"`, "text end")},
	{"sources", response(added(0, message), text(0, 0, "☂a"), text(0, 1, "bc"), eventOf("response.output_text.annotation.added", `"output_index":0,"content_index":1,"annotation_index":0,"annotation":{"type":"url_citation","url":"u","title":"t","start_index":1,"end_index":2}`), eventOf("response.output_text.annotation.added", `"output_index":0,"content_index":1,"annotation_index":1,"annotation":{"type":"file_citation","file_id":"f"}`), done(0, `{"type":"message","content":[{"type":"output_text","text":"☂a"},{"type":"output_text","text":"bc","annotations":[{"type":"url_citation","url":"u"},{"type":"file_citation"},{"type":"url_citation","url":"v","end_index":1}]}]}`)), content("stop", `text "☂a"`, `text "bc" of part 1`, `source "u" "t" 3..4`, `source "v" "" 2..3`, "text end")},

	// Servers that leave something out.
	{"only whole texts", response(added(0, message), textEvent(0, 0, "output_text.done", "text", "a"), done(0, whole("output_text", `"text":"ab"`))), content("stop", `text "a"`, `text "b"`, "text end")},
	{"only a whole part", response(eventOf("response.content_part.done", `"output_index":0,"content_index":0,"part":{"type":"output_text","text":"a"}`)), content("stop", `text "a"`, "text end")},
	{"only whole parts of reasoning", response(eventOf("response.reasoning_summary_part.done", `"output_index":0,"summary_index":1,"part":{"type":"summary_text","text":"a"}`), eventOf("response.content_part.done", `"output_index":1,"content_index":0,"part":{"type":"reasoning_text","text":"b"}`)), content("stop", `reasoning "a" of part 1`, "reasoning end", `reasoning "b"`, "reasoning end")},
	{"R036 only whole items", response(done(0, whole("output_text", `"text":"a"`)), done(1, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`)), content("tools", `text "a"`, "text end", `tool 0 "c" "f"`, `args 0 "{}"`, "tool end 0")},
	{"only the whole response", []string{created, ends(`[` + thought + `,` + whole("output_text", `"text":"a"`) + `,{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]`)}, content("tools", `text "a"`, "text end", `tool 0 "c" "f"`, `args 0 "{}"`, "tool end 0")},
	{"R036 items that were not announced", response(text(0, 0, "a"), thinks(1, 0, "b"), args(2, "{"), args(2, "}"), done(2, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`)), content("tools", `text "a"`, "text end", `reasoning "b"`, `tool 0 "c" "f"`, `args 0 "{}"`, "tool end 0", "reasoning end")},
	{"a call whose name comes late", response(args(0, "{"), added(0, call), args(0, "}"), done(0, `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}`)), content("tools", `tool 0 "call_1" "f"`, `args 0 "{}"`, "tool end 0")},
	{"items that never end", response(added(0, message), text(0, 0, "a"), added(1, call), args(1, "{}")), content("tools", `text "a"`, `tool 0 "call_1" "f"`, `args 0 "{}"`, "text end", "tool end 0")},
	{"the rest of an item is in the response", []string{created, added(0, message), text(0, 0, "a"), ends(`[` + whole("output_text", `"text":"abc"`) + `]`)}, content("stop", `text "a"`, `text "bc"`, "text end")},
	{"items at other places of the response", []string{created, added(0, thought), added(1, message), text(1, 0, "a"), done(1, whole("output_text", `"text":"a"`)), ends(`[` + whole("output_text", `"text":"a"`) + `]`)}, content("stop", `text "a"`, "text end")},
	{"ids that change", []string{created, added(0, message), text(0, 0, "a"), done(0, whole("output_text", `"text":"a"`)), ends(`[{"type":"message","id":"msg_9","content":[{"type":"output_text","text":"a"}]}]`)}, content("stop", `text "a"`, "text end")},
	{"another item with the same index", response(added(0, message), text(0, 0, "a"), added(0, `{"type":"message","id":"msg_2","content":[]}`), text(0, 0, "b"), added(0, call), args(0, "{}")), content("tools", `text "a"`, "text end", `text "b"`, "text end", `tool 0 "call_1" "f"`, `args 0 "{}"`, "tool end 0")},
	{"no beginning", []string{text(0, 0, "a"), ends("null")}, []string{"start  0", `text "a"`, "text end", counted, "finish stop", "end"}},
	{"events without names", []string{"|" + created, "|" + text(0, 0, "a"), "|" + ends("[]")}, content("stop", `text "a"`, "text end")},
	{"deltas of one shape without names", []string{"|" + created, "|" + text(0, 0, "a"), "|" + text(0, 0, "b"), "|" + text(0, 0, "c"), "|" + ends("["+whole("output_text", `"text":"abcd"`)+"]")}, content("stop", `text "a"`, `text "b"`, `text "c"`, `text "d"`, "text end")},
	// Its event names it. Before, it was taken for a part of a message, and lost.
	{"a part of a summary without a type", response(eventOf("response.reasoning_summary_part.done", `"output_index":0,"summary_index":0,"part":{"text":"a"}`)), content("stop", `reasoning "a"`, "reasoning end")},
	// Before, the source preceded the beginning, which no format can express.
	{"a source before the beginning", []string{eventOf("response.output_text.annotation.added", `"output_index":0,"annotation":{"type":"url_citation","url":"u"}`), ends("[]")}, []string{"start  0", `source "u" "" 0..0`, counted, "finish stop", "end"}},
	{"arguments that are an object", response(done(0, `{"type":"function_call","call_id":"c","name":"f","arguments":{"x": 1}}`)), content("tools", `tool 0 "c" "f"`, `args 0 "{\"x\":1}"`, "tool end 0")},
	// Before, the empty object was taken for the arguments, and the real ones were lost.
	{"arguments that are an empty object at first", response(added(0, `{"type":"function_call","call_id":"c","name":"f","arguments":{}}`), done(0, `{"type":"function_call","call_id":"c","name":"f","arguments":{"x":1}}`)), content("tools", `tool 0 "c" "f"`, `args 0 "{\"x\":1}"`, "tool end 0")},
	{"nulls for lists", response(done(0, `{"type":"message","content":null}`), done(1, `{"type":"reasoning","summary":null,"content":null,"encrypted_content":null}`), done(2, `{"type":"message","content":[{"type":"output_text","text":"a","annotations":null,"logprobs":null}]}`)), content("stop", `text "a"`, "text end")},

	// What cannot be taken back, or has no words.
	{"a whole text that is another one", response(added(0, message), text(0, 0, "ab"), textEvent(0, 0, "output_text.done", "text", "xbc"), done(0, whole("output_text", `"text":"a"`))), content("stop", `text "ab"`, "text end")},
	{"deltas behind the end of their item", response(added(0, message), text(0, 0, "a"), done(0, whole("output_text", `"text":"a"`)), text(0, 0, "b")), content("stop", `text "a"`, "text end")},
	{"tools of the vendor", response(added(0, `{"type":"web_search_call","status":"in_progress"}`), eventOf("response.web_search_call.searching", `"output_index":0,"item_id":"ws_1"`), done(0, `{"type":"web_search_call","status":"completed","action":{"query":"q"}}`)), slices.Insert(content("stop"), 1, "usage 0+0+0 0 (0)")},
	{"R037 events that nobody knows", response(`{"type":"keepalive","sequence_number":3}`, `codex.rate_limits|{"type":"codex.rate_limits","limits":{}}`, `responsesapi.x|not json`, `{"type":"response.metadata","headers":{}}`, `{"type":"response.queued","response":{}}`), content("stop")},
	{"DONE", append(response(), "|[DONE]"), content("stop")},

	// The end.
	{"cut at the limit", []string{created, added(0, message), text(0, 0, "a"), eventOf("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`)}, []string{begin, `text "a"`, "text end", "finish length", "end"}},
	{"R033 cut in a call", []string{created, added(0, call), args(0, `{"x`), eventOf("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"length"}}`)}, []string{begin, `tool 0 "call_1" "f"`, `args 0 "{\"x"`, "finish length", "end"}},
	{"filtered", []string{created, eventOf("response.incomplete", `"response":{"incomplete_details":{"reason":"content_filter"}}`)}, []string{begin, "finish filtered", "end"}},
	{"incomplete for a new reason", []string{created, eventOf("response.incomplete", `"response":{"incomplete_details":{"reason":"steered"}}`)}, []string{begin, "finish length", "end"}},
	{"incomplete without a reason", []string{created, eventOf("response.incomplete", `"response":{"incomplete_details":null}`)}, []string{begin, "finish length", "end"}},
	{"a completed event of an incomplete response", []string{created, eventOf("response.completed", `"response":{"status":"incomplete"}`)}, []string{begin, "finish length", "end"}},
	{"a completed event of a response without a status", []string{created, eventOf("response.completed", `"response":{"output":[]}`)}, []string{begin, "finish stop", "end"}},
	{"events behind the end", append(response(), text(0, 0, "late"), eventOf("error", `"message":"late"`)), content("stop")},

	// Failures.
	{"a failed response", []string{created, added(0, message), text(0, 0, "a"), eventOf("response.failed", `"response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}`)}, []string{begin, `text "a"`, "failing", "error 429 slow"}},
	{"a reason behind a failed response", []string{created, eventOf("response.failed", `"response":{"status":"failed","error":{"code":"server_error","message":"failed"}}`), text(0, 0, "late"), eventOf("error", `"code":"content_filter","message":"the policy"`)}, []string{begin, "failing", "error 500 the policy"}},
	{"the end behind a failed response", []string{created, eventOf("response.failed", `"response":{"status":"failed","error":{"code":"server_error","message":"failed"}}`), "|[DONE]", eventOf("error", `"message":"late"`)}, []string{begin, "failing", "error 500 failed"}},
	{"a completed event of a failed response", []string{created, eventOf("response.completed", `"response":{"status":"failed","error":{"code":"server_is_overloaded","message":"busy"}}`)}, []string{begin, "error 503 busy"}},
	{"an error event", []string{created, eventOf("error", `"code":"invalid_prompt","message":"no","param":null`)}, []string{begin, "error 400 no"}},
	{"an error inside", []string{created, eventOf("error", `"error":{"message":"no","code":"insufficient_quota"}`)}, []string{begin, "error 429 the gateway's account with the upstream is exhausted"}},
	{"an error in an event of another name", []string{created, eventOf("response.output_text.delta", `"delta":"a","error":{"message":"no"}`)}, []string{begin, "error 500 no"}},
	{"an error without a name", []string{`|{"error":{"message":"no"}}`}, []string{"error 500 no"}},
	{"no end", []string{created, added(0, message), text(0, 0, "a"), done(0, whole("output_text", `"text":"a"`))}, []string{begin, `text "a"`, "text end", cutOff}},
	{"nothing", nil, []string{cutOff}},
	{"only DONE", []string{"|[DONE]"}, []string{cutOff}},
	{"no JSON", []string{created, "response.output_text.delta|{"}, []string{begin, unread}},
	{"no object", []string{"response.created|[]"}, []string{unread}},
	{"a member twice", []string{created, eventOf("response.output_text.delta", `"delta":"a","delta":"b"`)}, []string{begin, unread}},
	{"a member of an item twice", []string{created, added(0, `{"type":"function_call","name":"f","name":"g"}`)}, []string{begin, unread}},
	{"no name and no type", []string{created, `|{"x":1}`}, []string{begin, unread}},
	{"a call without a name", []string{created, args(0, "{}"), ends("[]")}, []string{begin, unread}},
}

func TestStreamsAreReadIntoCoreEvents(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, parse(tt.events, true))
			assert.Equal(t, tt.want, parse(tt.events, false), "a clean end makes no difference")
		})
	}
}

// answer is a JSON answer with these members.
func wholeAnswer(members string) string {
	return `{"id":"resp_1","object":"response","created_at":7,"model":"m",` + members + `}`
}

var answers = []struct {
	name, body string
	want       []string
}{
	{"nothing", wholeAnswer(`"status":"completed","output":[]`), []string{begin, "finish stop", "end"}},
	{"null for the output", wholeAnswer(`"output":null`), []string{begin, "finish stop", "end"}},
	{"everything, in its order", wholeAnswer(`"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"g"},` + whole("output_text", `"text":"t","annotations":[{"type":"url_citation","url":"u","start_index":0,"end_index":1}],"logprobs":[{"token":"t"}]`) + `,{"type":"web_search_call"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"custom_tool_call","call_id":"d","name":"g","input":"i"}],"usage":{"input_tokens":5,"output_tokens":2},"service_tier":"priority","error":null,"incomplete_details":null`),
		[]string{"start m 7 tier 2", `reasoning "a"`, `reasoning "b" of part 1`, `signature "rs_1.1,1.g" of responses`, "reasoning end", `text "t"`, `logprobs [{"token":"t"}]`, `source "u" "" 0..1`, "text end", `tool 0 "c" "f"`, `args 0 "{}"`, "tool end 0", `tool 1 "d" "g" custom`, `args 1 "i"`, "tool end 1", "usage 5+0+0 2 (0) tier 2", "finish tools", "end"}},
	{"two items with one id", wholeAnswer(`"output":[` + whole("output_text", `"text":"a"`) + `,` + whole("output_text", `"text":"b"`) + `]`), []string{begin, `text "a"`, "text end", `text "b"`, "text end", "finish stop", "end"}},
	{"incomplete", wholeAnswer(`"status":"incomplete","incomplete_details":{"reason":"max_tokens"},"output":[` + whole("output_text", `"text":"a"`) + `]`), []string{begin, `text "a"`, "text end", "finish length", "end"}},
	{"refused", wholeAnswer(`"status":"completed","output":[` + whole("refusal", `"refusal":"no"`) + `]`), []string{begin, `text "no" refusal`, "text end", "finish refused", "end"}},
	{"more cached than there was", wholeAnswer(`"output":[],"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":9},"output_tokens":-1}`), []string{begin, "usage 5+9+0 0 (0)", "finish stop", "end"}},
	{"failed", wholeAnswer(`"status":"failed","error":{"code":"server_error","message":"no"},"output":[]`), []string{"error 500 no"}},
	{"an error", `{"error":{"message":"no","code":"rate_limit_exceeded"}}`, []string{"error 429 no"}},
	{"a detail", `{"detail":"no"}`, []string{"error 502 no"}},
	{"cancelled", wholeAnswer(`"status":"cancelled","output":[]`), []string{begin, "error 502 the upstream broke the answer off: 'cancelled'"}},
	{"in progress", wholeAnswer(`"status":"in_progress","output":[]`), []string{unread}},
	{"queued", wholeAnswer(`"status":"queued","output":[]`), []string{unread}},
	{"no output", wholeAnswer(`"status":"completed"`), []string{unread}},
	{"output that is none", wholeAnswer(`"output":{}`), []string{unread}},
	{"a call without a name", wholeAnswer(`"output":[{"type":"function_call","call_id":"c","arguments":"{}"}]`), []string{begin, unread}},
	{"no JSON", `{"output":[]`, []string{unread}},
	{"no object", `[]`, []string{unread}},
	{"a member twice", wholeAnswer(`"output":[],"output":[]`), []string{unread}},
	{"a member of a part twice", wholeAnswer(`"output":[` + whole("output_text", `"text":"a","text":"b"`) + `]`), []string{begin, unread}},
}

// parseAnswer reads a JSON answer.
func parseAnswer(body string) []string {
	var r translatetest.Transcript
	answer.NewParser(&r).Answer([]byte(body))
	return r.Lines
}

func TestAnswersAreReadIntoCoreEvents(t *testing.T) {
	for _, tt := range answers {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, parseAnswer(tt.body))
			var r translatetest.Transcript
			p := answer.NewParser(&r)
			p.Answer([]byte(tt.body))
			p.Answer([]byte(tt.body))
			p.End(true)
			assert.Equal(t, tt.want, r.Lines, "an answer ends once")
		})
	}
}

// Log probabilities of any kind were passed on: those that were a number made the emitter panic
// if a JSON answer became a stream of its own format, and an object became broken JSON.
func TestLogProbabilitiesThatAreNoListAreIgnored(t *testing.T) {
	for _, scores := range []string{`7`, `true`, `"a"`, `{"token":"a"}`} {
		answer := parseAnswer(wholeAnswer(`"status":"completed","output":[` + whole("output_text", `"text":"t","logprobs":`+scores) + `]`))
		assert.Contains(t, answer, "end", scores)
		stream := parse(response(added(0, message), eventOf("response.output_text.delta", `"output_index":0,"content_index":0,"delta":"a","logprobs":`+scores)), true)
		for _, line := range append(answer, stream...) {
			assert.NotContains(t, line, "logprobs", scores)
		}
	}
}

func TestUnknownMembersOfAnAnswerAreReported(t *testing.T) {
	for _, c := range []struct {
		name, output, lost string
		events             []string
	}{
		{
			"what says nothing", `"moderation":null,"tools":[1],"new":null,"other":[],"output":[{"type":"message","id":"i","status":"completed","role":"assistant","phase":null,"content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]}]}]`, "",
			[]string{`{"type":"keepalive"}`, `{"type":"codex.rate_limits","plan":"x"}`, eventOf("response.in_progress", `"sequence_number":1,"response":{"instructions":"i","tools":[1],"usage":null}`), eventOf("response.output_text.delta", `"output_index":0,"content_index":0,"delta":"a","item_id":"i","logprobs":[],"obfuscation":"x","sequence_number":2`)},
		},
		{"a moderation", `"moderation":{"output":{"flagged":false}},"output":[]`, "moderation", []string{eventOf("response.completed", `"response":{"output":[],"moderation":{"output":{}}}`)}},
		{"sound", `"output":[{"type":"audio"}]`, "output[*].type=audio", []string{added(0, `{"type":"audio"}`)}},
		{"members of the response", `"mood":"x","output":[]`, "mood", []string{eventOf("response.created", `"response":{"mood":"x"}`)}},
		{"members of items", `"output":[{"type":"message","phase":"commentary","content":[]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}","namespace":"n"}]`, "output[*].phase,output[*].namespace", []string{
			added(0, `{"type":"message","phase":"commentary","content":[]}`), added(1, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}","namespace":"n"}`),
		}},
		{"members of parts", `"output":[{"type":"message","content":[{"type":"output_text","text":"a","mood":1}]}]`, "output[*].content[*].mood", []string{
			eventOf("response.content_part.done", `"output_index":0,"content_index":0,"part":{"type":"output_text","text":"a","mood":1}`),
		}},
		{"parts that nobody knows", `"output":[{"type":"message","content":[{"type":"output_audio","data":"x"},7]}]`, "output[*].content[*].data,output[*].content[*].type=output_audio,output[*].content[*],output[*].content[*].type=\"\"", []string{
			done(0, `{"type":"message","content":[{"type":"output_audio","data":"x"},7]}`),
		}},
		{"items that nobody knows", `"output":[{"type":"web_search_call","action":{"query":"q"}},{"type":"mcp_call","name":"f"}]`, "output[*].type=web_search_call,output[*].type=mcp_call", []string{
			added(0, `{"type":"web_search_call"}`), eventOf("response.web_search_call.searching", `"output_index":0,"item_id":"w"`), done(1, `{"type":"mcp_call","name":"f"}`),
		}},
		{"annotations that no other format has", `"output":[{"type":"message","content":[{"type":"output_text","text":"a","annotations":[{"type":"file_citation"},{"type":"url_citation","url":"u","mood":1}]}]}]`, "output[*].content[*].annotations,output[*].content[*].annotations[*].mood", []string{
			text(0, 0, "a"), eventOf("response.output_text.annotation.added", `"output_index":0,"content_index":0,"annotation":{"type":"file_citation"}`), eventOf("response.output_text.annotation.added", `"output_index":0,"content_index":0,"annotation":{"type":"url_citation","url":"u","mood":1}`),
		}},
		{"reasoning in both lists", `"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"b"}]}]`, "output[*].content", []string{
			thinks(0, 0, "a"), textEvent(0, 0, "reasoning_text.delta", "delta", "b"),
		}},
		{"values of other kinds", `"output":[{"type":"function_call","call_id":"c","name":"f","arguments":[1]},{"type":"reasoning","summary":"s","encrypted_content":7}]`, "output[*].arguments,output[*].summary,output[*].encrypted_content", []string{
			added(0, `{"type":"function_call","call_id":"c","name":"f","arguments":[1]}`), done(1, `{"type":"reasoning","summary":"s","encrypted_content":7}`),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := answer.NewParser(&translatetest.Transcript{})
			p.Answer([]byte(wholeAnswer(c.output)))
			assert.Equal(t, c.lost, p.Losses().String())
			p = answer.NewParser(&translatetest.Transcript{})
			for _, data := range c.events {
				p.Event(sse.Event{Data: []byte(data)})
			}
			assert.Equal(t, c.lost, p.Losses().String())
		})
	}
}

func TestUnknownEventsAreReportedByName(t *testing.T) {
	for data, lost := range map[string]string{
		`response.mood|{"x":1}`:             "event.mood",
		`mood|anything`:                     "event.mood",
		`|{"type":"tone"}`:                  "event.tone",
		`codex.limits|anything`:             "",
		`response.compaction.compacting|{}`: "event.?",
		eventOf("response.output_text.delta", `"delta":"a","mood":1`):                                    "event.*.mood",
		eventOf("response.output_text.delta", `"delta":7`):                                               "event.*.delta",
		text(0, 0, "ab") + "\n" + textEvent(0, 0, "output_text.done", "text", "xyz"):                     "event.*.text",
		text(0, 0, "ab") + "\n" + textEvent(0, 0, "output_text.done", "text", "a"):                       "event.*.text",
		text(0, 0, "ab") + "\n" + textEvent(0, 0, "output_text.done", "text", "xy"):                      "event.*.text",
		text(0, 0, "a") + "\n" + done(0, whole("output_text", `"text":"a"`)) + "\n" + text(0, 0, "b"):    "event.*.text",
		added(0, call) + "\n" + text(0, 0, "b"):                                                          "event.*.text",
		text(0, 0, "a") + "\n" + eventOf("response.failed", `"response":{"mood":1,"error":{}},"tone":1`): "",
	} {
		p := answer.NewParser(&translatetest.Transcript{})
		for e := range strings.SplitSeq(data, "\n") {
			name, rest, named := strings.Cut(e, "|")
			if !named {
				name, rest = "", e
			}
			p.Event(sse.Event{Name: []byte(name), Data: []byte(rest)})
		}
		assert.Equal(t, lost, p.Losses().String(), data)
	}
}

// TestDeltasOfOneShapeGiveTheSameEvents ensures that a delta with the shape of the one before is
// read completely, also after an event without content.
func TestDeltasOfOneShapeGiveTheSameEvents(t *testing.T) {
	delta := func(name, members string) string { return eventOf("response."+name+".delta", members) }
	alike := []string{
		text(0, 0, "a"), text(0, 0, "b\n"), text(0, 0, ""), text(0, 1, "a"), text(9, 0, "a"), thinks(1, 0, "a"), thinks(1, 1, "b"),
		textEvent(1, 0, "reasoning_text.delta", "delta", "a"), args(2, "{"), args(2, "}"), args(3, "x"), textEvent(0, 0, "refusal.delta", "delta", "no"),
		delta("output_text", `"output_index":0,"content_index":0,"delta":"a","sequence_number":1,"obfuscation":"x"`),
		delta("output_text", `"output_index":0,"content_index":0,"delta":"b","sequence_number":22,"obfuscation":"xyz"`),
		delta("output_text", `"sequence_number":1,"output_index":0,"content_index":0,"delta":"a","logprobs":[]`),
		delta("output_text", `"sequence_number":2,"output_index":0,"content_index":0,"delta":"b","logprobs":[]`),
		delta("output_text", `"sequence_number":3,"output_index":0,"content_index":0,"delta":"b","logprobs":[{"token":"b"}]`),
		delta("output_text", `"sequence_number":3,"output_index":0,"content_index":0,"delta":null`),
		delta("output_text", `"sequence_number":"3","output_index":0,"content_index":0,"delta":"a"`),
		delta("output_text", `"sequence_number":3,"output_index":0,"content_index":0,"delta":"a","mood":1`),
		delta("output_text", `"sequence_number":3,"output_index":0,"content_index":0,"delta":"a","error":null`),
		delta("output_text", `"sequence_number":3,"output_index":0,"content_index":0,"delta":"a","error":{"message":"no"}`),
		"response.refusal.delta|" + text(0, 0, "a"), "|" + text(0, 0, "a"), "other|" + text(0, 0, "a"),
		textEvent(0, 0, "output_text.done", "text", "a"), done(0, whole("output_text", `"text":"a"`)), added(0, message), done(2, call), added(2, call),
		eventOf("response.output_text.annotation.added", `"output_index":0,"content_index":0,"annotation":{"type":"url_citation","url":"u"}`),
	}
	random := rand.New(rand.NewPCG(5, 6))
	start := []string{created, added(0, message), added(1, thought), added(2, call)}
	for range 2000 {
		quick, slow := start, start
		for range 2 + random.IntN(6) {
			e := alike[random.IntN(len(alike))]
			for range 1 + random.IntN(2) {
				quick = append(quick[:len(quick):len(quick)], e)
				slow = append(slow[:len(slow):len(slow)], `{"type":"keepalive"}`, e)
			}
		}
		require.Equal(t, parse(append(slow, ends("[]")), true), parse(append(quick, ends("[]")), true), "%q", quick)
	}
}

// TestItemsAndPartsAreBounded ensures that a provider cannot make the gateway
// remember more than an answer can have.
func TestItemsAndPartsAreBounded(t *testing.T) {
	const limit = 4096
	var items, parts []string
	for i := range limit + 1 {
		items = append(items, added(i, message))
		parts = append(parts, text(0, i, "a"))
	}
	last := func(lines []string) string { return lines[len(lines)-1] }
	assert.Equal(t, "end", last(parse(append(items[:limit:limit], ends("[]")), true)))
	assert.Equal(t, unread, last(parse(append(items, ends("[]")), true)))
	assert.Equal(t, "end", last(parse(append(parts[:limit:limit], ends("[]")), true)))
	assert.Equal(t, unread, last(parse(append(parts, ends("[]")), true)))
}

func TestSourcesAreBounded(t *testing.T) {
	p := answer.NewParser(&translatetest.Transcript{})
	long := eventOf("response.output_text.annotation.added", `"output_index":0,"content_index":0,"annotation":{"type":"url_citation","url":"`+strings.Repeat("u", 600<<10)+`"}`)
	for range 2 {
		p.Event(sse.Event{Data: []byte(long)})
	}
	assert.Equal(t, "output[*].content[*].annotations", p.Losses().String())
}
