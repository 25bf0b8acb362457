package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// serverBlock reports the loss of the call of a server tool, or of the result of one.
func (r *reader) serverBlock(kind string) {
	if kind == "server_tool_use" {
		r.serverCalls++
		r.lastServerAt = r.x.At
	} else {
		r.serverCalls = max(0, r.serverCalls-1)
	}
	r.x.Lose(serverCallRow, nil)
}

// call writes the call of a tool.
func (r *reader) call(b *core.Object) {
	if r.x.Keep(core.ToolCall, nil) {
		r.parts.call = core.Call{ID: b.Text("id"), Name: b.Text("name"), Input: b.Raw("input")}
		r.w.Call(&r.parts.call)
		r.breakpoint(b, core.CacheCall)
	}
}

// redactedThinking writes thinking that only its provider can read.
func (r *reader) redactedThinking(b *core.Object) {
	if r.x.Keep(core.RedactedReasoning, nil) {
		r.parts.thought = core.Thought{From: core.Sealed, Sealed: b.Text("data")}
		r.w.Reasoning(&r.parts.thought)
	}
}

// thinking writes a thinking block.
func (r *reader) thinking(b *core.Object) {
	t := &r.parts.thought
	*t = core.Thought{Text: b.Text("thinking"), Signature: b.Text("signature")}
	switch {
	case t.IsEncrypted() && r.x.Can(core.EncryptedReasoning):
		r.encrypted(t)
		return
	case !r.x.Keep(core.Reasoning, nil):
		return
	case len(t.Signature) == 0:
	case bytes.HasPrefix(t.Signature, []byte(seal.SelfSigned)):
		t.From = core.SelfSigned
	case r.x.Keep(core.Signature, nil):
		t.From = core.Signed
	default: // the signature is lost
	}
	if len(t.Text) > 0 || t.From == core.Signed {
		r.w.Reasoning(t)
	}
}

// encrypted writes reasoning that a provider of the responses format has encrypted.
func (r *reader) encrypted(t *core.Thought) {
	if r.x.Unseal(t) {
		r.w.Reasoning(t)
	} else {
		r.x.Lose(foreignSealRow, nil)
	}
}
