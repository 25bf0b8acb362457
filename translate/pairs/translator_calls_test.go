package pairs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// toolStream is a stream of n whole tool calls with ids of that many bytes.
func toolStream(format translate.Format, n, size int) []byte {
	events := []string{`{"type":"message_start","message":{"model":"m"}}`}
	var deltas []string
	for i := range n {
		id := fmt.Sprintf("%0*d", size, i)
		events = append(events,
			fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"%s","name":"f","input":{}}}`, i, id),
			fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
		deltas = append(deltas, fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"%s","function":{"name":"f","arguments":"{}"}}]}`, i, id))
	}
	if format == translate.Messages {
		return messagesStream(append(events, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`)...)
	}
	return chatStream(deltas, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")
}

// The calls of a messages stream were remembered however many came: a stream of
// 400 MB took 700 MB of memory.
func TestToolCallsOfAnAnswerAreBounded(t *testing.T) {
	for _, w := range []way{{translate.Messages, translate.Chat}, {translate.Chat, translate.Messages}} {
		for name, tt := range map[string]struct {
			calls, size int
			whole       bool
		}{
			"as many as there may be": {4096, 8, true},
			"one more":                {4097, 8, false},
			"short ids":               {100, 9, true},
			"ids that fill an event":  {100, 101, false},
		} {
			m := w.remembered(true)
			if tt.calls < 4096 {
				m.MaxHeld = 10_000
			}
			o := translated(w, m, [][]byte{toolStream(w.source, tt.calls, tt.size)}, true)
			assert.Equal(t, tt.whole, o.Finished(), "%s, %s", w.name(), name)
			if !tt.whole {
				require.NotNil(t, o.Fault(), name)
				assert.Equal(t, "upstream_invalid_response", o.Fault().Code, name)
				requireUnfinished(t, o)
			}
		}
	}
}
