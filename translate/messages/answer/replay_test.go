package answer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
)

func TestAReplayKeepsAllMembersOfTheAnswer(t *testing.T) {
	stream, fault := answer.Replay([]byte(`{
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
data: {"type":"content_block_start","index":5,"content_block":{"type":"text","text":"","citations":null}}

event: content_block_stop
data: {"type":"content_block_stop","index":5}

event: content_block_start
data: {"type":"content_block_start","index":6,"content_block":{"type":"tool_use","id":"t","name":"f","input":{},"caller":{"type":"direct"}}}

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
	stream, fault := answer.Replay([]byte(`{"content":[],"usage":null}`), false)
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
	stream, fault := answer.Replay([]byte(`{"content":[{"type":"text","text":null,"citations":null},{"type":"thinking","thinking":null,"signature":null},{"type":"tool_use","id":"t","name":"f","input":null}]}`), false)
	require.Nil(t, fault)
	for _, block := range []string{
		`{"type":"text","text":"","citations":null}`,
		`{"type":"thinking","thinking":"","signature":""}`,
		`{"type":"tool_use","id":"t","name":"f","input":{}}`,
	} {
		assert.Contains(t, string(stream), `"content_block":`+block)
	}
	assert.NotContains(t, string(stream), "content_block_delta")
}

// A type of null was made up for a block without one, which no client knows; and
// answers of nothing but such blocks became streams 47 times as long.
func TestAReplayRefusesBlocksWithoutAType(t *testing.T) {
	for _, block := range []string{`{}`, `{"type":null}`, `{"type":""}`, `{"type":1,"text":"a"}`} {
		stream, fault := answer.Replay([]byte(`{"content":[`+block+`]}`), false)
		assert.NotNil(t, fault, block)
		assert.Empty(t, stream, block)
	}
}

// Two bytes of a citation became an event of a hundred, without an end.
func TestAReplayRefusesWhatWouldBecomeManyTimesAsLong(t *testing.T) {
	const many = 20000
	for name, content := range map[string]string{
		"many blocks":    strings.Repeat(`{"type":"a"},`, many) + `{"type":"a"}`,
		"many citations": `{"type":"text","citations":[` + strings.Repeat(`1,`, many) + `1],"text":""}`,
	} {
		stream, fault := answer.Replay([]byte(`{"content":[`+content+`]}`), false)
		assert.NotNil(t, fault, name)
		assert.Empty(t, stream, name)
	}
}
