package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// assistantBlock writes a block that only an assistant has.
func (r *reader) assistantBlock(kind blockKind, b blockObject) {
	switch kind {
	case thinkingBlock:
		r.thinking(b)
	case redactedThinkingBlock:
		if r.x.Keep(core.RedactedReasoning, nil) {
			r.parts.thought = core.Thought{From: core.Sealed, Sealed: b.text(memberData)}
			r.w.Reasoning(&r.parts.thought)
		}
	case toolUseBlock:
		if r.x.Keep(core.ToolCall, nil) {
			r.parts.call = core.Call{ID: b.text(memberID), Name: b.text(memberName), Input: b.raw(memberInput)}
			r.w.Call(&r.parts.call)
			r.breakpoint(b, core.CacheCall)
		}
	case serverToolUseBlock:
		r.x.Lose(serverCallRow, nil)
		r.serverCalls++
		r.lastServerAt = r.x.At
	default: // the result of a server tool
		r.x.Lose(serverCallRow, nil)
		r.serverCalls = max(0, r.serverCalls-1)
	}
}

// thinking writes what the assistant thought.
func (r *reader) thinking(b blockObject) {
	t := &r.parts.thought
	*t = core.Thought{Text: b.text(memberThinking), Signature: b.text(memberSignature)}
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

// encrypted writes what a provider of the responses format has encrypted.
func (r *reader) encrypted(t *core.Thought) {
	if r.x.Unseal(t) {
		r.w.Reasoning(t)
	} else {
		r.x.Lose(foreignSealRow, nil)
	}
}
