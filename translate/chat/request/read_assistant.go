package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readReasoning writes the reasoning of the assistant: blocks that a provider may have
// signed, or else unsigned texts.
func (r *reader) readReasoning() {
	m, x := &r.message, r.x
	raw := m.Raw("thinking_blocks")
	blocks := !jsonscan.Blank(raw)
	if !blocks || !x.Can(core.Reasoning) {
		for _, row := range [...]*core.Row{reasoningTextRow, reasoningRow} {
			text := m.Raw(row.Path[len(ofMessage):])
			if text != nil && string(text) != `""` && x.KeepAs(core.UnsignedReasoning, row, nil) {
				r.args.thought = core.Thought{Text: jsonscan.Inner(text)}
				r.w.Reasoning(&r.args.thought)
			}
		}
	}
	switch {
	case !blocks:
	case raw[0] != '[':
		x.Invalid("thinking_blocks", "must be an array of objects")
	case x.Can(core.EncryptedReasoning) || x.Keep(core.Reasoning, nil):
		c := jsonscan.Again(raw)
		for x.EnterList(&c, "thinking_blocks"); x.NextElement(&c); {
			r.part.Read(x, &c, thoughtMembers, "")
			if thought, ok := r.thinkingBlock(); ok {
				r.args.thought = thought
				r.w.Reasoning(&r.args.thought)
			}
		}
	}
}

// thinkingBlock returns the reasoning of the block at hand. ok is false if the writer does
// not get it.
func (r *reader) thinkingBlock() (t core.Thought, ok bool) {
	b, x := &r.part, r.x
	t = core.Thought{Text: b.Text("thinking"), Signature: b.Text("signature")}
	if t.IsEncrypted() && x.Can(core.EncryptedReasoning) { // by a provider of the responses format
		if ok = x.Unseal(&t); !ok {
			x.Lose(foreignSealRow, nil)
		}
		return t, ok
	}
	if !x.Keep(core.Reasoning, nil) {
		return t, false
	}
	s := b.Shape()
	b.LoseOthers(x, s)
	switch {
	case s.Type() == "thinking" && len(t.Signature) > 0:
		t.Origin = core.Signed
		return t, x.Keep(core.Signature, nil)
	case s.Type() == "thinking":
		return t, x.KeepAs(core.UnsignedReasoning, unsignedThoughtRow, nil) && len(t.Text) > 0
	case s.Type() != "redacted_thinking":
		x.Lose(unknownThoughtRow, b.Raw("type"))
		return t, false
	}
	t = core.Thought{Origin: core.Sealed, Sealed: b.Text("data")}
	if len(t.Sealed) == 0 {
		x.Lose(emptyThoughtRow, nil)
		return t, false
	}
	return t, x.Keep(core.RedactedReasoning, nil)
}

// readRefusal writes the text by which the assistant refuses, and reports whether there is one. A
// value of another kind is lost.
func (r *reader) readRefusal(raw []byte) bool {
	if raw != nil && !jsonscan.IsString(raw) {
		r.x.LoseMember("", []byte("refusal"))
	}
	text := jsonscan.Inner(raw)
	if len(text) > 0 {
		r.w.Refusal(text)
	}
	return len(text) > 0
}

// readCalls writes the calls of tools, and reports whether the writer got any.
func (r *reader) readCalls() (written bool) {
	x, raw := r.x, r.message.Raw("tool_calls")
	if raw == nil || jsonscan.IsEmptyList(raw) || !x.Keep(core.ToolCall, nil) {
		return false
	}
	c := jsonscan.Again(raw)
	for x.EnterList(&c, "tool_calls"); x.NextElement(&c); {
		r.part.Read(x, &c, callMembers, "")
		kind, called, input, members := r.part.Raw("type"), "function", "arguments", functionCall
		switch {
		case kind == nil, string(jsonscan.DecodedOf(kind)) == "function":
		case string(jsonscan.DecodedOf(kind)) != "custom":
			x.Lose(unknownCallRow, kind)
			continue
		case x.Keep(core.FreeCall, kind):
			called, input, members = "custom", "input", freeCall
		default:
			continue
		}
		r.part.LoseOthers(x, callMembers.Named(called))
		r.inner.ReadRaw(x, r.part.Raw(called), members, called)
		call := &r.args.call
		*call = core.Call{ID: r.part.Text("id"), Name: r.inner.Text("name"), Text: r.inner.Text(input), Free: called == "custom"}
		if raw := r.part.Raw("extra_content"); !jsonscan.Blank(raw) && x.Keep(core.CallSignature, nil) {
			if call.Signature = signatureOf(raw); call.Signature == nil {
				x.Lose(unknownExtraRow, nil)
			}
		}
		if call.Free {
			if r.freeCalls == nil {
				r.freeCalls = make(map[string]bool)
			}
			r.freeCalls[string(call.ID)] = true
		}
		r.w.Call(call)
		written = true
		if raw := r.part.Raw(cacheControl.member); raw != nil && x.Keep(core.CacheCall, nil) {
			cacheControl.write(x, r.w, raw)
		}
	}
	return written
}

// signatureOf returns the escaped signature of a call in its extra_content, which the chat
// endpoints of Google fill: {"google":{"thought_signature":"..."}}. Those of Vertex AI name it
// "vertex". It returns nil for other contents.
func signatureOf(extra []byte) (signature []byte) {
	for _, content := range jsonscan.Members(extra) {
		for name, value := range jsonscan.Members(content) {
			if string(name) == "thought_signature" && jsonscan.IsString(value) {
				signature = jsonscan.Inner(value)
			}
		}
	}
	return signature
}
