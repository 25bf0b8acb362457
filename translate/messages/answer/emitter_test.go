package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/tell"
)

var (
	stopped = tell.Finish(event.FinishStop)
	limited = tell.Finish(event.FinishLength)
)

func newIDs() translate.IDs { return translatetest.IDs("msg_1", "toolu_") }

// emit writes events for a client.
func emit(m translate.AnswerContext, events []event.Event) (string, *fault.Fault) {
	return translatetest.Emit(answer.NewEmitter(&m, newIDs()), translatetest.Each(events...)...)
}

// trace writes a stream in short: what every event adds.
func trace(t *testing.T, stream string) (lines []string) {
	t.Helper()
	events, err := client.EmittedEvents([]byte(stream))
	require.NoError(t, err)
	for _, e := range events {
		data, err := client.Decode([]byte(e.Data))
		require.NoError(t, err)
		lines = append(lines, traced(e.Name, data))
	}
	return lines
}

func traced(name string, data client.Object) string {
	block, _ := data["content_block"].(client.Object)
	delta, _ := data["delta"].(client.Object)
	switch name {
	case "content_block_start":
		return strings.TrimSpace(fmt.Sprintf("%v %v %v %v%v", data["index"], block["type"], orNothing(block["id"]), orNothing(block["name"]), orNothing(block["data"])))
	case "content_block_delta":
		return fmt.Sprintf("%v + %v%v%v%v", data["index"], orNothing(delta["text"]), orNothing(delta["thinking"]), orNothing(delta["partial_json"]), orNothing(delta["signature"]))
	case "content_block_stop":
		return fmt.Sprintf("%v end", data["index"])
	case "message_delta":
		return fmt.Sprintf("stop %v", delta["stop_reason"])
	default:
		return name
	}
}

func orNothing(value any) any {
	if value == nil {
		return ""
	}
	return value
}

const (
	mintA  = "gwts1:ypeBEsobvcr6wjGzmiPcTQ" // of "a"
	mintAB = "gwts1:-44g_C5MPySMYMOb1lLzwQ" // of "ab"
)

var emitted = []struct {
	name   string
	events []event.Event
	want   []string // between message_start and message_delta
	reason string
}{
	{"nothing", []event.Event{}, nil, "end_turn"},
	{"text", []event.Event{tell.Text("a"), tell.Text("b")}, []string{"0 text", "0 + a", "0 + b", "0 end"}, "end_turn"},
	{"two texts", []event.Event{tell.Text("a"), tell.TextEnd, tell.Text("b")}, []string{"0 text", "0 + a", "0 end", "1 text", "1 + b", "1 end"}, "end_turn"},
	{"an end of text where none is open", []event.Event{tell.TextEnd, tell.Reasoning("a"), tell.TextEnd, tell.Reasoning("b")}, []string{"0 thinking", "0 + a", "0 + b", "0 + " + mintAB, "0 end"}, "end_turn"},
	{"parts of a text", []event.Event{tell.Text("a"), tell.InPart(1, tell.Text("b")), tell.InPart(1, tell.Text("c")), tell.InPart(2, tell.Text("d"))}, []string{"0 text", "0 + a", "0 end", "1 text", "1 + b", "1 + c", "1 end", "2 text", "2 + d", "2 end"}, "end_turn"},
	{"parts of reasoning", []event.Event{tell.Reasoning("a"), tell.InPart(1, tell.Reasoning("b")), tell.InPart(1, tell.Reasoning("c")), tell.Signature("s"), tell.ReasoningEnd, tell.InPart(0, tell.Reasoning("d")), tell.Signature("t")}, []string{"0 thinking", "0 + a", "0 + \n\n", "0 + b", "0 + c", "0 + s", "0 end", "1 thinking", "1 + d", "1 + t", "1 end"}, "end_turn"},
	{"reasoning gets a signature", []event.Event{tell.Reasoning("a"), tell.Text("b")}, []string{"0 thinking", "0 + a", "0 + " + mintA, "0 end", "1 text", "1 + b", "1 end"}, "end_turn"},
	{"the signature is over all of the text", []event.Event{tell.Reasoning("a"), tell.Reasoning("b")}, []string{"0 thinking", "0 + a", "0 + b", "0 + " + mintAB, "0 end"}, "end_turn"},
	{"the signature is over the text of its block", []event.Event{tell.Reasoning("x"), tell.ReasoningEnd, tell.Reasoning("a")}, []string{"0 thinking", "0 + x", "0 + gwts1:LXEWQrcmsEQBYnyp-6wy9Q", "0 end", "1 thinking", "1 + a", "1 + " + mintA, "1 end"}, "end_turn"},
	{"a signature of the provider", []event.Event{tell.Reasoning("a"), tell.Signature("s"), tell.ReasoningEnd, tell.Text("b")}, []string{"0 thinking", "0 + a", "0 + s", "0 end", "1 text", "1 + b", "1 end"}, "end_turn"},
	{"a signature alone", []event.Event{tell.Signature("s"), tell.ReasoningEnd}, []string{"0 thinking", "0 + s", "0 end"}, "end_turn"},
	{"signed and unsigned", []event.Event{tell.Signature("s"), tell.ReasoningEnd, tell.Reasoning("a")}, []string{"0 thinking", "0 + s", "0 end", "1 thinking", "1 + a", "1 + " + mintA, "1 end"}, "end_turn"},
	{"redacted between", []event.Event{tell.Reasoning("a"), tell.Redacted("d"), tell.Text("b"), tell.Redacted("e")}, []string{"0 thinking", "0 + a", "0 + " + mintA, "0 end", "1 redacted_thinking  d", "1 end", "2 text", "2 + b", "2 end", "3 redacted_thinking  e", "3 end"}, "end_turn"},
	{"reasoning behind text", []event.Event{tell.Text("t"), tell.Reasoning("a")}, []string{"0 text", "0 + t", "0 end", "1 thinking", "1 + a", "1 + " + mintA, "1 end"}, "end_turn"},

	{"a tool", []event.Event{tell.Text("t"), tell.Call(0, "a", "f"), tell.Args(0, `{"x":`), tell.Args(0, "1}")}, []string{"0 text", "0 + t", "0 end", "1 tool_use a f", `1 + {"x":`, "1 + 1}", "1 end"}, "tool_use"},
	{"a tool alone", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `{}`)}, []string{"0 tool_use a f", "0 + {}", "0 end"}, "tool_use"},
	{"a tool without arguments", []event.Event{tell.Call(0, "a", "f")}, []string{"0 tool_use a f", "0 + {}", "0 end"}, "tool_use"},
	{"a tool with nothing but space", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, " \n")}, []string{"0 tool_use a f", "0 + {}", "0 end"}, "tool_use"},
	{"space before the object comes with it", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, " "), tell.Args(0, `{}`)}, []string{"0 tool_use a f", "0 +  {}", "0 end"}, "tool_use"},
	{"a tool that is ended", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `{}`), tell.Called(0), tell.Text("t")}, []string{"0 tool_use a f", "0 + {}", "0 end", "1 text", "1 + t", "1 end"}, "tool_use"},
	{"a tool without arguments that is ended", []event.Event{tell.Call(0, "a", "f"), tell.Called(0), tell.Text(" ")}, []string{"0 tool_use a f", "0 + {}", "0 end", "1 text", "1 +  ", "1 end"}, "tool_use"},
	{"interleaved tools", []event.Event{tell.Call(0, "a", "f"), tell.Call(1, "b", "g"), tell.Args(0, `{"x":`), tell.Args(1, "{}"), tell.Args(0, "1}"), tell.Args(1, " ")}, []string{"0 tool_use a f", `0 + {"x":`, "0 + 1}", "0 end", "1 tool_use b g", "1 + {}", "1 +  ", "1 end"}, "tool_use"},
	{"a complete tool ends with the next one", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `{"a":"}"}`), tell.Call(1, "b", "g"), tell.Args(1, `{`), tell.Args(1, `}`)}, []string{"0 tool_use a f", `0 + {"a":"}"}`, "0 end", "1 tool_use b g", "1 + {", "1 + }", "1 end"}, "tool_use"},
	{"three tools, the first without arguments", []event.Event{tell.Call(0, "a", "f"), tell.Call(1, "b", "g"), tell.Args(1, `{}`), tell.Call(2, "c", "h"), tell.Args(2, `{`), tell.Args(2, `}`)}, []string{"0 tool_use a f", "0 + {}", "0 end", "1 tool_use b g", "1 + {}", "1 end", "2 tool_use c h", "2 + {}", "2 end"}, "tool_use"},
	{"tools started in another order", []event.Event{tell.Call(1, "b", "g"), tell.Args(1, "{}"), tell.Call(0, "a", "f"), tell.Args(0, "{}")}, []string{"0 tool_use b g", "0 + {}", "0 end", "1 tool_use a f", "1 + {}", "1 end"}, "tool_use"},
	{"ended in another order", []event.Event{tell.Call(0, "a", "f"), tell.Call(1, "b", "g"), tell.Args(1, "{}"), tell.Called(1), tell.Args(0, "{}"), tell.Called(0)}, []string{"0 tool_use a f", "0 + {}", "0 end", "1 tool_use b g", "1 + {}", "1 end"}, "tool_use"},
	{"a line end between tools", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "{}"), tell.Text("\n"), tell.Call(1, "b", "g"), tell.Args(1, "{}"), tell.Text(" \t")}, []string{"0 tool_use a f", "0 + {}", "0 end", "1 tool_use b g", "1 + {}", "1 end"}, "tool_use"},
	{"text behind a tool", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "{}"), tell.Text("\n"), tell.Text("x"), tell.Text(" "), tell.Text("y")}, []string{"0 tool_use a f", "0 + {}", "0 end", "1 text", "1 + x", "1 +  ", "1 + y", "1 end"}, "tool_use"},
	{"text behind a tool that is not complete", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "{"), tell.Text("x"), tell.Text(" "), tell.Args(0, "}"), tell.Text("y")}, []string{"0 tool_use a f", "0 + {", "0 + }", "0 end", "1 text", "1 + x ", "1 + y", "1 end"}, "tool_use"},
	{"everything behind a tool that is not complete", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "{"), tell.Reasoning("a"), tell.Text("x"), tell.TextEnd, tell.Text("y"), tell.Redacted("d"), tell.Reasoning("b"), tell.Signature("s"), tell.ReasoningEnd, tell.Signature("t"), tell.Call(1, "b", "g"), tell.Text("z")}, []string{
		"0 tool_use a f", "0 + {", "0 end", "1 thinking", "1 + a", "1 + " + mintA, "1 end", "2 text", "2 + x", "2 end", "3 text", "3 + y", "3 end", "4 redacted_thinking  d", "4 end",
		"5 thinking", "5 + b", "5 + s", "5 end", "6 thinking", "6 + t", "6 end", "7 tool_use b g", "7 + {}", "7 end", "8 text", "8 + z", "8 end",
	}, "tool_use"},
	{"a tool that never completes", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "{"), tell.Call(1, "b", "g"), tell.Args(1, "{}"), limited}, []string{"0 tool_use a f", "0 + {", "0 end", "1 tool_use b g", "1 + {}", "1 end"}, "max_tokens"},
	{"space behind the end of a tool", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "{}"), tell.Called(0), tell.Args(0, "\n")}, []string{"0 tool_use a f", "0 + {}", "0 end"}, "tool_use"},

	{"arguments that are no object are held", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "["), tell.Args(0, "1]")}, []string{"0 tool_use a f", `0 + {"_arguments":[1]}`, "0 end"}, "tool_use"},
	{"arguments encoded twice", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `"{\"x\":`), tell.Args(0, `1}"`)}, []string{"0 tool_use a f", `0 + {"x":1}`, "0 end"}, "tool_use"},
	{"a held tool ends with the next one", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `"{`), tell.Args(0, `}"`), tell.Call(1, "b", "g"), tell.Args(1, "null")}, []string{"0 tool_use a f", `0 + {}`, "0 end", "1 tool_use b g", "1 + {}", "1 end"}, "tool_use"},
	{"a number may go on", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `1`), tell.Call(1, "b", "g"), tell.Args(0, "2")}, []string{"0 tool_use a f", `0 + {"_arguments":12}`, "0 end", "1 tool_use b g", "1 + {}", "1 end"}, "tool_use"},
	{"held and invalid", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `x"`), stopped}, []string{"0 tool_use a f", `0 + {"_invalid_arguments":"x\""}`, "0 end"}, "tool_use"},
	{"held and cut off", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `"{\"x`), limited}, []string{"0 tool_use a f", `0 + {}`, "0 end"}, "max_tokens"},

	{"other choices are ignored", []event.Event{tell.Text("a"), {Kind: event.Text, Choice: 1, Text: []byte("x")}, {Kind: event.Finish, Choice: 1, Finish: event.FinishLength}}, []string{"0 text", "0 + a", "0 end"}, "end_turn"},
	{"sources are dropped", []event.Event{tell.Text("a"), {Kind: event.Source, Source: &event.Citation{URL: []byte("u"), End: 1}}}, []string{"0 text", "0 + a", "0 end"}, "end_turn"},
	{"logprobs are dropped", []event.Event{tell.Text("a"), {Kind: event.Logprobs, Logprobs: []byte("[]")}}, []string{"0 text", "0 + a", "0 end"}, "end_turn"},
	{"a reason that comes early", []event.Event{limited, tell.Text("a")}, []string{"0 text", "0 + a", "0 end"}, "max_tokens"},
	{"a tool that is begun twice", []event.Event{tell.Call(0, "a", "f"), tell.Call(0, "b", "g"), tell.Args(0, "{}")}, []string{"0 tool_use a f", "0 + {}", "0 end"}, "tool_use"},
}

func TestEventsAreWrittenByTheGrammar(t *testing.T) {
	for _, tt := range emitted {
		t.Run(tt.name, func(t *testing.T) {
			events := append(append([]event.Event{tell.Start}, tt.events...), tell.End)
			stream, fault := emit(translate.AnswerContext{Stream: true}, events)
			require.Nil(t, fault)
			want := append([]string{"message_start"}, tt.want...)
			assert.Equal(t, append(want, "stop "+tt.reason, "message_stop"), trace(t, stream))

			added, err := client.Messages.Emitted([]byte(stream))
			require.NoError(t, err)
			body, fault := emit(translate.AnswerContext{}, events)
			require.Nil(t, fault)
			answer, err := client.Decode([]byte(body))
			require.NoError(t, err)
			assert.Equal(t, answer, added)
		})
	}
}

// TestTheAnswerIsTheSameWithoutAStart ensures that an answer is complete even if the
// provider sent no start.
func TestTheAnswerIsTheSameWithoutAStart(t *testing.T) {
	for _, events := range [][]event.Event{{tell.Text("a"), tell.End}, {tell.End}, {tell.Reasoning("a"), tell.End}} {
		stream, fault := emit(translate.AnswerContext{Stream: true}, events)
		require.Nil(t, fault)
		added, err := client.Messages.Emitted([]byte(stream))
		require.NoError(t, err)
		assert.Equal(t, "asked", added["model"])
	}
}

var faulty = []struct {
	name   string
	events []event.Event
	cause  string
}{
	{"a custom tool", []event.Event{{Kind: event.ToolStart, ID: []byte("a"), Name: []byte("f"), Custom: true}}, "a custom tool call"},
	{"arguments behind the end", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "{}"), tell.Called(0), tell.Args(0, "x")}, "arguments behind the end of their tool call"},
	{"arguments of no tool", []event.Event{tell.Args(0, "{}")}, "arguments of a tool call that was not begun"},
	{"arguments of a tool in a gap", []event.Event{tell.Call(1, "a", "f"), tell.Args(0, "{}")}, "arguments of a tool call that was not begun"},
	{"too much behind an open tool", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, "{"), tell.Text("x" + strings.Repeat(" ", 17<<20)), tell.Text(strings.Repeat(" ", 17<<20))}, "more than 33554432 bytes behind an open tool call"},
	{"too many arguments of a later tool", []event.Event{tell.Call(0, "a", "f"), tell.Call(1, "b", "g"), tell.Args(1, strings.Repeat(" ", 17<<20)), tell.Args(1, strings.Repeat(" ", 17<<20))}, "more than 33554432 bytes behind an open tool call"},
	{"too many arguments that are held", []event.Event{tell.Call(0, "a", "f"), tell.Args(0, `"`+strings.Repeat(" ", 17<<20)), tell.Args(0, strings.Repeat(" ", 17<<20))}, "more than 33554432 bytes of arguments"},
}

func TestWhatCannotBeWrittenIsTheProvidersFault(t *testing.T) {
	for _, tt := range faulty {
		t.Run(tt.name, func(t *testing.T) {
			stream, f := emit(translate.AnswerContext{Stream: true}, append(append([]event.Event{tell.Start}, tt.events...), tell.Text("never"), tell.End))
			require.NotNil(t, f)
			assert.Equal(t, fault.BadGateway, f.Kind)
			assert.EqualError(t, f.Cause, tt.cause)
			assert.NotContains(t, stream, "message_stop")
			assert.NotContains(t, stream, "never")
		})
	}
}

func TestTheRequestBoundsWhatIsHeld(t *testing.T) {
	_, fault := emit(translate.AnswerContext{Stream: true, MaxHeld: 1024}, []event.Event{tell.Start, tell.Call(0, "a", "f"), tell.Args(0, "{"), tell.Text("x" + strings.Repeat(" ", 1024)), tell.End})
	require.NotNil(t, fault)
	assert.EqualError(t, fault.Cause, "more than 1024 bytes behind an open tool call")
}

// TestLongArgumentsAreNotHeld ensures that the bound is on what waits, not on
// what a call may have for arguments.
func TestLongArgumentsAreNotHeld(t *testing.T) {
	long := strings.Repeat(" ", 17<<20)
	_, fault := emit(translate.AnswerContext{Stream: true}, []event.Event{tell.Start, tell.Call(0, "a", "f"), tell.Args(0, "{"), tell.Args(0, long), tell.Args(0, long), tell.Args(0, "}"), tell.End})
	assert.Nil(t, fault)
}

func TestNothingOfAnAnswerIsShownBeforeItsEnd(t *testing.T) {
	e := answer.NewEmitter(&translate.AnswerContext{}, newIDs())
	for _, event := range []event.Event{tell.Start, tell.Text("a"), stopped} {
		e.Handle(&event)
		assert.Empty(t, e.Output())
	}
	e.Handle(&tell.End)
	assert.NotEmpty(t, e.Output())
	assert.Empty(t, e.Output())
}

// answer writes events as a JSON answer, between a start and the end.
func whole(t *testing.T, m translate.AnswerContext, events ...event.Event) string {
	t.Helper()
	body, fault := emit(m, append(append([]event.Event{tell.Start}, events...), tell.End))
	require.Nil(t, fault)
	return body
}

const answerStart = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[`

func TestAnswersAreWrittenInFull(t *testing.T) {
	usage := event.Event{Kind: event.Usage, Tier: event.TierStandard, Usage: &token.Usage{Counts: token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 3, Answer: 4, Reasoning: 5}, Known: true}}
	assert.Equal(t, answerStart+`{"type":"thinking","thinking":"<a>\n","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"é\"&"},{"type":"tool_use","id":"a","name":"f","input":{"x":12345678901234567890}}],`+
		`"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":9,"output_tokens_details":{"thinking_tokens":5},"service_tier":"standard"}}`,
		whole(t, translate.AnswerContext{}, tell.Reasoning("<a>\n"), tell.Signature("s"), tell.Redacted("d"), tell.Text(`é"&`), tell.Call(0, "a", "f"), tell.Args(0, ` {"x":12345678901234567890} `), stopped, usage))
	assert.Equal(t, answerStart+`],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}`,
		whole(t, translate.AnswerContext{}))
}

func TestArgumentsThatWereCutOffAreEmpty(t *testing.T) {
	assert.Contains(t, whole(t, translate.AnswerContext{}, tell.Call(0, "a", "f"), tell.Args(0, `{"x":`), limited), `"input":{}}`)
	assert.Contains(t, whole(t, translate.AnswerContext{}, tell.Call(0, "a", "f"), tell.Args(0, `{"x":`), stopped), `"input":{"_invalid_arguments":"{\"x\":"}}`)
}

func TestStreamsAreWrittenInFull(t *testing.T) {
	start := tell.Start
	start.Usage = &token.Usage{Counts: token.Counts{Fresh: 7}, Known: true}
	start.Tier = event.TierPriority
	stream, fault := emit(translate.AnswerContext{Stream: true}, []event.Event{start, tell.Reasoning("a\n"), tell.Signature("s"), tell.Text("☂"), tell.Call(0, "a", "f"), tell.Args(0, `{"x":"y"}`), stopped,
		{Kind: event.Usage, Usage: &token.Usage{Counts: token.Counts{Fresh: 1, Answer: 4}, Known: true}}, tell.End})
	require.Nil(t, fault)
	assert.Equal(t, `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"service_tier":"priority"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a\n"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"☂"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"x\":\"y\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":4,"service_tier":"priority"}}

event: message_stop
data: {"type":"message_stop"}

`, stream)
}

// TestNoCountOfReasoningStaysThatAProviderTakesBack ensures that the first event of a stream
// has no such count: the last one omits a count of 0, so that clients, which merge the
// two, kept a count that was larger than all of the output.
func TestNoCountOfReasoningStaysThatAProviderTakesBack(t *testing.T) {
	start := tell.Start
	start.Usage = &token.Usage{Counts: token.Counts{Fresh: 7, Reasoning: 5}, Known: true}
	stream, fault := emit(translate.AnswerContext{Stream: true}, []event.Event{start, tell.Text("a"), tell.Finish(event.FinishStop),
		{Kind: event.Usage, Usage: &token.Usage{Counts: token.Counts{Fresh: 7, Answer: 2}, Known: true}}, tell.End})
	require.Nil(t, fault)
	assert.Contains(t, stream, `"output_tokens":5`)
	assert.NotContains(t, stream, "thinking_tokens")
}

// TestAnEstimateReplacesTheUnknownCount ensures that it does so only
// in the first event of a stream: it is never presented as usage.
func TestAnEstimateReplacesTheUnknownCount(t *testing.T) {
	known := tell.Start
	known.Usage = &token.Usage{Counts: token.Counts{Fresh: 7}, Known: true}
	for name, tt := range map[string]struct {
		start  event.Event
		stream bool
		want   string
	}{
		"unknown":        {tell.Start, true, `"input_tokens":123,`},
		"known":          {known, true, `"input_tokens":7,`},
		"not in answers": {tell.Start, false, `"input_tokens":0,`},
	} {
		out, _ := emit(translate.AnswerContext{Stream: tt.stream, Input: translate.Input{Estimate: 123}}, []event.Event{tt.start, tell.End})
		assert.Contains(t, out, tt.want, name)
		if tt.stream {
			events, err := client.EmittedEvents([]byte(out))
			require.NoError(t, err)
			assert.Contains(t, events[len(events)-2].Data, `"input_tokens":0,`, name)
		}
	}
}

// TestStopReasonsFollowTheirTable is the table of the format's stop reasons, by the
// reason of the provider.
func TestStopReasonsFollowTheirTable(t *testing.T) {
	matched := event.Event{Kind: event.Finish, Finish: event.FinishStop, Stop: []byte("END")}
	refused := event.Event{Kind: event.Finish, Finish: event.FinishFiltered, Text: []byte("no")}
	call := tell.Call(0, "a", "f")
	for name, tt := range map[string]struct {
		events []event.Event
		want   string
	}{
		"stop":                     {[]event.Event{stopped}, `"end_turn","stop_sequence":null,"stop_details":null`},
		"stop with a call":         {[]event.Event{call, stopped}, `"tool_use","stop_sequence":null,"stop_details":null`},
		"a sequence of the client": {[]event.Event{matched}, `"stop_sequence","stop_sequence":"END","stop_details":null`},
		"a sequence with a call":   {[]event.Event{call, matched}, `"tool_use","stop_sequence":null,"stop_details":null`},
		"a sequence of another":    {[]event.Event{{Kind: event.Finish, Finish: event.FinishStop, Stop: []byte("</s>")}}, `"end_turn","stop_sequence":null,"stop_details":null`},
		"a sequence and length":    {[]event.Event{{Kind: event.Finish, Finish: event.FinishLength, Stop: []byte("END")}}, `"max_tokens","stop_sequence":null,"stop_details":null`},
		"length with a call":       {[]event.Event{call, limited}, `"max_tokens","stop_sequence":null,"stop_details":null`},
		"tools without a call":     {[]event.Event{tell.Finish(event.FinishTools)}, `"end_turn","stop_sequence":null,"stop_details":null`},
		"tools":                    {[]event.Event{call, tell.Finish(event.FinishTools)}, `"tool_use","stop_sequence":null,"stop_details":null`},
		"filtered":                 {[]event.Event{tell.Finish(event.FinishFiltered)}, `"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":null}`},
		"filtered with a call":     {[]event.Event{call, tell.Finish(event.FinishFiltered)}, `"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":null}`},
		"explained":                {[]event.Event{refused}, `"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"no"}`},
		"unknown":                  {[]event.Event{tell.Finish(event.FinishUnknown)}, `"end_turn","stop_sequence":null,"stop_details":null`},
		"unknown with a call":      {[]event.Event{call}, `"tool_use","stop_sequence":null,"stop_details":null`},
		"the last one counts":      {[]event.Event{matched, stopped}, `"end_turn","stop_sequence":null,"stop_details":null`},
	} {
		for _, stream := range []bool{true, false} {
			out, fault := emit(translate.AnswerContext{Stream: stream, Cuts: translate.Cuts{Stops: []string{"x", "END"}}}, append(append([]event.Event{tell.Start}, tt.events...), tell.End))
			require.Nil(t, fault)
			assert.Contains(t, out, `"stop_reason":`+tt.want, name)
		}
	}
}

// TestCallsAreKnownByIDsThatTheFormatAllows ensures that every call has an id of
// its own by which its result can come back.
func TestCallsAreKnownByIDsThatTheFormatAllows(t *testing.T) {
	for name, tt := range map[string]struct{ given, shown []string }{
		"plain":                {[]string{"call_a-1"}, []string{"call_a-1"}},
		"not allowed":          {[]string{"functions.f:0"}, []string{"gwid1_ZnVuY3Rpb25zLmY6MA"}},
		"long":                 {[]string{strings.Repeat("a", 65)}, []string{"gwid1_" + strings.Repeat("YWFh", 21) + "YWE"}},
		"missing":              {[]string{"", ""}, []string{"toolu_1", "toolu_2"}},
		"the same":             {[]string{"a", "a", "a"}, []string{"a", "a_2", "a_3"}},
		"the same, encoded":    {[]string{"f:0", "f:0"}, []string{"gwid1_Zjow", "gwid1_ZjowXzI"}},
		"the next one is":      {[]string{"a", "a_2", "a"}, []string{"a", "a_2", "a_3"}},
		"like a generated one": {[]string{"toolu_1", ""}, []string{"toolu_1", "toolu_1_2"}},
	} {
		t.Run(name, func(t *testing.T) {
			var events []event.Event
			for i, id := range tt.given {
				events = append(events, tell.Call(i, id, "f"))
			}
			body, err := client.Decode([]byte(whole(t, translate.AnswerContext{}, events...)))
			require.NoError(t, err)
			var shown []string
			for _, block := range body["content"].([]any) {
				shown = append(shown, block.(client.Object)["id"].(string))
			}
			assert.Equal(t, tt.shown, shown)
		})
	}
}

func TestShortenedNamesAreRestored(t *testing.T) {
	m := translate.AnswerContext{Tools: translate.ToolNames{Shortened: map[string]string{"short_1a2b3c4d": "short name of a tool"}}}
	assert.Contains(t, whole(t, m, tell.Call(0, "a", "short_1a2b3c4d")), `"name":"short name of a tool"`)
	assert.Contains(t, whole(t, m, tell.Call(0, "a", "other")), `"name":"other"`)
}

// TestSignaturesOfOtherFormatsAreSealed ensures that reasoning which only a provider of
// another format can read comes back to it through a messages client. Without a seal, the
// gateway signs the thinking itself, since no other signature can be recognized when it
// comes back.
func TestSignaturesOfOtherFormatsAreSealed(t *testing.T) {
	events := []event.Event{tell.Start, tell.Reasoning("a"), {Kind: event.Signature, Text: []byte("rs_1.1.secret"), Origin: translate.Responses}, tell.ReasoningEnd, tell.End}
	ring, err := seal.NewRing([]byte("0123456789abcdef"))
	require.NoError(t, err)
	sealer := ring.For("p", "t")

	body, fault := emit(translate.AnswerContext{Seals: sealer}, events)
	require.Nil(t, fault)
	answer, err := client.Decode([]byte(body))
	require.NoError(t, err)
	block := answer["content"].([]any)[0].(client.Object)
	assert.Equal(t, "a", block["thinking"])
	payload, ok := sealer.Open(seal.Item, []byte(block["signature"].(string)))
	assert.True(t, ok)
	assert.Equal(t, "rs_1.1.secret", string(payload))

	body, fault = emit(translate.AnswerContext{}, events)
	require.Nil(t, fault)
	assert.Contains(t, body, `"signature":"`+mintA+`"`)
	assert.NotContains(t, body, "secret")
}
