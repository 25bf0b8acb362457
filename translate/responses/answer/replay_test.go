package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// replayed are the events of a replay, by name and data.
func replayed(t *testing.T, got string) []translatetest.Event {
	t.Helper()
	stream, fault := answer.Replay([]byte(got), false)
	require.Nil(t, fault)
	events, err := translatetest.Events(stream)
	require.NoError(t, err)
	for i, e := range events {
		data, err := translatetest.Decode([]byte(e.Data))
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
		"output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done",
		"reasoning_text.delta", "reasoning_text.done", "output_item.done",
		"output_item.added", "content_part.added", "output_text.delta", "output_text.done", "output_text.annotation.added", "content_part.done",
		"content_part.added", "refusal.done", "content_part.done", "output_item.done",
		"output_item.added", "output_item.done",
		"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
		"completed",
	}, lines)
	assert.JSONEq(t, `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"m","status":"in_progress","new":[1,2],"output":[],"usage":null}}`, got[0].Data)
	assert.JSONEq(t, `{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"content":[]}}`, got[2].Data)
	assert.JSONEq(t, `{"type":"response.output_item.done","sequence_number":9,"output_index":0,"item":`+reasoning+`}`, got[9].Data)
	assert.JSONEq(t, `{"type":"response.output_text.delta","sequence_number":12,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"a","logprobs":[{"token":"a"}]}`, got[12].Data)
	assert.JSONEq(t, `{"type":"response.output_text.annotation.added","sequence_number":14,"item_id":"msg_1","output_index":1,"content_index":0,"annotation_index":0,"annotation":{"type":"file_citation"}}`, got[14].Data)
	assert.JSONEq(t, `{"type":"response.output_item.added","sequence_number":20,"output_index":2,"item":{"type":"web_search_call","id":"ws_1","status":"in_progress","action":{"query":"q"}}}`, got[20].Data)
	assert.JSONEq(t, `{"type":"response.completed","sequence_number":26,"response":{"id":"resp_1","model":"m","status":"completed","new":[1,2],"output":[`+reasoning+`,`+item+`,`+search+`,`+call+`],"usage":{"input_tokens":1}}}`, got[26].Data)
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
		`{}`, `[]`, `{"output":{}}`, `{"output":[]`, `{"output":[],"output":[]}`, `{"output":[1]}`, `{"output":[{"type":"message","content":[1]}]}`,
		`{"output":[{"type":"message","id":"a","id":"b"}]}`, `{"output":[{"type":"message","content":[{"type":"output_text","text":"a","text":"b"}]}]}`,
		`{"status":"in_progress","output":[]}`, `{"status":"queued","output":[]}`, `{"status":null,"output":[]}`, `{"status":"cancelled","output":[]}`, `{"status":"failed","output":[]}`,
		`{"output":[` + strings.Repeat(`{},`, 9000) + `{}]}`,
	} {
		stream, fault := answer.Replay([]byte(body), false)
		require.NotNil(t, fault, "%.60s", body)
		assert.Equal(t, "upstream_invalid_response", fault.Code)
		assert.Empty(t, stream)
	}
}

// Every event about a part repeats the id of its item: an answer of two megabytes, of which
// one was the id, became a stream of sixteen gigabytes.
func TestALongIDIsNotReplayedForEveryPart(t *testing.T) {
	const part = `{"type":"output_text","text":""}`
	long := `{"status":"completed","output":[{"type":"message","id":"` + strings.Repeat("x", 1<<20) + `","content":[` + part + strings.Repeat(","+part, 200) + `]}]}`
	stream, fault := answer.Replay([]byte(long), false)
	assert.Nil(t, stream)
	require.NotNil(t, fault)
	assert.ErrorContains(t, fault.Cause, "far larger than the answer")
}
