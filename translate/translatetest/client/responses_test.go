package client_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// numbered numbers the events of a responses stream.
func numbered(events ...string) string {
	var all strings.Builder
	for i, e := range events {
		all.WriteString(replaced(e, `"sequence_number":0`, fmt.Sprintf(`"sequence_number":%d`, i)))
	}
	return all.String()
}

// respond is an event of a responses stream.
func respond(name, members string) string {
	return event("response."+name, `,"sequence_number":0,`+members)
}

// responseOf returns the member of an event that is a response with a status.
func responseOf(status, members string) string {
	return `"response":{"id":"r","object":"response","created_at":7,"model":"m","status":"` + status + `","instructions":null,"metadata":{},"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1,` + members + `}`
}

const (
	part     = `{"type":"output_text","text":"ab","annotations":[],"logprobs":[]}`
	item     = `{"id":"i","type":"message","status":"completed","role":"assistant","content":[` + part + `]}`
	call     = `{"id":"j","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{}"}`
	place    = `"item_id":"i","output_index":0,"content_index":0`
	total    = `"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":3}`
	inCourse = `"error":null,"incomplete_details":null,"output":[],"usage":null`
	outcome  = `"error":null,"incomplete_details":null,"output":[` + item + `,` + call + `],` + total
)

var (
	created   = respond("created", responseOf("in_progress", inCourse))
	added     = respond("output_item.added", `"output_index":0,"item":{"id":"i","type":"message","status":"in_progress","role":"assistant","content":[]}`)
	partAdded = respond("content_part.added", place+`,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}`)
	deltaA    = respond("output_text.delta", place+`,"delta":"a","logprobs":[]`)
	deltaB    = respond("output_text.delta", place+`,"delta":"b","logprobs":[]`)
	textDone  = respond("output_text.done", place+`,"text":"ab","logprobs":[]`)
	partDone  = respond("content_part.done", place+`,"part":`+part)
	itemDone  = respond("output_item.done", `"output_index":0,"item":`+item)
	callAdded = respond("output_item.added", `"output_index":1,"item":{"id":"j","type":"function_call","status":"in_progress","call_id":"c","name":"f","arguments":""}`)
	callDelta = respond("function_call_arguments.delta", `"item_id":"j","output_index":1,"delta":"{}"`)
	callText  = respond("function_call_arguments.done", `"item_id":"j","output_index":1,"arguments":"{}"`)
	callDone  = respond("output_item.done", `"output_index":1,"item":`+call)
	completed = respond("completed", responseOf("completed", outcome))
	failed    = respond("failed", responseOf("failed", `"error":{"code":"server_error","message":"m"},"incomplete_details":null,"output":[],"usage":null`))

	whole = []string{created, added, partAdded, deltaA, deltaB, textDone, partDone, itemDone, callAdded, callDelta, callText, callDone, completed}
)

// changed returns a whole stream with another event in the place of one.
func changed(event string, others ...string) string {
	var events []string
	for _, e := range whole {
		if e == event {
			events = append(events, others...)
		} else {
			events = append(events, e)
		}
	}
	return numbered(events...)
}

// changedText returns a whole stream with one thing in one event different.
func changedText(event, old, change string) string {
	return changed(event, replaced(event, old, change))
}

func TestResponses(t *testing.T) {
	streams{client.Responses, numbered(whole...), map[string]string{
		"a number that is missing":     replaced(numbered(whole...), `"sequence_number":3`, `"sequence_number":4`),
		"a first event of another":     changed(created, respond("in_progress", responseOf("in_progress", inCourse))),
		"two beginnings":               changed(created, created, created),
		"no beginning":                 changed(created),
		"no end":                       changed(completed),
		"something behind the end":     changed(completed, completed, completed),
		"chat's end":                   changed(completed, completed, done),
		"another name than the type":   changedText(textDone, "event: response.output_text.done", "event: response.text.done"),
		"an event that nobody knows":   changed(textDone, strings.ReplaceAll(textDone, "output_text.done", "text.done")),
		"a member error":               changedText(deltaA, `"delta":"a"`, `"delta":"a","error":null`),
		"an event error":               changed(deltaA, event("error", `,"sequence_number":0,"code":"c","message":"m"`)),
		"another id":                   changedText(completed, `"id":"r"`, `"id":"s"`),
		"a gap in the items":           changedText(callAdded, `"output_index":1`, `"output_index":2`),
		"two open items":               changed(partAdded, callAdded, partAdded),
		"an item without an id":        changedText(added, `"id":"i",`, ""),
		"an item that is not empty":    changedText(added, `"content":[]`, `"content":[`+part+`]`),
		"a message without content":    changedText(added, `,"content":[]`, ""),
		"a call without arguments":     changedText(callAdded, `,"arguments":""`, ""),
		"a call without a name":        changedText(callAdded, `"name":"f",`, ""),
		"a gap in the parts":           changedText(partAdded, `"content_index":0`, `"content_index":1`),
		"a part that is not empty":     changedText(partAdded, `"text":""`, `"text":"x"`),
		"a part without a text":        changedText(partAdded, `"text":"",`, ""),
		"a delta without an item":      changed(added, deltaA, added),
		"a delta without a part":       changed(partAdded, deltaA, partAdded),
		"a delta of another item":      changedText(deltaA, `"item_id":"i"`, `"item_id":"j"`),
		"a delta of another kind":      changed(callDelta, strings.ReplaceAll(callDelta, "function_call_arguments", "custom_tool_call_input")),
		"a delta of another part":      changed(deltaA, strings.ReplaceAll(deltaA, "output_text", "refusal")),
		"a delta behind the text":      changed(textDone, textDone, deltaA),
		"a delta behind the item":      changed(itemDone, itemDone, deltaA),
		"an event that is missing":     changed(deltaA),
		"another whole text":           changedText(textDone, `"text":"ab"`, `"text":"b"`),
		"another whole part":           changedText(partDone, `"text":"ab"`, `"text":"b"`),
		"no annotations of a part":     changedText(partDone, `,"annotations":[]`, ""),
		"another whole item":           changedText(itemDone, `"text":"ab"`, `"text":"b"`),
		"a whole item with more":       changedText(callDone, `"name":"f"`, `"name":"f","namespace":"n"`),
		"other arguments":              changedText(callText, `"{}"`, `"{"`),
		"no whole arguments":           changed(callText),
		"an item that goes on":         changedText(itemDone, `"status":"completed"`, `"status":"in_progress"`),
		"an item that is open":         changed(callDone),
		"another output":               changedText(completed, item+`,`+call, item),
		"no output":                    changedText(completed, item+`,`+call, ""),
		"output before there is any":   changedText(created, `"output":[]`, `"output":[`+item+`]`),
		"another status":               changedText(completed, `"status":"completed","instructions"`, `"status":"incomplete","instructions"`),
		"no details of usage":          changedText(completed, `"input_tokens_details":{"cached_tokens":0},`, ""),
		"a failure":                    changed(completed, failed),
		"a failure without an error":   changed(completed, replaced(failed, `{"code":"server_error","message":"m"}`, "null")),
		"something behind the failure": changed(completed, failed, completed),
	}, map[string]string{
		"a reason of a complete answer": changedText(completed, `"incomplete_details":null`, `"incomplete_details":{"reason":"x"}`),
		"no usage":                      changedText(completed, total, `"usage":null`),
		"another total":                 changedText(completed, `"total_tokens":3`, `"total_tokens":4`),
		"a member that is missing":      changedText(completed, `"top_p":1,`, ""),
		"usage before the end":          changedText(created, `"usage":null`, total),
		"not the items that have ended": changed(callAdded, respond("in_progress", responseOf("in_progress", inCourse)), callAdded),
		"an unknown item":               strings.ReplaceAll(numbered(slices.Delete(slices.Clone(whole), 9, 11)...), `"function_call"`, `"telepathy_call"`),
		"log probabilities of a text":   changedText(textDone, `"logprobs":[]`, `"logprobs":[{"token":"a"}]`),
		"half a blank line":             strings.TrimSuffix(numbered(whole...), "\n"),
		"a comment":                     ": keep-alive\n\n" + numbered(whole...),
	}}.check(t)
}

func TestResponsesThatAreNotComplete(t *testing.T) {
	r, err := client.Responses.Read([]byte(numbered(created, added, partAdded, deltaA, failed)))
	require.NoError(t, err)
	assert.Equal(t, &client.Failure{Type: "response.failed", Code: "server_error", Message: "m"}, r.Failure)
	assert.Equal(t, "a", r.Text(), "what was streamed before is read")

	r, err = client.Responses.Read([]byte(event("error", `,"sequence_number":0,"code":"rate_limit_exceeded","message":"m","param":null`)))
	require.NoError(t, err)
	assert.Equal(t, &client.Failure{Type: "error", Code: "rate_limit_exceeded", Message: "m"}, r.Failure)

	_, err = client.Responses.Emitted([]byte(numbered(created, failed)))
	require.ErrorIs(t, err, client.ErrFailed)
	for n := range len(whole) {
		r, err := client.Responses.Read([]byte(numbered(whole[:n]...)))
		require.NoError(t, err)
		assert.False(t, r.Complete, "the first %d events are no complete stream", n)
	}
}

func TestJSONResponses(t *testing.T) {
	r, err := client.Responses.Parse([]byte(`{"id":"r","object":"response","status":"completed","output":[` + item + `],` + total + `}`))
	require.NoError(t, err)
	assert.Equal(t, "ab", r.Text())
	for _, bad := range []string{
		`{"object":"response"}`, `{"id":"r","object":"chat.completion"}`,
		`{"id":"r","object":"response","output":[{"id":"m","type":"reasoning"}]}`,
		`{"id":"r","object":"response","output":[{"type":"message","content":[]}]}`,
		`{"id":"r","object":"response","output":[{"id":"m","type":"message","content":[{"type":"refusal"}]}]}`,
		`{"id":"r","object":"response","usage":{}}`,
	} {
		_, err := client.Responses.Parse([]byte(bad))
		assert.Error(t, err, bad)
	}
}
