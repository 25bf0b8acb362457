package pairs

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

func (x *messagesChat) assistantBlock(b *messages.Block) {
	t := &x.turn
	switch string(b.Type) {
	case "text":
		if len(t.calls) > 0 && len(inner(b.Text)) > 0 {
			// Calls have a place of their own: what order they stood in is lost.
			x.losses.AddIn(translate.Shaping, lostMessage, "content")
		}
		x.textBlock(b, &t.block, &t.content)
	case "thinking":
		x.thinkingBlock(b)
	case "redacted_thinking":
		x.losses.AddIn(translate.Hint, lostBlock, "data")
	case "tool_use":
		x.toolUse(b)
	case "server_tool_use":
		x.losses.AddIn(translate.Shaping, lostMessage, "content.*")
		t.serverTurn = t.at
		t.server = place{up: &t.serverTurn, name: "content", index: t.block.index}
		t.serverOpen++
	default:
		if !isServerResult(b.Type) {
			x.refuse(t.block.path("type"), shownText(b.Type))
			return
		}
		x.losses.AddIn(translate.Shaping, lostMessage, "content.*")
		t.serverOpen = max(0, t.serverOpen-1)
	}
}

// isServerResult reports whether blocks of a type hold what a tool returned
// that the vendor ran.
func isServerResult(kind []byte) bool {
	switch string(kind) {
	case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result":
		return true
	}
	return false
}

// mintedPrefix begins the signatures that this gateway gives to reasoning that
// came without one: nothing is lost with them.
const mintedPrefix = "gwts1:"

// thinkingBlock keeps earlier reasoning where the provider takes it back.
func (x *messagesChat) thinkingBlock(b *messages.Block) {
	if x.traits.ReasoningReplay == translate.ReplayNone {
		x.losses.AddIn(translate.Hint, lostBlock, "thinking")
		return
	}
	if text := inner(b.Thinking); len(text) > 0 {
		x.turn.thinking.add(text)
	}
	if s := inner(b.Signature); len(s) > 0 && !bytes.HasPrefix(s, []byte(mintedPrefix)) {
		x.losses.AddIn(translate.Hint, lostBlock, "signature")
	}
}

// toolUse adds a call to the message.
func (x *messagesChat) toolUse(b *messages.Block) {
	t := &x.turn
	x.cached(b, &t.block)
	t.calls = append(t.calls, `,{"id":"`...)
	t.calls = x.appendID(t.calls, b.ID)
	t.calls = append(t.calls, `","type":"function","function":{"name":"`...)
	t.calls = x.appendToolName(t.calls, b.Name)
	t.calls = append(t.calls, `","arguments":"`...)
	t.calls = x.appendArguments(t.calls, b.Input)
	t.calls = append(t.calls, `"}}`...)
}

// appendArguments appends an object as text, escaped.
func (x *messagesChat) appendArguments(dst, input []byte) []byte {
	if len(input) == 0 {
		return append(dst, "{}"...)
	}
	x.scratch = jsonscan.AppendCompact(x.scratch[:0], input)
	return jsonscan.AppendEscaped(dst, x.scratch)
}

// appendID appends the provider's own id of a call, escaped.
func (x *messagesChat) appendID(dst, raw []byte) []byte {
	id := inner(raw)
	if !foreignID(id) {
		return append(dst, id...)
	}
	x.scratch = jsonscan.AppendText(x.scratch[:0], raw)
	return jsonscan.AppendEscaped(dst, translate.AppendOriginalToolID(nil, x.scratch))
}

// foreignID reports whether an escaped id may differ from that of the provider.
func foreignID(id []byte) bool { return isEscaped(id) || bytes.HasPrefix(id, []byte("gwid1_")) }

// appendToolName appends the name by which the provider knows a tool.
func (x *messagesChat) appendToolName(dst, raw []byte) []byte {
	name := inner(raw)
	if translate.PlainToolName(name) {
		return append(dst, name...)
	}
	x.scratch = jsonscan.AppendText(x.scratch[:0], raw)
	return translate.AppendToolName(dst, x.scratch)
}

// endAssistant writes an assistant turn.
func (x *messagesChat) endAssistant() {
	t := &x.turn
	if t.content.empty() && t.thinking.empty() && len(t.calls) == 0 {
		x.hint(emptyTurn)
		return
	}
	x.value = x.value[:0]
	switch {
	case !t.content.empty():
		x.value = t.content.appendTo(x.value)
	case len(t.calls) > 0:
		x.value = append(x.value, "null"...)
	default: // nothing but reasoning, and content must not be missing
		x.value = append(x.value, `""`...)
	}
	x.turns.add(t.at.index, "assistant", nil, x.value, x.assistantTail())
}

// assistantTail is what an assistant turn holds beside content.
func (x *messagesChat) assistantTail() []byte {
	t := &x.turn
	tail := x.scratch[:0]
	if !t.thinking.empty() {
		tail = append(tail, `,"`...)
		tail = append(tail, replayFields[x.traits.ReasoningReplay]...)
		tail = append(tail, `":`...)
		tail = t.thinking.appendTo(tail)
	}
	if len(t.calls) > 0 {
		tail = append(tail, `,"tool_calls":[`...)
		tail = append(tail, t.calls[1:]...)
		tail = append(tail, ']')
	}
	x.scratch = tail
	return tail
}

var replayFields = [...]string{
	translate.ReplayReasoningContent: "reasoning_content",
	translate.ReplayReasoning:        "reasoning",
}
