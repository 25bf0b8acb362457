package client

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

const (
	created   = `response.created ,"response":{"id":"r","object":"response","status":"in_progress","output":[],"usage":null}`
	added     = `response.output_item.added ,"output_index":0,"item":{"id":"m","type":"message","role":"assistant","status":"in_progress","content":[]}`
	part      = `response.content_part.added ,"output_index":0,"item_id":"m","content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`
	textDelta = `response.output_text.delta ,"output_index":0,"item_id":"m","content_index":0,"delta":"x"`
	textDone  = `response.output_text.done ,"output_index":0,"item_id":"m","content_index":0,"text":"x"`
	partDone  = `response.content_part.done ,"output_index":0,"item_id":"m","content_index":0,"part":{"type":"output_text","text":"x"}`
	message   = `{"id":"m","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"x"}]}`
	itemDone  = `response.output_item.done ,"output_index":0,"item":` + message
	usage     = `{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":3}`
	completed = `response.completed ,"response":{"id":"r","object":"response","status":"completed","output":[` + message + `],"usage":` + usage + `}`
	failed    = `response.failed ,"response":{"id":"r","object":"response","status":"failed","output":[],"error":{"code":"server_error","message":"m"}}`
	callAdded = `response.output_item.added ,"output_index":0,"item":{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":""}`
	callDelta = `response.function_call_arguments.delta ,"output_index":0,"item_id":"fc","delta":"{}"`
	errorFlat = `error ,"code":"rate_limit_exceeded","message":"m","param":null`
)

func TestAGoodResponseStreamIsRead(t *testing.T) {
	whole := []string{created, added, part, textDelta, textDone, partDone, itemDone, completed}
	r, err := ReadResponseStream(strings.NewReader(gatewaytest.ResponseEvents(whole...)))
	require.NoError(t, err)
	assert.True(t, r.Complete)
	assert.Equal(t, "x", r.Text())
	assert.Equal(t, 3, *r.Usage.TotalTokens)

	for n := range len(whole) - 1 {
		r, err := ReadResponseStream(strings.NewReader(gatewaytest.ResponseEvents(whole[:n]...)))
		require.NoError(t, err)
		assert.False(t, r.Complete, "the first %d events are not a complete stream", n)
	}
}

func TestAFailedResponseKeepsWhatWasStreamed(t *testing.T) {
	r, err := ReadResponseStream(strings.NewReader(gatewaytest.ResponseEvents(created, added, part, textDelta, failed)))
	require.NoError(t, err)
	assert.False(t, r.Complete)
	assert.Equal(t, "server_error", r.Failure.Code)
	assert.Equal(t, "x", r.Text())

	r, err = ReadResponseStream(strings.NewReader(gatewaytest.ResponseEvents(errorFlat)))
	require.NoError(t, err)
	assert.Equal(t, Failure{Type: "error", Code: "rate_limit_exceeded", Message: "m"}, *r.Failure)
}

func TestABadResponseStreamIsRefused(t *testing.T) {
	whole := []string{created, added, part, textDelta, textDone, partDone, itemDone}
	ending := func(last string) []string { return append(whole[:len(whole):len(whole)], last) }
	for name, events := range map[string][]string{
		"item before created":      {added},
		"another id":               {created, strings.Replace(created, `"id":"r"`, `"id":"s"`, 1)},
		"gap in the items":         {created, strings.Replace(added, `"output_index":0`, `"output_index":1`, 1)},
		"two open items":           {created, added, strings.Replace(added, `"output_index":0`, `"output_index":1`, 1)},
		"announced with content":   {created, strings.Replace(added, `"content":[]`, `"content":[{"type":"output_text","text":"x"}]`, 1)},
		"announced without any":    {created, strings.Replace(added, `,"content":[]`, ``, 1)},
		"call without arguments":   {created, strings.Replace(callAdded, `,"arguments":""`, ``, 1)},
		"delta without item":       {created, textDelta},
		"delta without part":       {created, added, textDelta},
		"delta of another item":    {created, added, part, strings.Replace(textDelta, `"item_id":"m"`, `"item_id":"n"`, 1)},
		"delta of another type":    {created, added, part, strings.Replace(callDelta, `"fc"`, `"m"`, 1)},
		"delta after its item":     ending(textDelta),
		"part without text":        {created, added, strings.Replace(part, `"text":"",`, ``, 1)},
		"gap in the parts":         {created, added, strings.Replace(part, `"content_index":0`, `"content_index":1`, 1)},
		"done is not the sum":      {created, added, part, textDelta, strings.Replace(textDone, `"text":"x"`, `"text":""`, 1)},
		"item is not the sum":      {created, added, part, textDelta, textDone, partDone, strings.Replace(itemDone, `"text":"x"`, `"text":"y"`, 1)},
		"output is not the sum":    ending(strings.Replace(completed, `"text":"x"`, `"text":"y"`, 1)),
		"output is empty":          ending(strings.Replace(completed, message, ``, 1)),
		"end with an open item":    {created, added, part, textDelta, completed},
		"usage without a count":    ending(strings.Replace(completed, `"reasoning_tokens":0`, ``, 1)),
		"status of another end":    ending(strings.Replace(completed, `"status":"completed","output"`, `"status":"failed","output"`, 1)),
		"failed without an error":  {created, strings.Replace(failed, `,"error":{"code":"server_error","message":"m"}`, ``, 1)},
		"event after the end":      append(ending(completed), completed),
		"event after the error":    {created, failed, created},
		"an unknown event":         {created, added, `response.reasoning_part.added ,"output_index":0,"item_id":"m"`},
		"chat's end of the stream": ending(`[DONE]`),
	} {
		_, err := ReadResponseStream(strings.NewReader(gatewaytest.ResponseEvents(events...)))
		assert.Error(t, err, name)
	}
}

func TestTheEventsOfAResponseAreNumberedWithoutAGap(t *testing.T) {
	text := gatewaytest.ResponseEvents(created, added)
	_, err := ReadResponseStream(strings.NewReader(strings.Replace(text, `"sequence_number":1`, `"sequence_number":2`, 1)))
	assert.ErrorContains(t, err, "sequence_number")
	_, err = ReadResponseStream(strings.NewReader(strings.Replace(text, "event: response.created", "event: created", 1)))
	assert.ErrorContains(t, err, "typed")
}

func TestAJSONResponseIsRead(t *testing.T) {
	r, err := ParseResponse([]byte(`{"id":"r","object":"response","status":"completed","output":[` + message + `],"usage":` + usage + `}`))
	require.NoError(t, err)
	assert.Equal(t, "x", r.Text())
	for _, bad := range []string{
		`{"object":"response"}`, `{"id":"r","object":"chat.completion"}`,
		`{"id":"r","object":"response","output":[{"id":"m","type":"reasoning"}]}`,
		`{"id":"r","object":"response","output":[{"type":"message","content":[]}]}`,
		`{"id":"r","object":"response","usage":{}}`,
	} {
		_, err := ParseResponse([]byte(bad))
		assert.Error(t, err, bad)
	}
}
