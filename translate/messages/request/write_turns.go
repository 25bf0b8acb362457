package request

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// turnWriter is the turn that is being written.
type turnWriter struct {
	blocks *blockBuffer
	author core.Role
	role   string // of the message; "" in the system prompt
	start  int    // the position of the first block
	signed bool   // the turn has thinking that a provider can verify
	called bool   // the turn calls tools
	blank  bool   // the last part was left out
}

// Turn begins a turn.
func (w *requestWriter) Turn(role core.Role) {
	w.turn = turnWriter{blocks: &w.messages, author: role}
	switch role {
	case core.User:
		w.turn.role = "user"
	case core.Assistant:
		w.turn.role = "assistant"
	case core.System:
		w.turn.role = w.lateRole()
	}
	if w.turn.role == "" {
		w.turn.blocks = &w.system
	} else {
		w.last = w.x.At
	}
	w.turn.start = len(w.turn.blocks.buf)
}

// lateRole returns the role of a late system text, "" if the text joins the system
// prompt. The format has such texts only behind a user.
func (w *requestWriter) lateRole() string {
	switch cmp.Or(w.x.Traits.MidSystem, lateSystem) {
	case trait.MidSystemUser:
		return "user"
	case trait.MidSystemKeep:
		if w.messages.role == "user" || w.messages.role == "system" {
			return "system"
		}
		w.x.Keep(core.SystemBehindAssistant, nil)
	}
	return ""
}

// EndTurn ends the turn.
func (w *requestWriter) EndTurn() {
	if len(w.turn.blocks.buf) == w.turn.start {
		w.x.Keep(core.EmptyTurn, nil)
	}
	if w.turn.called && !w.turn.signed {
		w.unsigned = true
	}
}

// begin begins a block of the turn, or of the result of a tool in it, with its
// first bytes. The caller appends the rest to the buffer.
func (w *requestWriter) begin(first string) *blockBuffer {
	w.marking, w.turn.blank = w.turn.blocks, false
	if w.result.open {
		w.result.toArray(&w.messages)
		w.messages.begin("", first)
		return &w.messages
	}
	if w.turn.role == "user" {
		w.unsigned = false
	}
	w.turn.blocks.begin(w.turn.role, first)
	return w.turn.blocks
}

// Text adds a text, unless it is blank.
func (w *requestWriter) Text(text []byte) {
	if w.turn.blank = core.LeaveOut(w.x, w.turn.author, text); w.turn.blank {
		return
	}
	if w.result.open && w.result.setText(&w.messages, text) {
		w.marking = &w.messages
		return
	}
	b := w.begin(openText)
	if b.endText(text); w.result.open {
		b.settle()
	}
}

// Refusal adds a text by which the assistant refuses. The format has no part of its own
// for refusals.
func (w *requestWriter) Refusal(text []byte) { w.Text(text) }

// Reasoning adds thinking with the bytes that a provider has signed. No provider can
// verify thinking that this gateway has signed.
func (w *requestWriter) Reasoning(t *core.Thought) {
	switch {
	case t.Origin == core.Sealed:
		b := w.begin(`{"type":"redacted_thinking","data":"`)
		b.buf = append(append(b.buf, t.Sealed...), `"}`...)
	case t.IsEncrypted():
		w.x.Keep(core.EncryptedReasoning, nil)
		return
	case seal.IsSelfSigned(t.Text, t.Signature):
		w.x.Keep(core.SelfSignedReasoning, nil)
		return
	default:
		b := w.begin(`{"type":"thinking","thinking":"`)
		b.buf = append(append(b.buf, t.Text...), `","signature":"`...)
		b.buf = append(append(b.buf, t.Signature...), `"}`...)
	}
	w.turn.signed = true
}

// openCall begins the call of a tool.
const openCall = `{"type":"tool_use","id":"`

// Call adds the call of a tool.
func (w *requestWriter) Call(c *core.Call) {
	w.turn.called = true
	input := core.InputOf(w.x, c, &w.scratch)
	b := w.begin(openCall)
	b.buf = appendID(b.buf, c.ID)
	b.buf = w.names.AppendTo(append(b.buf, `","name":"`...), c.Name)
	b.buf = append(append(append(b.buf, `","input":`...), input...), '}')
}

// appendID appends the escaped id of a call in the form that the format allows.
func appendID(dst, id []byte) []byte {
	switch {
	case len(id) == 0:
		return dst
	case jsonscan.HasEscapes(id):
		id = jsonscan.AppendUnescaped(nil, id)
	}
	return toolcall.AppendID(dst, id)
}

// CacheBreakpoint marks the last block. ttl is one of the lifetimes of the format.
func (w *requestWriter) CacheBreakpoint(ttl []byte) {
	if w.turn.blank { // the block is not there
		w.x.Keep(core.CachePartsBeyond, nil)
		return
	}
	if w.result.open {
		w.result.toArray(&w.messages)
	}
	w.marking.mark(ttl)
}
