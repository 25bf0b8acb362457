package client

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	begin = `event: message_start` + "\n" + `data: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}` + "\n\n"
	open0 = `event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n"
	text0 = `event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}` + "\n\n"
	stop0 = `event: content_block_stop` + "\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n"
	delta = `event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}` + "\n\n"
	end   = `event: message_stop` + "\n" + `data: {"type":"message_stop"}` + "\n\n"
	ping  = `event: ping` + "\n" + `data: {"type": "ping"}` + "\n\n"
	fail  = `event: error` + "\n" + `data: {"type":"error","error":{"type":"api_error","message":"m"}}` + "\n\n"
)

func TestAGoodMessageStreamIsRead(t *testing.T) {
	m, err := ReadMessageStream(strings.NewReader(ping + ": comment\n\n" + begin + open0 + ping + text0 + stop0 + delta + end))
	require.NoError(t, err)
	assert.True(t, m.Complete)
	assert.Equal(t, "x", m.Text())
	assert.Equal(t, 2, m.Pings)
	assert.Equal(t, 3, m.Usage.InputTokens, "absent fields keep their value")
	assert.Equal(t, 7, m.Usage.OutputTokens, "present fields overwrite")

	m, err = ReadMessageStream(strings.NewReader(begin + fail))
	require.NoError(t, err)
	assert.False(t, m.Complete)
	assert.Equal(t, "api_error", m.Failure.Type)
}

func TestABadMessageStreamIsRefused(t *testing.T) {
	for name, stream := range map[string]string{
		"second start":          begin + begin,
		"block before start":    open0,
		"gap":                   begin + strings.Replace(open0, `"index":0`, `"index":1`, 1),
		"two open blocks":       begin + open0 + strings.Replace(open0, `"index":0`, `"index":1`, 1),
		"delta without block":   begin + text0,
		"delta after its stop":  begin + open0 + stop0 + text0,
		"stop twice":            begin + open0 + stop0 + stop0,
		"wrong delta":           begin + open0 + strings.Replace(text0, "text_delta", "thinking_delta", 1),
		"no event line":         "data: {\"type\":\"ping\"}\n\n",
		"another event line":    strings.Replace(ping, "event: ping", "event: pong", 1),
		"end with open block":   begin + open0 + delta + end,
		"end without a reason":  begin + end,
		"event after the end":   begin + delta + end + ping,
		"event after the error": begin + fail + ping,
		"not JSON":              begin + "event: ping\ndata: {\n\n",
	} {
		_, err := ReadMessageStream(strings.NewReader(stream))
		assert.Error(t, err, name)
	}
}

const (
	chunkA = `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}` + "\n\n"
	callA  = `data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"i","type":"function","function":{"name":"f","arguments":""}}]}}]}` + "\n\n"
	finish = `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	tally  = `data: {"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}` + "\n\n"
	done   = "data: [DONE]\n\n"
)

func TestAGoodChatStreamIsRead(t *testing.T) {
	c, err := ReadCompletionStream(strings.NewReader(": keep-alive\n\n" + chunkA + callA + finish + tally + done))
	require.NoError(t, err)
	assert.True(t, c.Complete)
	assert.Equal(t, "a", c.Choices[0].Text)
	assert.Equal(t, 3, c.Usage.TotalTokens)
	assert.Equal(t, "f", c.Choices[0].Message.ToolCalls[0].Function.Name)

	c, err = ReadCompletionStream(strings.NewReader(chunkA + `data: {"error":{"message":"m","type":"server_error"}}` + "\n\n"))
	require.NoError(t, err)
	assert.Equal(t, "server_error", c.Failure.Type)
}

func TestABadChatStreamIsRefused(t *testing.T) {
	for name, stream := range map[string]string{
		"another id":       chunkA + strings.Replace(chunkA, `"c"`, `"d"`, 1),
		"no id":            strings.Replace(chunkA, `"c"`, `""`, 1),
		"usage twice":      tally + tally,
		"call repeated":    callA + callA,
		"call with a gap":  strings.Replace(callA, `[{"index":0,"id"`, `[{"index":1,"id"`, 1),
		"after the finish": finish + chunkA,
		"done too early":   chunkA + done,
		"after the end":    finish + done + chunkA,
		"null error":       `data: {"id":"c","error":null,"choices":[]}` + "\n\n",
		"named event":      "event: x\n" + chunkA,
	} {
		_, err := ReadCompletionStream(strings.NewReader(stream))
		assert.Error(t, err, name)
	}
}
