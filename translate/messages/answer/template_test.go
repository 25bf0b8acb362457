package answer_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// alike are events of which most have the shape of another but for something
// that must not be overlooked.
var alike = []string{
	delta(0, `{"type":"text_delta","text":"a"}`),
	delta(0, `{"type":"text_delta","text":"b\n\u00e9\""}`),
	delta(0, `{"type":"text_delta","text":""}`),
	delta(0, `{"type":"text_delta","text":"a\"}`),
	delta(0, `{"type":"text_delta","text":null}`),
	delta(0, `{"type":"text_delta","text":"a","text":"b"}`),
	delta(0, `{"type":"text_delta","text":"a"},"usage":{"output_tokens":9}`),
	delta(0, `{"type":"text_delta","text":"a","signature":"s"}`),
	delta(0, `{"type":"text_delta","text":"a","citation":{}}`),
	delta(0, `{"type":"text_delta","text":"a","partial_json":"x"}`),
	delta(0, `{"type":"text_delta","text":"a","partial_json":"y"}`),
	delta(0, `{"type":"thinking_delta","thinking":"a"}`),
	delta(1, `{"type":"thinking_delta","thinking":"b"}`),
	delta(1, `{"type":"signature_delta","signature":"s"}`),
	delta(2, `{"type":"input_json_delta","partial_json":"{"}`),
	delta(2, `{"type":"input_json_delta","partial_json":"}"}`),
	delta(2, `{"type":"text_delta","text":"a"}`),
	delta(3, `{"type":"text_delta","text":"a"}`),
	"message_delta|" + delta(0, `{"type":"text_delta","text":"a"}`),
	"ping|" + delta(0, `{"type":"text_delta","text":"a"}`),
	"|" + delta(0, `{"type":"text_delta","text":"a"}`),
	`{"type":"message_delta","delta":{"stop_reason":"end_turn","text":"a"}}`,
	`{"type":"message_delta","delta":{"stop_reason":"end_turn","text":"b"}}`,
	`{"type":"content_block_start","index":4,"content_block":{"type":"text","text":"x"},"delta":{"text":"a"}}`,
	`{"type":"content_block_start","index":4,"content_block":{"type":"text","text":"x"},"delta":{"text":"b"}}`,
	closes(0), closes(1), closes(2),
	opens(0, `{"type":"text","text":""}`),
	opens(2, `{"type":"tool_use","id":"t","name":"f","input":{}}`),
	delta(0, `{"type":"text_delta","text":"a"}`) + "}",
}

// TestDeltasOfOneShapeGiveTheSameEvents ensures that a delta with the shape of the one before is
// read completely, also after an event without content.
func TestDeltasOfOneShapeGiveTheSameEvents(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	other := delta(99, `{"type":"other_delta"}`)
	begin := []string{
		`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}`,
		opens(0, `{"type":"text","text":""}`), opens(1, `{"type":"thinking","thinking":""}`), opens(2, `{"type":"tool_use","id":"t","name":"f","input":{}}`),
	}
	for range 1000 {
		quick, slow := begin, begin
		for range 2 + random.IntN(6) {
			event := alike[random.IntN(len(alike))]
			for range 1 + random.IntN(2) {
				quick = append(quick[:len(quick):len(quick)], event)
				slow = append(slow[:len(slow):len(slow)], other, event)
			}
		}
		require.Equal(t, parse(slow, true), parse(quick, true), "%q", quick)
	}
}
