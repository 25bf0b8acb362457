package answer

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// native contains what the stream of a native answer (see event.Native) has beside the
// texts and inputs of its blocks.
type native struct {
	stop    []byte // members of the delta in message_delta, each with a comma before it
	members []byte // other members of message_delta
	usage   string
	head    string // of the block that is opened next
	count   int    // of blocks and citations
}

// maxNative bounds the blocks and citations of a native answer, since a few bytes of each
// become an event.
const maxNative = 8192

var (
	errNative = fmt.Errorf("more than %d blocks and citations", maxNative)
	errNoKind = errors.New("a block without a type")
)

// filled contains the members that deltas fill, by the type of the block.
var filled = [...]event.Without{
	textBlock:     {"type": "", "text": "", "citations": "[]"},
	thinkingBlock: {"type": "", "thinking": "", "signature": ""},
	toolUseBlock:  {"type": "", "input": ""},
}

// atEnd contains the members of a message that its beginning does not have.
var atEnd = event.Without{
	"type": "", "error": "", "content": "", "usage": "", "context_management": "",
	"stop_reason": "null", "stop_sequence": "null", "stop_details": "null", "container": "null",
}

// startNative writes the beginning of a whole answer, and keeps the members of its end.
func (m *Emitter) startNative(message []byte) {
	n := &native{usage: `{"input_tokens":0,"output_tokens":0}`}
	for name, value := range jsonscan.Members(message) {
		member := append(jsonscan.AppendString([]byte{','}, name), ':')
		switch {
		case atEnd[string(name)] == "null":
			n.stop = jsonscan.AppendCompact(append(n.stop, member...), value)
		case string(name) == "context_management":
			n.members = jsonscan.AppendCompact(append(n.members, member...), value)
		case string(name) == "usage" && value[0] == '{':
			n.usage = string(jsonscan.AppendCompact(nil, value))
		}
	}
	m.native = n
	m.Written = appendEvent(m.Written, "message_start", `,"message":{"type":"message"`, string(event.AppendNative(nil, message, atEnd)), `,"content":[],"usage":`, n.usage, "}")
}

// nextBlock writes a block, up to the content with which the next events fill it.
func (m *Emitter) nextBlock(block []byte) {
	m.close()
	m.countNative()
	c := jsonscan.Again(block)
	raw := c.TypeAhead()
	if len(raw) <= len(`""`) {
		m.Fail(errNoKind)
		return
	}
	kind := blockKindOf(raw)
	input := jsonscan.MemberOf(block, "input")
	ownTool := (string(raw) == `"server_tool_use"` || string(raw) == `"mcp_tool_use"`) && len(input) > 0 && input[0] == '{'
	if ownTool {
		kind = toolUseBlock
	}
	if kind == unknownBlock || kind == redactedThinkingBlock {
		m.writeBlock(jsonscan.AppendCompact(nil, block))
		return
	}
	m.native.head = string(event.AppendNative(append([]byte(`{"type":`), raw...), block, filled[kind]))
	switch {
	case kind == thinkingBlock:
		m.openThinking()
	case kind == textBlock:
		m.open(textBlock, 0, "")
		m.cite(jsonscan.MemberOf(block, "citations"))
	case ownTool: // no other event contains its input
		m.open(toolUseBlock, 0, "")
		m.block.passing = true
		m.Fragment(jsonscan.AppendCompact(nil, input))
	}
}

// cite writes the citations of the open block.
func (m *Emitter) cite(citations []byte) {
	c := jsonscan.Again(citations)
	for c.OpenArray(); m.Fault() == nil && c.Element(); {
		m.countNative()
		m.blockEvent("content_block_delta", `,"delta":{"type":"citations_delta","citation":`+string(jsonscan.AppendCompact(nil, c.Skip()))+"}")
	}
}

// countNative counts a block or a citation.
func (m *Emitter) countNative() {
	if m.native.count++; m.native.count > maxNative {
		m.Fail(errNative)
	}
}
