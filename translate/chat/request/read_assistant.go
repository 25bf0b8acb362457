package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// reasoning writes the reasoning of the assistant: blocks that a provider may have
// signed, or else an unsigned text.
func (r *reader) reasoning() {
	raw := r.message.Raw("thinking_blocks")
	blocks := !jsonscan.Blank(raw)
	if !blocks || !r.x.Can(core.Reasoning) {
		r.unsigned(reasoningTextRow, r.message.Raw("reasoning_content"))
		r.unsigned(reasoningRow, r.message.Raw("reasoning"))
	}
	switch {
	case !blocks:
	case raw[0] != '[':
		r.x.Invalid("thinking_blocks", "must be an array of objects")
	case r.x.Can(core.EncryptedReasoning) || r.x.Keep(core.Reasoning, nil):
		for r.elements(raw, "thinking_blocks"); r.element(); {
			r.item.Read(r.x, &r.list, partShapes, "")
			r.thinkingBlock()
		}
	}
}

// unsigned writes an unsigned text of reasoning.
func (r *reader) unsigned(row *core.Row, raw []byte) {
	if raw != nil && string(raw) != `""` && r.x.KeepAs(core.UnsignedReasoning, row, nil) {
		r.think(core.Thought{Text: jsonscan.Inner(raw)})
	}
}

func (r *reader) think(t core.Thought) {
	r.parts.thought = t
	r.w.Reasoning(&r.parts.thought)
}

func (r *reader) thinkingBlock() {
	t := core.Thought{Text: r.item.Text("thinking"), Signature: r.item.Text("signature")}
	s := r.item.Shape()
	switch {
	case t.IsEncrypted() && r.x.Can(core.EncryptedReasoning):
		r.encrypted(t)
	case !r.x.Keep(core.Reasoning, nil):
	case s.Type() == "thinking":
		r.item.LoseOthers(r.x, s)
		r.thinking(t)
	case s.Type() == "redacted_thinking":
		r.item.LoseOthers(r.x, s)
		r.redactedThinking()
	default:
		r.x.Lose(unknownThoughtRow, r.item.Raw("type"))
	}
}

// encrypted writes reasoning that a provider of the responses format has encrypted.
func (r *reader) encrypted(t core.Thought) {
	if r.x.Unseal(&t) {
		r.think(t)
	} else {
		r.x.Lose(foreignSealRow, nil)
	}
}

func (r *reader) thinking(t core.Thought) {
	switch {
	case len(t.Signature) == 0:
		if r.x.KeepAs(core.UnsignedReasoning, unsignedThoughtRow, nil) && len(t.Text) > 0 {
			r.think(t)
		}
	case r.x.Keep(core.Signature, nil):
		t.From = core.Signed
		r.think(t)
	}
}

func (r *reader) redactedThinking() {
	t := core.Thought{From: core.Sealed, Sealed: r.item.Text("data")}
	if len(t.Sealed) == 0 {
		r.x.Lose(emptyThoughtRow, nil)
	} else if r.x.Keep(core.RedactedReasoning, nil) {
		r.think(t)
	}
}

// calls writes the calls of tools.
func (r *reader) calls() {
	raw := r.message.Raw("tool_calls")
	if raw == nil || jsonscan.IsEmptyList(raw) || !r.x.Keep(core.ToolCall, nil) {
		return
	}
	for r.elements(raw, "tool_calls"); r.element(); {
		r.item.Read(r.x, &r.list, callShapes, "")
		r.call()
	}
}

func (r *reader) call() {
	switch kind := r.item.Raw("type"); {
	case kind == nil, string(jsonscan.DecodedOf(kind)) == "function":
		r.readCall("function", "arguments")
	case string(jsonscan.DecodedOf(kind)) != "custom":
		r.x.Lose(unknownCallRow, kind)
		return
	case r.x.Keep(core.FreeCall, kind):
		r.readCall("custom", "input")
		r.parts.call.Free = true
		r.freeCalls = append(r.freeCalls, r.parts.call.ID)
	default:
		return
	}
	r.w.Call(&r.parts.call)
	if raw := r.item.Raw("cache_control"); raw != nil && r.x.Keep(core.CacheCall, nil) {
		r.writeBreakpoint(raw, "cache_control")
	}
}

// readCall reads a call of a type. The member with the name of the type is the object
// of the call, in which the member arguments contains the arguments.
func (r *reader) readCall(kind, arguments string) {
	r.item.LoseOthers(r.x, callShapes.Named(kind))
	r.readInner(r.item.Raw(kind), calledShapes, kind)
	r.parts.call = core.Call{ID: r.item.Text("id"), Name: r.inner.Text("name"), Text: r.inner.Text(arguments)}
}
