package pairs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// replay returns a JSON answer as a stream of its own format, nothing for a fault.
func replay(format translate.Format, body []byte, usage bool) ([]byte, *fault.Fault) {
	t := pairs.NewTranslator(format, format, &translate.AnswerContext{Stream: true, IncludeUsage: usage}, newIDs())
	if fault := t.Answer(body); fault != nil {
		return nil, fault
	}
	return t.Output(), nil
}

// wholeAnswers are the recorded JSON answers of a format that are no error.
func wholeAnswers(t *testing.T, format translate.Format) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/goldens/answers/" + string(format) + "/*.json")
	require.NoError(t, err)
	answers := make(map[string][]byte)
	for _, path := range paths {
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		if _, fault := formats.Of(format).Answers.Inspect(body, translate.Generate); fault == nil {
			answers[filepath.Base(path)] = body
		}
	}
	require.NotEmpty(t, answers, "testdata/goldens/answers/%s has no answers", format)
	return answers
}

// TestAReplayHasTheContentOfTheAnswer ensures that a JSON answer and its replay in its own
// format have the same content for all clients.
func TestAReplayHasTheContentOfTheAnswer(t *testing.T) {
	for _, format := range known {
		for name, body := range wholeAnswers(t, format) {
			stream, fault := replay(format, body, true)
			require.Nil(t, fault, name)
			seen := observe(format, [][]byte{stream}, true)
			assert.True(t, seen.all().Has(signal.Finish), name)
			assert.Equal(t, !formats.Of(format).Answers.NoLastEvent, seen.all().Has(signal.Terminal), name)
			assert.False(t, seen.all().Has(signal.Failed), name)
			for _, w := range waysFrom(format) {
				want := answered(w, w.remembered(false), body)
				got := translated(w, w.remembered(false), [][]byte{stream}, true)
				assert.Equal(t, want.out, got.out, "%s %s", w.name(), name)
				assert.Equal(t, want.summary(), got.summary(), "%s %s", w.name(), name)
				assert.Equal(t, want.Losses(), got.Losses(), "%s %s", w.name(), name)
			}
		}
	}
}

// TestAReplayRefusesWhatReadersDisagreeOn ensures that a repeated member is refused,
// since readers of the answer may have taken either value.
func TestAReplayRefusesWhatReadersDisagreeOn(t *testing.T) {
	for format, bodies := range map[translate.Format][]string{
		translate.Messages: {
			`{"content":[],"content":[{"type":"text","text":"b"}]}`, `{"content":[{"type":"text","text":"a","Text":"b"}]}`, `{"content":["a"]}`, `{"content":[],`, `[]`, `{}`,
		},
		translate.Chat:        {`{"choices":[{"message":{"content":"a","content":"b"}}]}`, `{"choices":[],"choices":[]}`, `{"choices":[1]}`, `{"choices":[{}]`, `"a"`, `{}`},
		translate.Completions: {`{"choices":[{"text":"a","text":"b"}]}`, `{"choices":{}}`, `null`},
	} {
		for _, body := range bodies {
			stream, fault := replay(format, []byte(body), true)
			require.NotNil(t, fault, body)
			assert.Equal(t, "upstream_invalid_response", fault.Code, body)
			assert.Empty(t, stream, body)
		}
	}
}

func TestAReplayOfMessagesKeepsAllMembers(t *testing.T) {
	stream, fault := replay(translate.Messages, []byte(`{
		"id":"msg_1","type":"message","role":"assistant","model":"x","error":null,"new":{"a": 1.0},
		"content":[
			{"type":"thinking","thinking":"hm\n","signature":"s1"},
			{"type":"redacted_thinking","data":"d"},
			{"type":"server_tool_use","id":"st","name":"web_search","input":{"q": "1.0"}},
			{"type":"web_search_tool_result","tool_use_id":"st","content":[ {"url":"u"} ]},
			{"citations":[{"cited_text":"c"},{"cited_text":"d"}],"text":"so","type":"text"},
			{"type":"text","text":"","citations":null},
			{"type":"tool_use","id":"t","name":"f","input":{},"caller":{"type":"direct"}}
		],
		"stop_reason":"tool_use","stop_sequence":null,"container":{"id":"k"},"context_management":{"applied_edits":[]},
		"usage":{"input_tokens":3,"output_tokens":4,"service_tier":"standard"}}`), false)
	require.Nil(t, fault)
	assert.Equal(t, `event: message_start
data: {"type":"message_start","message":{"type":"message","id":"msg_1","role":"assistant","model":"x","new":{"a":1.0},"stop_reason":null,"stop_sequence":null,"container":null,"content":[],"usage":{"input_tokens":3,"output_tokens":4,"service_tier":"standard"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm\n"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"d"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"st","name":"web_search","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\":\"1.0\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"web_search_tool_result","tool_use_id":"st","content":[{"url":"u"}]}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"text","citations":[],"text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"citations_delta","citation":{"cited_text":"c"}}}

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"citations_delta","citation":{"cited_text":"d"}}}

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"so"}}

event: content_block_stop
data: {"type":"content_block_stop","index":4}

event: content_block_start
data: {"type":"content_block_start","index":5,"content_block":{"type":"text","citations":null,"text":""}}

event: content_block_stop
data: {"type":"content_block_stop","index":5}

event: content_block_start
data: {"type":"content_block_start","index":6,"content_block":{"type":"tool_use","id":"t","name":"f","caller":{"type":"direct"},"input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":6,"delta":{"type":"input_json_delta","partial_json":"{}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":6}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"container":{"id":"k"}},"context_management":{"applied_edits":[]},"usage":{"input_tokens":3,"output_tokens":4,"service_tier":"standard"}}

event: message_stop
data: {"type":"message_stop"}

`, string(stream))
}

// The official clients read the usage of both events without looking whether
// it is there, and a message without a block is one all the same.
func TestAReplayOfAnEmptyAnswerIsAStream(t *testing.T) {
	stream, fault := replay(translate.Messages, []byte(`{"content":[],"usage":null}`), false)
	require.Nil(t, fault)
	assert.Equal(t, `event: message_start
data: {"type":"message_start","message":{"type":"message","content":[],"usage":{"input_tokens":0,"output_tokens":0}}}

event: message_delta
data: {"type":"message_delta","delta":{},"usage":{"input_tokens":0,"output_tokens":0}}

event: message_stop
data: {"type":"message_stop"}

`, string(stream))
}

// Official clients add the deltas to what a block begins with, which must be a
// text or an object even where the answer has null.
func TestAReplayBeginsBlocksWithoutNull(t *testing.T) {
	stream, fault := replay(translate.Messages, []byte(`{"content":[{"type":"text","text":null,"citations":null},{"type":"thinking","thinking":null,"signature":null},{"type":"tool_use","id":"t","name":"f","input":null}]}`), false)
	require.Nil(t, fault)
	for _, block := range []string{
		`{"type":"text","citations":null,"text":""}`,
		`{"type":"thinking","thinking":"","signature":""}`,
		`{"type":"tool_use","id":"t","name":"f","input":{}}`,
	} {
		assert.Contains(t, string(stream), `"content_block":`+block)
	}
	assert.Equal(t, 1, strings.Count(string(stream), "event: content_block_delta"), "an input is an object")
}

// A type of null was made up for a block without one, which no client knows; and
// answers of nothing but such blocks became streams 47 times as long.
func TestAReplayRefusesBlocksWithoutAType(t *testing.T) {
	for _, block := range []string{`{}`, `{"type":null}`, `{"type":""}`, `{"type":1,"text":"a"}`} {
		stream, fault := replay(translate.Messages, []byte(`{"content":[`+block+`]}`), false)
		assert.NotNil(t, fault, block)
		assert.Empty(t, stream, block)
	}
}

// Two bytes of a citation became an event of a hundred, without an end.
func TestAReplayOfMessagesIsBounded(t *testing.T) {
	const many = 20000
	for name, content := range map[string]string{
		"many blocks":    strings.Repeat(`{"type":"a"},`, many) + `{"type":"a"}`,
		"many citations": `{"type":"text","citations":[` + strings.Repeat(`1,`, many) + `1],"text":""}`,
	} {
		stream, fault := replay(translate.Messages, []byte(`{"content":[`+content+`]}`), false)
		assert.NotNil(t, fault, name)
		assert.Empty(t, stream, name)
	}
}

func TestAReplayOfChoicesKeepsAllMembers(t *testing.T) {
	for name, test := range map[string]struct {
		format translate.Format
		asked  bool
		answer string
		want   string
	}{
		"words, calls and members of the server's own": {translate.Chat, true, `{
			"id":"c1","object":"chat.completion","created":1,"model":"x","system_fingerprint":"fp","error":null,"citations":[ "u" ],
			"choices":[{"index":0,"logprobs":{"content":[]},"message":{"role":"assistant","content":"a\u2028\nb","reasoning":"r","tool_calls":[
				{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"n\":1.0}"}},{"index":7,"id":"t2","type":"custom","custom":{"name":"g","input":""}}]},
				"finish_reason":"tool_calls","stop_reason":null}],
			"usage":{"prompt_tokens":3,"cost":0.10}}`,
			`data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","citations":["u"],"choices":[{"index":0,"logprobs":{"content":[]},"delta":{"role":"assistant","content":"a\u2028\nb","reasoning":"r"},"finish_reason":null}],"usage":null}

data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"f","arguments":"{\"n\":1.0}"}}]},"finish_reason":null}],"usage":null}

data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"t2","type":"custom","custom":{"name":"g","input":""}}]},"finish_reason":null}],"usage":null}

data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls","stop_reason":null}],"usage":null}

data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","choices":[],"usage":{"prompt_tokens":3,"cost":0.10}}

data: [DONE]

`},
		"choices of one index, without a role, to a client who wants no usage": {translate.Chat, false,
			`{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"},{"index":0,"message":{"role":null,"content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":3}}`,
			`data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"object":"chat.completion.chunk","choices":[{"index":1,"delta":{"role":"assistant","content":null},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":1,"delta":{},"finish_reason":"length"}]}

data: [DONE]

`},
		"choices that say nothing, and do not say why they ended": {translate.Chat, false,
			`{"choices":[{"index":0},{"index":1,"message":null,"finish_reason":null}]}`,
			`data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":1,"delta":{"role":"assistant"},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":1,"delta":{},"finish_reason":null}]}

data: [DONE]

`},
		"a completion without a text": {translate.Completions, false,
			`{"choices":[{"index":0,"logprobs":null,"finish_reason":"stop"}]}`,
			`data: {"object":"text_completion","choices":[{"index":0,"logprobs":null,"text":"","finish_reason":null}]}

data: {"object":"text_completion","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

`},
		"a null text, which clients cannot add to": {translate.Completions, false,
			`{"choices":[{"text":null,"index":0,"finish_reason":"stop"}]}`,
			`data: {"object":"text_completion","choices":[{"index":0,"text":"","finish_reason":null}]}

data: {"object":"text_completion","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

`},
		"a text, with usage that never came": {translate.Completions, true,
			`{"id":"t1","object":"text_completion","choices":[{"text":" b","index":0,"logprobs":{"tokens":["b"]},"finish_reason":"stop"}],"usage":null}`,
			`data: {"object":"text_completion","id":"t1","choices":[{"index":0,"logprobs":{"tokens":["b"]},"text":" b","finish_reason":null}],"usage":null}

data: {"object":"text_completion","id":"t1","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}],"usage":null}

data: [DONE]

`},
	} {
		stream, fault := replay(test.format, []byte(test.answer), test.asked)
		require.Nil(t, fault, name)
		assert.Equal(t, test.want, string(stream), name)
	}
}

// Neither the members that every chunk repeats nor the number of chunks were bounded:
// an id of 100 KB in front of 2000 empty calls became 200 MB.
func TestAReplayOfChoicesIsBounded(t *testing.T) {
	const many = 5000
	const call = `{"function":{"name":"f"}}`
	calls := `{"choices":[{"message":{"tool_calls":[` + strings.Repeat(call+",", many) + call + `]}}]}`
	for name, answer := range map[string]string{
		"a long id":    `{"id":"` + strings.Repeat("x", 100<<10) + `","choices":[{"message":{"content":"a"}}]}`,
		"long names":   `{"model":"` + strings.Repeat("m", 600) + `","service_tier":"` + strings.Repeat("t", 600) + `","choices":[{}]}`,
		"many choices": `{"choices":[` + strings.Repeat(`{},`, many) + `{}]}`,
		"many calls":   calls,
		"calls of many choices": `{"choices":[` + strings.Repeat(`{"message":{"tool_calls":[`+call+`,`+call+`,`+call+`,`+call+`]}},`, many/4) +
			`{}]}`,
	} {
		stream, f := replay(translate.Chat, []byte(answer), false)
		require.NotNil(t, f, name)
		assert.Equal(t, fault.BadGateway, f.Kind, name)
		assert.Empty(t, stream, name)
	}
}

func TestAReplayOfManyCallsStaysASmallMultipleOfTheAnswer(t *testing.T) {
	call := `{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}},`
	answer := `{"id":"` + strings.Repeat("x", 500) + `","choices":[{"message":{"tool_calls":[` + strings.Repeat(call, 2000) + strings.TrimRight(call, ",") + `]}}]}`
	stream, fault := replay(translate.Chat, []byte(answer), false)
	require.Nil(t, fault)
	assert.Less(t, len(stream), 12*len(answer))
}

// The message was left out in silence, and the client got an empty answer.
func TestAReplayRefusesAMessageThatNobodyCanRead(t *testing.T) {
	for _, choice := range []string{`{"message":"hi"}`, `{"message":{"content":"a"},"delta":{"content":"b"}}`} {
		_, fault := replay(translate.Chat, []byte(`{"choices":[`+choice+`]}`), false)
		assert.NotNil(t, fault, choice)
	}
}

// replayed are the events of a replay, by name and data.
func replayed(t *testing.T, got string) []client.Event {
	t.Helper()
	stream, fault := replay(translate.Responses, []byte(got), false)
	require.Nil(t, fault)
	events, err := client.EmittedEvents(stream)
	require.NoError(t, err)
	for i, e := range events {
		data, err := client.Decode([]byte(e.Data))
		require.NoError(t, err)
		assert.Equal(t, e.Name, data["type"])
		assert.Equal(t, fmt.Sprint(i), fmt.Sprint(data["sequence_number"]))
	}
	return events
}

func TestAnAnswerIsReplayedInFull(t *testing.T) {
	const item = `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[{"type":"file_citation"}],"logprobs":[{"token":"a"}],"text":"a"},{"type":"refusal","refusal":""}]}`
	const reasoning = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"r"}],"encrypted_content":"g"}`
	const search = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"query":"q"}}`
	const call = `{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"}`
	got := replayed(t, `{"id":"resp_1","model":"m","status":"completed","new":[1, 2],"output":[`+reasoning+`,`+item+`,`+search+`,`+call+`],"usage":{"input_tokens":1}}`)
	var lines []string
	for _, e := range got {
		lines = append(lines, strings.TrimPrefix(e.Name, "response."))
	}
	assert.Equal(t, []string{
		"created", "in_progress",
		"output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done",
		"output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done", "output_item.done",
		"output_item.added", "output_item.done",
		"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
		"completed",
	}, lines)
	assert.JSONEq(t, `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"m","status":"in_progress","new":[1,2],"output":[],"usage":null}}`, got[0].Data)
	assert.JSONEq(t, `{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"content":[]}}`, got[2].Data)
	assert.JSONEq(t, `{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":`+reasoning+`}`, got[7].Data)
	assert.JSONEq(t, `{"type":"response.output_text.delta","sequence_number":10,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"a","logprobs":[{"token":"a"}]}`, got[10].Data)
	assert.JSONEq(t, `{"type":"response.output_item.added","sequence_number":14,"output_index":2,"item":{"type":"web_search_call","id":"ws_1","status":"in_progress","action":{"query":"q"}}}`, got[14].Data)
	assert.JSONEq(t, `{"type":"response.completed","sequence_number":20,"response":{"id":"resp_1","model":"m","status":"completed","new":[1,2],"output":[`+reasoning+`,`+item+`,`+search+`,`+call+`],"usage":{"input_tokens":1}}}`, got[20].Data)
}

func TestTheEndOfAReplayIsThatOfTheAnswer(t *testing.T) {
	for members, want := range map[string]string{
		`"output":[]`:                       "response.completed",
		`"output":null`:                     "response.completed",
		`"status":"incomplete","output":[]`: "response.incomplete",
	} {
		events := replayed(t, "{"+members+"}")
		assert.Equal(t, want, events[len(events)-1].Name, members)
	}
}

func TestWhatCannotBeReplayedIsAFault(t *testing.T) {
	for _, body := range []string{
		`{}`, `[]`, `{"output":{}}`, `{"output":[]`, `{"output":[],"output":[]}`, `{"output":[1]}`,
		`{"output":[{"type":"message","id":"a","id":"b"}]}`, `{"output":[{"type":"message","content":[{"type":"output_text","text":"a","text":"b"}]}]}`,
		`{"status":"in_progress","output":[]}`, `{"status":"queued","output":[]}`, `{"status":null,"output":[]}`,
		`{"output":[` + strings.Repeat(`{},`, 9000) + `{}]}`,
	} {
		stream, fault := replay(translate.Responses, []byte(body), false)
		require.NotNil(t, fault, "%.60s", body)
		assert.Equal(t, "upstream_invalid_response", fault.Code)
		assert.Empty(t, stream)
	}
}

// Every event about a part repeats the id of its item: an answer of two megabytes, of which
// one was the id, became a stream of sixteen gigabytes.
func TestALongIDIsNotReplayedForEveryPart(t *testing.T) {
	const part = `{"type":"output_text","text":"a"}`
	long := `{"status":"completed","output":[{"type":"message","id":"` + strings.Repeat("x", 1<<20) + `","content":[` + part + strings.Repeat(","+part, 200) + `]}]}`
	stream, fault := replay(translate.Responses, []byte(long), false)
	assert.Nil(t, stream)
	require.NotNil(t, fault)
	assert.ErrorContains(t, fault.Cause, "far larger than the answer")
}
