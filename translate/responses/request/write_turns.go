package request

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// turnWriter is the turn being written.
type turnWriter struct {
	role    core.Role
	content parts.Content
	lines   bool // a text of several lines is open
	began   bool // the turn has an item

	// An assistant's:
	pending []byte // reasoning items that nothing follows yet
}

// forget lets go of the body.
func (t *turnWriter) forget() (kept int) { return t.content.Forget() + cap(t.pending) }

// Turn begins a turn.
func (w *requestWriter) Turn(role core.Role) {
	t := &w.turn
	t.role, t.began, t.pending = role, false, t.pending[:0]
	switch role {
	case core.Instructions, core.System:
		t.content.Reset(openInput, parts.BlankLine)
	case core.User:
		t.content.Reset(openInput, parts.LineFeed)
	default:
		t.content.Reset(openOutput, "")
	}
}

// EndTurn writes the turn.
func (w *requestWriter) EndTurn() {
	t := &w.turn
	switch t.role {
	case core.Instructions:
		w.endInstructions()
		return
	case core.System:
		w.endSystem()
		return
	case core.Assistant:
		w.endMessage()
		if len(t.pending) > 0 {
			w.x.Keep(core.IdleReasoning, nil)
			t.began = true
		}
	case core.User:
		w.message(roleUser)
	}
	if !t.began {
		w.x.Keep(core.EmptyTurn, nil)
	}
}

// endInstructions writes a text of the system in front: the first one apart, the others
// as messages.
func (w *requestWriter) endInstructions() {
	c := &w.turn.content
	switch {
	case c.Empty():
	case w.system.Empty():
		w.system.Join(c)
	default:
		w.leading.message(w.x.At, parts.SystemRole(w.x.Traits), c)
	}
}

// endSystem writes a late text of the system where the provider can have it.
func (w *requestWriter) endSystem() {
	c := &w.turn.content
	switch mid := cmp.Or(w.x.Traits.MidSystem, lateSystem); {
	case mid == trait.MidSystemHoist, mid == trait.MidSystemUser && w.items.empty():
		w.hoisted.Join(c)
	case mid == trait.MidSystemUser:
		w.message(roleUser)
	default:
		w.message(parts.SystemRole(w.x.Traits))
	}
}

// message writes the texts of the turn as a message, if there are any.
func (w *requestWriter) message(role string) {
	if c := &w.turn.content; !c.Empty() {
		w.turn.began = true
		w.items.message(w.x.At, role, c)
	}
}

// endMessage writes the texts of the assistant since its last reasoning or call.
func (w *requestWriter) endMessage() {
	w.message(roleAssistant)
	w.turn.content.Reset(openOutput, "")
}

// to returns the content that the next part is added to. The texts of a tool's result,
// and those of the system, are joined; messages of users and assistants keep their parts.
func (w *requestWriter) to() *parts.Content {
	c := &w.turn.content
	switch {
	case w.result.open:
		return &w.result.content
	case w.turn.role == core.Assistant:
		if c.Empty() {
			w.follow()
		}
		c.ToArray()
	case w.turn.role == core.User && !c.Empty():
		c.ToArray()
	}
	return c
}

// Text adds a text to what is open.
func (w *requestWriter) Text(text []byte) {
	if w.turn.lines {
		c := w.open()
		c.Buf = append(append(c.Buf, parts.LineFeed...), text...)
		return
	}
	w.to().AddText(text)
}

// open returns the content that is open.
func (w *requestWriter) open() *parts.Content {
	if w.result.open {
		return &w.result.content
	}
	return &w.turn.content
}

// Refusal adds a text by which the assistant refuses.
func (w *requestWriter) Refusal(text []byte) {
	c := w.to()
	c.Part(`{"type":"refusal","refusal":"`)
	c.Buf = append(append(c.Buf, text...), `"}`...)
}

// CacheBreakpoint marks the part added last.
func (w *requestWriter) CacheBreakpoint([]byte) { w.open().Mark() }

// Call adds the call of a tool.
func (w *requestWriter) Call(c *core.Call) {
	w.endMessage()
	w.follow()
	kind, arguments := `{"type":"function_call","call_id":"`, `","arguments":"`
	if c.Free {
		kind, arguments = `{"type":"custom_tool_call","call_id":"`, `","input":"`
	}
	t := &w.items
	t.add(w.x.At, roleAssistant, kind)
	t.buf = append(w.calls.AppendID(t.buf, c.ID), `","name":"`...)
	t.buf = append(w.names.AppendTo(t.buf, c.Name), arguments...)
	if c.Free {
		t.buf = append(t.buf, c.Text...)
	} else {
		t.buf = w.calls.AppendArguments(t.buf, c)
	}
	t.buf = append(t.buf, `"}`...)
	w.turn.began = true
}
