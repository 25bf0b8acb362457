package request

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// messages reads the conversation.
func (r *reader) messages() {
	c := &r.cursor
	for r.x.EnterList(c, "messages"); r.x.NextElement(c); {
		r.message.Read(r.x, c, messageShapes, "")
		r.turn()
	}
}

// turn writes a message as a turn.
func (r *reader) turn() {
	r.late, r.hasContent = false, false
	s := messageShapes.Shape(r.message.Word("role"))
	r.message.LoseOthers(r.x, s)
	switch s.Type() {
	case "system", "developer":
		r.systemTurn()
		return
	case "user":
		r.userTurn()
	case "assistant":
		r.assistantTurn()
	case "tool":
		r.toolTurn()
	default:
		r.x.Lose(unknownRoleRow, r.message.Raw("role"))
	}
	r.begun = true
}

// systemTurn writes a turn of the system: one of the instructions in front of the first
// turn of another role, a late one behind that.
func (r *reader) systemTurn() {
	r.role, r.late = core.System, true
	if !r.begun {
		r.role = core.Instructions
	}
	r.content()
	if r.late {
		r.x.Lose(emptyTurnRow, nil)
	} else {
		r.w.EndTurn()
	}
}

// text writes a text, which may be the first one of a turn of the system, and reports
// whether the writer gets the text.
func (r *reader) text(text []byte) bool {
	if r.late && !r.beginLate() {
		return false
	}
	r.hasContent = true
	r.w.Text(text)
	return true
}

// beginLate begins a turn of the system, and reports whether the writer gets the turn.
func (r *reader) beginLate() bool {
	if r.role == core.System && !r.x.Keep(core.LateSystem, nil) {
		return false
	}
	r.late = false
	r.w.Turn(r.role)
	return true
}

// userTurn writes the turn of a user, which must not be empty.
func (r *reader) userTurn() {
	r.begin(core.User)
	r.content()
	if !r.hasContent && !r.x.Failed() {
		r.x.Lose(emptyUserRow, nil)
	}
	r.w.EndTurn()
}

func (r *reader) begin(role core.Role) {
	r.role = role
	r.w.Turn(role)
}

// toolTurn writes the result of a tool.
func (r *reader) toolTurn() {
	if !r.x.Keep(core.ToolResult, nil) {
		return
	}
	r.begin(core.User)
	id := r.message.Text("tool_call_id")
	r.parts.result = core.Result{ID: id, Free: slices.ContainsFunc(r.freeCalls, func(other []byte) bool { return string(other) == string(id) })}
	r.w.OpenResult(&r.parts.result)
	r.content()
	r.w.CloseResult(false)
	r.w.EndTurn()
}

// assistantTurn writes the reasoning, the content and the calls of the assistant, in this
// order.
func (r *reader) assistantTurn() {
	if raw := r.message.Raw("function_call"); raw != nil {
		r.x.Lose(functionCallRow, raw)
	}
	if raw := r.message.Raw("audio"); raw != nil {
		r.x.Lose(spokenAnswerRow, raw)
	}
	r.begin(core.Assistant)
	r.reasoning()
	r.content()
	r.refusal()
	r.calls()
	r.w.EndTurn()
}

// refusal writes the text by which the assistant refuses. A value of another kind is lost.
func (r *reader) refusal() {
	raw := r.message.Raw("refusal")
	if raw != nil && !jsonscan.IsString(raw) {
		r.x.LoseMember("", []byte("refusal"))
	}
	if text := jsonscan.Inner(raw); len(text) > 0 {
		r.w.Refusal(text)
	}
}

// elements begins to read an array of the message; element moves to its next
// element, until the last or until something is refused.
func (r *reader) elements(raw []byte, list string) {
	r.list = jsonscan.Again(raw)
	r.x.EnterList(&r.list, list)
}

func (r *reader) element() bool { return r.x.NextElement(&r.list) }
