package transport

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// A stream that ends without any content is not measured for the order by latency. Each format has its own
// events for what is content.
func TestStreamsWithoutContentAreEmpty(t *testing.T) {
	chat := func(delta, finish string) string {
		return `data: {"id":"c","model":"m1","choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n" +
			`data: {"id":"c","model":"m1","choices":[{"index":0,"delta":{},"finish_reason":"` + finish + `"}]}` + "\n\n" + done
	}
	messages := func(block, stop string) string {
		return "event: message_start\n" + `data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m1","content":[],"usage":{"input_tokens":1,"output_tokens":0}}}` + "\n\n" +
			block + "event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":0}}` + "\n\n" +
			"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
	}
	block := func(start, delta string) string {
		return "event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":` + start + `}` + "\n\n" + delta +
			"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n"
	}
	thought := "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}` + "\n\n"
	gemini := func(parts string) string {
		return `data: {"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"finishReason":"STOP","index":0}]}` + "\n\n"
	}
	for name, test := range map[string]struct {
		format translate.Format
		stream string
		empty  bool
	}{
		"chat":                {translate.Chat, chat(`{"role":"assistant","content":""}`, "stop"), true},
		"chat, text":          {translate.Chat, chat(`{"content":"x"}`, "stop"), false},
		"chat, reasoning":     {translate.Chat, chat(`{"reasoning_content":"x"}`, "stop"), false},
		"chat, a tool call":   {translate.Chat, chat(`{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":""}}]}`, "tool_calls"), false},
		"messages":            {translate.Messages, messages("", "end_turn"), true},
		"messages, a block":   {translate.Messages, messages(block(`{"type":"text","text":""}`, ""), "end_turn"), true},
		"messages, thinking":  {translate.Messages, messages(block(`{"type":"thinking","thinking":"","signature":""}`, thought), "max_tokens"), false},
		"messages, tool call": {translate.Messages, messages(block(`{"type":"tool_use","id":"t","name":"f","input":{}}`, ""), "tool_use"), false},
		"gemini":              {translate.Gemini, gemini(`{"text":""}`), true},
		"gemini, text":        {translate.Gemini, gemini(`{"text":"x"}`), false},
		"gemini, a tool call": {translate.Gemini, gemini(`{"functionCall":{"name":"f","args":{"a":1}}}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &exchange.Conduit{Attempt: *attemptFor(t, test.format, false)}
			res, err := carryUntil(t.Context(), newTransport(streams(test.stream, io.EOF)), c)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.True(t, c.Result.Whole())
			assert.Equal(t, test.empty, c.Result.Empty())
		})
	}
}
