package request

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// turnWriter is the turn being written.
type turnWriter struct {
	role    core.Role
	content parts.Content
	began   bool   // the turn has an item
	pending []byte // reasoning items of the assistant that nothing follows yet
}

// resultWriter is the result of a tool that is being written.
type resultWriter struct {
	open    bool
	free    bool
	id      []byte // of the call, escaped
	content parts.Content
}

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

// EndTurn writes the turn. The first text of the system is apart from its others; a late
// one is where the provider can have it.
func (w *requestWriter) EndTurn() {
	t, x := &w.turn, w.x
	switch t.role {
	case core.Instructions:
		if t.content.Empty() || w.system.Empty() {
			w.system.Join(&t.content)
		} else {
			w.leading.message(x.At, parts.SystemRole(x.Traits), &t.content)
		}
		return
	case core.System:
		switch mid := cmp.Or(x.Traits.MidSystem, lateSystem); {
		case mid == trait.MidSystemHoist, mid == trait.MidSystemUser && w.items.empty():
			w.hoisted.Join(&t.content)
		case mid == trait.MidSystemUser:
			w.message(roleUser)
		default:
			w.message(parts.SystemRole(x.Traits))
		}
		return
	case core.Assistant:
		w.endMessage()
		if len(t.pending) > 0 {
			x.Keep(core.IdleReasoning, nil)
			t.began = true
		}
	case core.User:
		w.message(roleUser)
	}
	if !t.began {
		x.Keep(core.EmptyTurn, nil)
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

// follow writes the reasoning that leads to what comes next.
func (w *requestWriter) follow() {
	if t := &w.turn; len(t.pending) > 0 {
		w.items.add(w.x.At, roleAssistant, string(t.pending[1:]))
		t.pending, t.began = t.pending[:0], true
	}
}

// open returns the content that is open.
func (w *requestWriter) open() *parts.Content {
	if w.result.open {
		return &w.result.content
	}
	return &w.turn.content
}

// content returns the content that the next part is added to. The texts of a tool's result,
// and those of the system, are joined; messages of users and assistants keep their parts.
func (w *requestWriter) content() *parts.Content {
	c := w.open()
	switch {
	case w.result.open, c.InLines():
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
func (w *requestWriter) Text(text []byte) { w.content().AddText(text) }

// Refusal adds a text by which the assistant refuses.
func (w *requestWriter) Refusal(text []byte) {
	c := w.content()
	c.Part(`{"type":"refusal","refusal":"`)
	c.Buf = append(append(c.Buf, text...), `"}`...)
}

// CacheBreakpoint marks the part added last.
func (w *requestWriter) CacheBreakpoint([]byte) { w.open().Mark() }

// Call adds the call of a tool.
func (w *requestWriter) Call(c *core.Call) {
	w.endMessage()
	w.follow()
	kind, input := `{"type":"function_call","call_id":"`, `","arguments":"`
	if c.Free {
		kind, input = `{"type":"custom_tool_call","call_id":"`, `","input":"`
	}
	t := &w.items
	t.add(w.x.At, roleAssistant, kind)
	t.buf = append(w.tools.AppendID(t.buf, c.ID), `","name":"`...)
	t.buf = append(w.tools.AppendName(t.buf, c.Name), input...)
	t.buf = append(w.tools.AppendArguments(t.buf, c), `"}`...)
	w.turn.began = true
}

// OpenResult begins the result of a tool.
func (w *requestWriter) OpenResult(r *core.Result) {
	w.message(roleUser)
	w.turn.content.Reset(openInput, parts.LineFeed)
	w.result.open, w.result.free, w.result.id = true, r.Free, r.ID
	w.result.content.Reset(openInput, parts.LineFeed)
}

// CloseResult writes it.
func (w *requestWriter) CloseResult(failed bool) {
	r, t := &w.result, &w.items
	if r.open = false; failed {
		r.content.Blame()
	}
	kind := `{"type":"function_call_output","call_id":"`
	if r.free {
		kind = `{"type":"custom_tool_call_output","call_id":"`
	}
	t.add(w.x.At, roleTool, kind)
	t.buf = append(w.tools.AppendID(t.buf, r.id), `","output":`...)
	t.buf = append(r.content.AppendTo(t.buf), '}')
	w.turn.began, r.id = true, nil
}

// ToolReference names a tool that a search for tools has found.
func (w *requestWriter) ToolReference(name []byte) { w.content().AddReference(name) }
