package pairs

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// assistantTurn adds what the assistant has thought, said and called, in this
// order.
func (x *chatMessages) assistantTurn(m *chat.Message) {
	switch {
	case m.FunctionCall != nil:
		x.refuse(x.turnPath("function_call"), "")
	case m.Audio != nil:
		x.refuse(x.turnPath("audio"), "")
	}
	signed := x.thinking(m)
	if len(inner(m.Content)) > 0 {
		x.dialog.text("assistant", m.Content)
	}
	for p := x.parts(m.Content); p != nil; p = x.nextPart() {
		x.assistantPart(p)
	}
	if refusal := x.refusal(m); len(refusal) > 0 {
		x.dialog.text("assistant", m.Refusal)
	}
	if x.calls(m.ToolCalls) && !signed {
		x.unsigned = true
	}
}

func (x *chatMessages) assistantPart(p *chat.Part) {
	switch string(inner(p.Type)) {
	case "text":
		x.textPart(&x.dialog, "assistant", p)
	case "refusal":
		if len(inner(p.Refusal)) > 0 {
			x.dialog.text("assistant", p.Refusal)
			x.breakpoint(&x.dialog, p, true)
		}
	default:
		x.refuse(x.itemPath("type"), shown(p.Type))
	}
}

// thinking adds the thinking that a provider has signed, and reports whether
// there is any. No messages provider takes thinking without a signature.
func (x *chatMessages) thinking(m *chat.Message) (signed bool) {
	x.in, x.item = "thinking_blocks", -1
	for x.list.Begin(m.ThinkingBlocks, x); x.fault == nil; {
		x.item++
		b := x.list.Part(chat.InThinking)
		if b == nil {
			break
		}
		x.mindStrays(b)
		signed = x.thinkingBlock(b) || signed
	}
	if m.ThinkingBlocks == nil || isEmptyList(m.ThinkingBlocks) {
		x.unsignedReasoning("reasoning_content", m.ReasoningContent)
		x.unsignedReasoning("reasoning", m.Reasoning)
	}
	return signed
}

// unsignedReasoning reports the loss of reasoning.
func (x *chatMessages) unsignedReasoning(member string, raw []byte) {
	if raw != nil && string(raw) != `""` {
		x.losses.AddIn(translate.Shaping, lostTurn, member)
	}
}

// thinkingBlock adds a block, with the very bytes of what was signed. What this
// gateway signed itself nobody could verify.
func (x *chatMessages) thinkingBlock(b *chat.Part) bool {
	d := &x.dialog
	switch kind := string(inner(b.Type)); {
	case kind == "redacted_thinking" && len(inner(b.Data)) > 0:
		d.begin("assistant", `{"type":"redacted_thinking","data":`)
		d.buf = append(d.buf, b.Data...)
	case kind == "redacted_thinking", kind == "thinking" && len(inner(b.Signature)) == 0:
		x.losses.AddIn(translate.Shaping, lostTurn, "thinking_blocks")
		return false
	case kind != "thinking":
		x.refuse(x.itemPath("type"), shown(b.Type))
		return false
	case isMinted(b):
		x.losses.AddIn(translate.Hint, lostTurn, "thinking_blocks")
		return false
	default:
		d.begin("assistant", `{"type":"thinking","thinking":`)
		d.buf = append(d.buf, orEmpty(b.Thinking)...)
		d.buf = append(append(d.buf, `,"signature":`...), b.Signature...)
	}
	d.buf = append(d.buf, '}')
	return true
}

// isMinted reports whether the signature of a block is the one that this gateway
// gives to such thinking.
func isMinted(b *chat.Part) bool {
	if !bytes.HasPrefix(inner(b.Signature), []byte(mintedPrefix)) {
		return false
	}
	return string(messages.AppendMinted(nil, jsonscan.AppendText(nil, b.Thinking))) == textOf(b.Signature)
}

func orEmpty(raw []byte) []byte {
	if !isString(raw) {
		return []byte(`""`)
	}
	return raw
}

// calls adds the calls, and reports whether there are any.
func (x *chatMessages) calls(raw []byte) (any bool) {
	x.in, x.item = "tool_calls", -1
	for x.list.Begin(raw, x); x.fault == nil; any = true {
		x.item++
		call := x.list.Tool(chat.InCall)
		if call == nil {
			break
		}
		x.call(call)
	}
	return any
}

const openCall = `{"type":"tool_use","id":"`

func (x *chatMessages) call(call *chat.Tool) {
	if call.Type != nil && string(inner(call.Type)) != "function" {
		x.refuse(x.itemPath("type"), shown(call.Type))
		return
	}
	d := &x.dialog
	f := x.inside.Function(call.Function, chat.InCallFunction, x)
	x.callStrays(f)
	d.begin("assistant", openCall)
	d.buf = x.appendID(d.buf, call.ID)
	d.buf = append(d.buf, `","name":`...)
	d.buf = append(d.buf, f.Name...)
	d.buf = append(d.buf, `,"input":`...)
	x.scratch = jsonscan.AppendText(x.scratch[:0], f.Arguments)
	input, ok := translate.ArgumentsObject(x.scratch)
	if !ok {
		x.refuse(x.itemPath("function.arguments"), "")
	}
	d.buf = append(append(d.buf, input...), '}')
	if call.CacheControl != nil {
		x.mark(d, call.CacheControl, "cache_control", lostCall)
	}
}
