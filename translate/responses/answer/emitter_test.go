package answer_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/settings"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/tell"
)

var limited = tell.Finish(event.FinishLength)

func newIDs() translate.IDs { return translatetest.IDs("resp_0123456789abcdefghijklmn", "call_new") }

// emit writes events for a client, each returned before the next one.
func emit(m translate.AnswerContext, events ...event.Event) (string, *fault.Fault) {
	return translatetest.Emit(answer.NewEmitter(&m, newIDs()), translatetest.Each(events...)...)
}

// answered writes an answer between a start and the end, as a stream and as a JSON body,
// whose contents must be equal.
func answered(t *testing.T, m translate.AnswerContext, events ...event.Event) client.Object {
	t.Helper()
	all := append(append([]event.Event{tell.Start}, events...), tell.End)
	m.Stream = true
	stream, fault := emit(m, all...)
	require.Nil(t, fault)
	added, err := client.Responses.Emitted([]byte(stream))
	require.NoError(t, err, stream)
	m.Stream = false
	body, fault := emit(m, all...)
	require.Nil(t, fault)
	whole, err := client.Decode([]byte(body))
	require.NoError(t, err)
	require.Equal(t, whole, added)
	return whole
}

// outputOf is the output of an answer in JSON.
func outputOf(t *testing.T, answer client.Object) string {
	t.Helper()
	out, err := json.Marshal(answer["output"])
	require.NoError(t, err)
	return string(out)
}

// id is the id of the nth item.
func id(prefix string, nth int) string { return fmt.Sprintf("%s0123456789abcdefghij%04d", prefix, nth) }

func aMessage(nth int, status string, parts ...string) string {
	return fmt.Sprintf(`{"id":"%s","type":"message","role":"assistant","status":"%s","content":[%s]}`, id("msg_", nth), status, strings.Join(parts, ","))
}

func aText(text string) string {
	return `{"type":"output_text","text":"` + text + `","annotations":[],"logprobs":[]}`
}

func aCall(nth int, status, callID, name, arguments string) string {
	return fmt.Sprintf(`{"id":"%s","type":"function_call","status":"%s","call_id":"%s","name":"%s","arguments":%q}`, id("fc_", nth), status, callID, name, arguments)
}

func someReasoning(nth int, sealed string, parts ...string) string {
	for i, part := range parts {
		parts[i] = `{"type":"summary_text","text":"` + part + `"}`
	}
	return fmt.Sprintf(`{"id":"%s","type":"reasoning","summary":[%s],"encrypted_content":%s}`, id("rs_", nth), strings.Join(parts, ","), sealed)
}

var emitted = []struct {
	name   string
	memory translate.AnswerContext
	events []event.Event
	status string // and the reason behind a slash
	output []string
}{
	{"nothing", translate.AnswerContext{}, nil, "completed", nil},
	{"text", translate.AnswerContext{}, []event.Event{tell.Text("<a>"), tell.Text(`b"`), tell.Finish(event.FinishStop)}, "completed", []string{aMessage(0, "completed", aText(`<a>b\"`))}},
	{"two messages", translate.AnswerContext{}, []event.Event{tell.Text("a"), tell.TextEnd, tell.Text("b")}, "completed", []string{aMessage(0, "completed", aText("a")), aMessage(1, "completed", aText("b"))}},
	{"parts of a message", translate.AnswerContext{}, []event.Event{tell.Text("a"), tell.InPart(1, tell.Text("b")), tell.InPart(1, tell.Text("c")), tell.InPart(1, tell.Refusal("no"))}, "completed", []string{aMessage(0, "completed", aText("a"), aText("bc"), `{"type":"refusal","refusal":"no"}`)}},
	{"a refusal in words", translate.AnswerContext{}, []event.Event{tell.Refusal("n"), tell.Refusal("o"), tell.Finish(event.FinishRefused)}, "completed", []string{aMessage(0, "completed", `{"type":"refusal","refusal":"no"}`)}},
	{"a refusal that the provider explains", translate.AnswerContext{}, []event.Event{{Kind: event.Finish, Finish: event.FinishFiltered, Text: []byte("because")}}, "incomplete/content_filter", []string{aMessage(0, "incomplete", aText("because"))}},
	{"R032 cut off", translate.AnswerContext{}, []event.Event{tell.Text("a"), limited}, "incomplete/max_output_tokens", []string{aMessage(0, "incomplete", aText("a"))}},
	{"cut off behind the end of a text", translate.AnswerContext{}, []event.Event{tell.Text("a"), tell.TextEnd, limited}, "incomplete/max_output_tokens", []string{aMessage(0, "completed", aText("a"))}},
	{"paused", translate.AnswerContext{}, []event.Event{tell.Finish(event.FinishPaused)}, "incomplete/max_output_tokens", nil},
	{"for a reason that nobody knows", translate.AnswerContext{}, []event.Event{tell.Text("a"), tell.Finish(event.FinishUnknown)}, "completed", []string{aMessage(0, "completed", aText("a"))}},

	{"reasoning", translate.AnswerContext{}, []event.Event{tell.Reasoning("a"), tell.Reasoning("b"), tell.Text("c")}, "completed", []string{someReasoning(0, "null", "ab"), aMessage(1, "completed", aText("c"))}},
	{"parts and pieces of reasoning", translate.AnswerContext{}, []event.Event{tell.Reasoning("a"), tell.InPart(1, tell.Reasoning("b")), tell.ReasoningEnd, tell.Reasoning("c"), tell.ReasoningEnd}, "completed", []string{someReasoning(0, "null", "a", "b"), someReasoning(1, "null", "c")}},
	{"signatures that nobody wants", translate.AnswerContext{}, []event.Event{tell.Reasoning("a"), tell.Signature("s"), tell.ReasoningEnd, tell.Signature("t"), tell.ReasoningEnd, tell.Redacted("d"), tell.Text("b")}, "completed", []string{someReasoning(0, "null", "a"), aMessage(1, "completed", aText("b"))}},
	{"reasoning that nobody wants", translate.AnswerContext{Reasoning: translate.ReasoningOf{Hidden: true}}, []event.Event{tell.Reasoning("a"), tell.ReasoningEnd, tell.Text("b")}, "completed", []string{aMessage(0, "completed", aText("b"))}},

	{"calls", translate.AnswerContext{}, []event.Event{tell.Text("a"), tell.Call(0, "c1", "f"), tell.Args(0, `{"x":`), tell.Args(0, "1}"), tell.Called(0), tell.Call(1, "", "g"), tell.Called(1)}, "completed", []string{aMessage(0, "completed", aText("a")), aCall(1, "completed", "c1", "f", `{"x":1}`), aCall(2, "completed", "call_new1", "g", "{}")}},
	{"calls that overlap", translate.AnswerContext{}, []event.Event{tell.Call(0, "c1", "f"), tell.Call(1, "c2", "g"), tell.Args(1, "{}"), tell.Args(0, "{"), tell.Text("\n"), tell.Args(0, "}"), tell.Text("a")}, "completed", []string{aCall(0, "completed", "c1", "f", "{}"), aCall(1, "completed", "c2", "g", "{}"), aMessage(2, "completed", aText("a"))}},
	{"calls with the same id", translate.AnswerContext{}, []event.Event{tell.Call(0, "c", "f"), tell.Called(0), tell.Call(1, "c", "f"), tell.Called(1)}, "completed", []string{aCall(0, "completed", "c", "f", "{}"), aCall(1, "completed", "c_2", "f", "{}")}},
	{"arguments that are no object", translate.AnswerContext{}, []event.Event{tell.Call(0, "c", "f"), tell.Args(0, "[1"), tell.Called(0)}, "completed", []string{aCall(0, "completed", "c", "f", "[1")}},
	{"a call that is cut off", translate.AnswerContext{}, []event.Event{tell.Call(0, "c", "f"), tell.Args(0, "{}"), tell.Call(1, "d", "g"), tell.Args(1, `{"x`), limited}, "incomplete/max_output_tokens", []string{aCall(0, "completed", "c", "f", "{}"), aCall(1, "incomplete", "d", "g", `{"x`)}},
	{"a free call", translate.AnswerContext{}, []event.Event{{Kind: event.ToolStart, ID: []byte("c"), Name: []byte("apply_patch"), Custom: true}, tell.Args(0, "*** "), tell.Args(0, "End"), tell.Called(0)}, "completed", []string{fmt.Sprintf(`{"id":"%s","type":"custom_tool_call","status":"completed","call_id":"c","name":"apply_patch","input":"*** End"}`, id("ctc_", 0))}},
	{"shortened names", translate.AnswerContext{Tools: translate.ToolNames{Shortened: map[string]string{"f_1": "f.1"}}}, []event.Event{tell.Call(0, "c", "f_1"), tell.Called(0)}, "completed", []string{aCall(0, "completed", "c", "f.1", "{}")}},
	{"a tool of a namespace", translate.AnswerContext{Tools: translate.ToolNames{Shortened: map[string]string{"n_f_1": "n__f"}, Client: map[string]translate.ClientTool{"n__f": {Name: "f", Namespace: "n"}}}}, []event.Event{tell.Call(0, "c", "n_f_1"), tell.Called(0)}, "completed", []string{strings.TrimSuffix(aCall(0, "completed", "c", "f", "{}"), "}") + `,"namespace":"n"}`}},
	{"a search for tools", translate.AnswerContext{Tools: translate.ToolNames{Client: map[string]translate.ClientTool{"tool_search": {Name: "tool_search", Search: true}}}}, []event.Event{tell.Call(0, "c", "tool_search"), tell.Args(0, `{"query": "x"}`), tell.Called(0)}, "completed", []string{fmt.Sprintf(`{"id":"%s","type":"tool_search_call","status":"completed","call_id":"c","execution":"client","arguments":{"query":"x"}}`, id("tsc_", 0))}},

	{"sources", translate.AnswerContext{}, []event.Event{tell.Text("☂a"), tell.InPart(1, tell.Text("bc")), tell.Source("u", "t", 2, 3), tell.Source("v", "t", 3, 4), tell.InPart(1, tell.Text("d"))}, "completed", []string{aMessage(0, "completed", aText("☂a"),
		`{"type":"output_text","text":"bcd","annotations":[{"type":"url_citation","url":"u","title":"t","start_index":0,"end_index":1},{"type":"url_citation","url":"v","title":"t","start_index":1,"end_index":2}],"logprobs":[]}`)}},
	{"sources of nothing", translate.AnswerContext{}, []event.Event{tell.Source("u", "t", 0, 1), tell.Refusal("a"), tell.Source("u", "t", 0, 1)}, "completed", []string{aMessage(0, "completed", `{"type":"refusal","refusal":"a"}`)}},
	// They were copied into the line of their event with the line ends of an indented answer.
	{"log probabilities over several lines", translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true}}, []event.Event{tell.Text("a"), tell.Logprobs("[\n {\n  \"token\": \"a\"\n }\n]")}, "completed", []string{aMessage(0, "completed", `{"type":"output_text","text":"a","annotations":[],"logprobs":[{"token":"a"}]}`)}},
	{"log probabilities", translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true}}, []event.Event{tell.Text("a"), tell.Logprobs(`[{"token":"a"}]`), tell.Text("b"), tell.Logprobs(`[{"token":"b"},{"token":"c"}]`), tell.Logprobs(`[]`)}, "completed", []string{aMessage(0, "completed", `{"type":"output_text","text":"ab","annotations":[],"logprobs":[{"token":"a"},{"token":"b"},{"token":"c"}]}`)}},
	{"log probabilities that nobody wants", translate.AnswerContext{}, []event.Event{tell.Text("a"), tell.Logprobs(`[{"token":"a"}]`)}, "completed", []string{aMessage(0, "completed", aText("a"))}},
	{"other choices", translate.AnswerContext{}, []event.Event{tell.Text("a"), {Kind: event.Text, Choice: 1, Text: []byte("x")}, {Kind: event.Finish, Choice: 1, Finish: event.FinishLength}}, "completed", []string{aMessage(0, "completed", aText("a"))}},
}

func TestAnswersAreWrittenForTheClient(t *testing.T) {
	for _, tt := range emitted {
		t.Run(tt.name, func(t *testing.T) {
			got := answered(t, tt.memory, tt.events...)
			assert.JSONEq(t, "["+strings.Join(tt.output, ",")+"]", outputOf(t, got))
			status, reason, _ := strings.Cut(tt.status, "/")
			assert.Equal(t, status, got["status"])
			if reason == "" {
				assert.Nil(t, got["incomplete_details"])
			} else {
				assert.Equal(t, client.Object{"reason": reason}, got["incomplete_details"])
			}
		})
	}
}

// sealer seals in tests.
func sealer(t testing.TB) *seal.Sealer {
	ring, err := seal.NewRing([]byte("0123456789abcdef"))
	require.NoError(t, err)
	return ring.For("provider", "tenant")
}

// sealedIn opens what the nth item of an answer was sealed into.
func sealedIn(t *testing.T, answer client.Object, nth int) string {
	t.Helper()
	item := answer["output"].([]any)[nth].(client.Object)
	payload, ok := sealer(t).Open(seal.Block, []byte(item["encrypted_content"].(string)))
	require.True(t, ok)
	block, err := base64.RawURLEncoding.DecodeString(string(payload))
	require.NoError(t, err)
	return string(block)
}

// TestThinkingIsSealedIntoReasoning ensures that the very block that a provider signed
// comes back to it, whatever a client makes of the summary.
func TestThinkingIsSealedIntoReasoning(t *testing.T) {
	m := translate.AnswerContext{Seals: sealer(t)}
	got := answered(t, m, tell.Reasoning(`a"`), tell.Reasoning("b"), tell.Signature("s="), tell.ReasoningEnd, tell.Redacted("d"), tell.Signature("t"), tell.ReasoningEnd, tell.Reasoning("c"), tell.Text("x"))
	assert.Equal(t, `{"type":"thinking","thinking":"a\"b","signature":"s="}`, sealedIn(t, got, 0))
	assert.Equal(t, `{"type":"redacted_thinking","data":"d"}`, sealedIn(t, got, 1))
	assert.Equal(t, `{"type":"thinking","thinking":"","signature":"t"}`, sealedIn(t, got, 2))
	assert.Equal(t, `{"type":"thinking","thinking":"c"}`, sealedIn(t, got, 3), "nobody signed it")

	m.Reasoning.Hidden = true
	got = answered(t, m, tell.Reasoning("a"), tell.Signature("s"), tell.ReasoningEnd)
	assert.Equal(t, `{"type":"thinking","thinking":"a","signature":"s"}`, sealedIn(t, got, 0))
	assert.Contains(t, outputOf(t, got), `"summary":[]`)
	assert.NotContains(t, outputOf(t, got), `"text"`)
}

// TestReasoningOfTheFormatKeepsWhatItsProviderEncrypted is about answers that are
// written anew because the provider's own break the laws of the format.
func TestReasoningOfTheFormatKeepsWhatItsProviderEncrypted(t *testing.T) {
	own := event.Event{Kind: event.Signature, Text: []byte("rs_1.1.gA.A=="), Origin: translate.Responses}
	got := answered(t, translate.AnswerContext{Seals: sealer(t)}, tell.Reasoning("a"), own, tell.ReasoningEnd)
	assert.JSONEq(t, "["+someReasoning(0, `"gA.A=="`, "a")+"]", outputOf(t, got))
}

func TestR022FreeTextsComeOutOfTheObjectsThatHoldThem(t *testing.T) {
	m := translate.AnswerContext{Tools: translate.ToolNames{Client: map[string]translate.ClientTool{"p": {Name: "apply_patch", Wrapped: true}}}}
	for arguments, want := range map[string]string{
		`{"input":"*** Begin\nPatch"}`:   "*** Begin\nPatch",
		`{"x":"b","input":"a"}`:          "a",
		`{"patch":"a"}`:                  "a",
		`"a\n"`:                          "a\n",
		`*** Begin Patch`:                "*** Begin Patch",
		`{"input": 1, "x": [ 2 ]}`:       `{"input":1,"x":[2]}`,
		`{"a":"b","c":"d"}`:              `{"a":"b","c":"d"}`,
		`{"input":"cut of`:               `{"input":"cut of`,
		`12`:                             "12",
		`{}`:                             "{}",
		` {"input":"a"} `:                "a",
		`{"\u0069nput":"a","other":"b"}`: "a",
	} {
		got := answered(t, m, tell.Call(0, "c", "p"), tell.Args(0, arguments[:1]), tell.Args(0, arguments[1:]), tell.Called(0))
		item := got["output"].([]any)[0].(client.Object)
		assert.Equal(t, "custom_tool_call", item["type"])
		assert.Equal(t, "apply_patch", item["name"])
		assert.Equal(t, want, item["input"], arguments)
	}
	got := answered(t, m, tell.Call(0, "c", "p"), tell.Called(0))
	assert.Equal(t, "", got["output"].([]any)[0].(client.Object)["input"])
}

func TestR031UsageAndTierAreToldInFull(t *testing.T) {
	counts := event.Event{Kind: event.Usage, Tier: event.TierPriority, Usage: &token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 900, CacheWrite: 7, Answer: 8, Reasoning: 4}, Known: true}}
	got, err := json.Marshal(answered(t, translate.AnswerContext{}, tell.Text("a"), counts))
	require.NoError(t, err)
	assert.Contains(t, string(got), `"service_tier":"priority"`)
	assert.Contains(t, string(got), `"usage":{"input_tokens":1007,"input_tokens_details":{"cache_write_tokens":7,"cached_tokens":900},"output_tokens":12,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":1019}`)
	got, err = json.Marshal(answered(t, translate.AnswerContext{}))
	require.NoError(t, err)
	assert.Contains(t, string(got), `"usage":{"input_tokens":0,"input_tokens_details":{"cache_write_tokens":0,"cached_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}`)
	assert.NotContains(t, string(got), "service_tier")
}

func TestAnAnswerRepeatsItsRequest(t *testing.T) {
	request := []byte(`{"model":"x","input":"hi","instructions":"be\nbrief","max_output_tokens":64,"metadata":{ "a" : "b" },"temperature":0.3,"tools":[{"type":"function","name":"f"}],"tool_choice":"required","store":true,"background":false,"user":"u","text":null,"unknown":1}`)
	for stream, long := range map[bool]string{
		false: `"instructions":"be\nbrief","tools":[{"type":"function","name":"f"}]`,
		true:  `"instructions":null,"tools":[]`,
	} {
		repeated := settings.Append(nil, request, stream)
		assert.JSONEq(t, `{"background":false,"max_output_tokens":64,"max_tool_calls":null,"metadata":{"a":"b"},"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":false,"temperature":0.3,"text":{"format":{"type":"text"}},"tool_choice":"required","top_p":1,"truncation":"disabled","user":"u",`+long+`}`, "{"+string(repeated[1:])+"}")
		assert.NotContains(t, string(repeated), "\n")
		got := answered(t, translate.AnswerContext{Settings: repeated})
		assert.Equal(t, "u", got["user"])
	}
}

func TestAnAnswerIsWholeWithoutAStart(t *testing.T) {
	for _, events := range [][]event.Event{{tell.Text("a"), tell.End}, {tell.End}} {
		stream, fault := emit(translate.AnswerContext{Stream: true}, events...)
		require.Nil(t, fault)
		added, err := client.Responses.Emitted([]byte(stream))
		require.NoError(t, err)
		assert.Equal(t, "asked", added["model"])
		assert.Equal(t, json.Number("5"), added["created_at"])
	}
}

func TestNothingOfAnAnswerIsShownBeforeItsEnd(t *testing.T) {
	e := answer.NewEmitter(&translate.AnswerContext{}, newIDs())
	for _, event := range []event.Event{tell.Start, tell.Text("a"), tell.Finish(event.FinishStop)} {
		e.Handle(&event)
		assert.Empty(t, e.Output())
	}
	e.Handle(&tell.End)
	assert.NotEmpty(t, e.Output())
	assert.Empty(t, e.Output())
}

// The bound of an event bounded whole answers, which clients of other formats got.
func TestAnAnswerMayBeLongerThanAnEvent(t *testing.T) {
	for _, stream := range []bool{true, false} {
		_, f := emit(translate.AnswerContext{Stream: stream, MaxHeld: 2000}, tell.Start, tell.Text(strings.Repeat("a", 1500)), tell.TextEnd, tell.Text(strings.Repeat("a", 1500)), tell.End)
		assert.Nil(t, f)
	}
}

func TestWhatCannotBeWrittenIsTheProvidersFault(t *testing.T) {
	for cause, events := range map[string][]event.Event{
		"arguments of a tool call that was not begun":   {tell.Args(0, "{}")},
		"arguments behind the end of their tool call":   {tell.Call(0, "a", "f"), tell.Called(0), tell.Args(0, "{}")},
		"more than 2000 bytes behind an open tool call": {tell.Call(0, "a", "f"), tell.Text(strings.Repeat("a", 2000))},
		"an answer of more than 33554432 bytes":         {tell.Text(strings.Repeat("a", 20<<20)), tell.TextEnd, tell.Text(strings.Repeat("a", 20<<20))},
	} {
		for _, stream := range []bool{true, false} {
			out, f := emit(translate.AnswerContext{Stream: stream, MaxHeld: 2000}, append(append([]event.Event{tell.Start}, events...), tell.Text("never"), tell.End)...)
			require.NotNil(t, f, cause)
			assert.Equal(t, fault.BadGateway, f.Kind)
			assert.EqualError(t, f.Cause, cause)
			assert.NotContains(t, out, "response.completed")
			assert.NotContains(t, out, "never")
		}
	}
}

// lastEvent is the name and the data of the last event of a stream.
func lastEvent(t *testing.T, stream string) (string, client.Object) {
	t.Helper()
	events, err := client.EmittedEvents([]byte(stream))
	require.NoError(t, err)
	require.NotEmpty(t, events)
	last := events[len(events)-1]
	data, err := client.Decode([]byte(last.Data))
	require.NoError(t, err)
	return last.Name, data
}

// TestR034AFailedStreamSaysSoInItsLastEvent ensures that a stream which failed never looks
// finished, and that clients keep the items that have ended.
func TestR034AFailedStreamSaysSoInItsLastEvent(t *testing.T) {
	fault := &fault.Fault{Kind: fault.Overloaded, Message: "busy"}
	for name, tt := range map[string]struct {
		events []event.Event
		output string
	}{
		"behind nothing":   {nil, "[]"},
		"behind the start": {[]event.Event{tell.Start}, "[]"},
		"in an item":       {[]event.Event{tell.Start, tell.Text("a"), tell.TextEnd, tell.Text("b")}, "[" + aMessage(0, "completed", aText("a")) + "]"},
	} {
		e := answer.NewEmitter(&translate.AnswerContext{Stream: true}, newIDs())
		var out []byte
		for i := range tt.events {
			e.Handle(&tt.events[i])
			out = append(out, e.Output()...)
		}
		out = e.AppendFailure(out, newIDs(), fault)
		_, err := client.Responses.Emitted(out)
		require.ErrorIs(t, err, client.ErrFailed, name)
		last, data := lastEvent(t, string(out))
		assert.Equal(t, "response.failed", last)
		response := data["response"].(client.Object)
		assert.Equal(t, client.Object{"code": "server_is_overloaded", "message": "busy"}, response["error"])
		assert.JSONEq(t, tt.output, outputOf(t, response), name)
	}
}

func TestFaultsHaveTheCodesThatClientsActOn(t *testing.T) {
	for code, faults := range map[string][]*fault.Fault{
		"context_length_exceeded": {{Kind: fault.Invalid, Code: "context_length_exceeded", Message: "m"}},
		"invalid_prompt":          {{Kind: fault.Invalid, Code: "x", Message: "m"}, fault.BodyTooLarge(1)},
		"rate_limit_exceeded":     {fault.LimitReached("request rate", "this key")},
		"insufficient_quota":      {fault.BudgetExhausted("50 USD per month", "this user", "")},
		"server_is_overloaded":    {fault.ShuttingDown(), fault.NoUpstream("m")},
		"server_error":            {fault.Truncated(nil), fault.InternalError(nil), fault.UpstreamTimeout(nil), fault.Unusable(nil)},
	} {
		for _, fault := range faults {
			out := answer.AppendFailure(nil, newIDs(), fault)
			_, err := client.Responses.Emitted(out)
			require.ErrorIs(t, err, client.ErrFailed)
			_, data := lastEvent(t, string(out))
			assert.Equal(t, client.Object{"code": code, "message": fault.Message}, data["response"].(client.Object)["error"])
		}
	}
}

// TestKeepAlivesAreEventsWithoutContent ensures that clients which measure silence by
// events hear something, and read the same answer.
func TestKeepAlivesAreEventsWithoutContent(t *testing.T) {
	m := translate.AnswerContext{Stream: true, Tools: translate.ToolNames{Client: map[string]translate.ClientTool{"p": {Name: "p", Wrapped: true}}}, Logprobs: translate.Logprobs{Asked: true}}
	events := []event.Event{
		tell.Start, tell.Reasoning("a"), tell.ReasoningEnd, tell.Text("b"), tell.Logprobs(`[{"token":"b"}]`), tell.Text("c"), tell.TextEnd, tell.Refusal("d"), tell.Call(0, "c", "f"), tell.Args(0, "{"), tell.Args(0, "}"), tell.Called(0),
		tell.Call(1, "d", "p"), tell.Args(1, `{"input":`), tell.Args(1, `"x"}`), tell.Called(1), tell.Finish(event.FinishTools), tell.End,
	}
	want, fault := emit(m, events...)
	require.Nil(t, fault)
	e := answer.NewEmitter(&m, newIDs())
	assert.Equal(t, ": keep-alive\n\n", string(e.AppendKeepAlive(nil)), "nothing has begun")
	var out []byte
	for i := range events {
		e.Handle(&events[i])
		out = append(out, e.Output()...)
		if events[i].Kind != event.Start && events[i].Kind != event.End {
			out = e.AppendKeepAlive(out)
		}
	}
	added, err := client.Responses.Emitted(out)
	require.NoError(t, err, "%s", out)
	plain, err := client.Responses.Emitted([]byte(want))
	require.NoError(t, err)
	assert.Equal(t, plain, added)
	assert.Equal(t, 16, strings.Count(string(out), "\n\n")-strings.Count(want, "\n\n"))
}
