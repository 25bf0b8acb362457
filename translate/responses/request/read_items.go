package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readItem writes the item at hand.
func (r *requestReader) readItem() {
	s := r.item.Shape()
	if r.item.Raw("type") == nil {
		s = messageShape
	}
	r.item.LoseOthers(r.x, s)
	switch s.Type() {
	case "message":
		r.message()
	case "reasoning":
		r.reasoning()
	case "function_call", "custom_tool_call", "tool_search_call":
		r.call(s.Type())
	case "function_call_output", "custom_tool_call_output":
		r.output()
	case "additional_tools":
		if string(r.item.Word("role")) != roleDeveloper {
			r.loseStray("role")
		}
		r.toolList.add(r.x.At, r.item.Raw("tools"))
	case "tool_search_output":
		r.found()
	case "configuration_update":
		r.update = update{r.x.At, r.item.Raw("reasoning"), r.item.Raw("text")}
	default:
		r.other()
	}
}

// other reports an item that only a provider of this format can read: a call of the
// vendor's own tools, whose result is in the text that follows, or an item of an unknown
// type.
func (r *requestReader) other() {
	raw := r.item.Raw("type")
	r.x.Lose(rows.Value("input[*].type", jsonscan.TextOf(raw)), raw)
}

// message writes a message.
func (r *requestReader) message() {
	role := r.item.Word("role")
	if string(role) == roleAssistant {
		r.begun = true
		r.turn.hasText = false
		if r.content(); !r.turn.hasText {
			r.x.Keep(core.EmptyTurn, nil)
		}
		return
	}
	r.endAssistant()
	if string(role) == roleUser {
		if r.userTurn == messageTurn {
			r.endUser()
		}
		r.beginUser()
		r.userTurn = messageTurn
		r.content()
		return
	}
	r.endUser()
	r.systemMessage()
}

// userTurn is the content of a turn of the user.
type userTurn uint8

const (
	noTurn      userTurn = iota
	resultTurn           // the turn has results of tools
	messageTurn          // the turn has texts of the user
)

// beginUser begins a turn of the user, or continues one: results of tools and the message
// after them are one turn, two messages are two.
func (r *requestReader) beginUser() {
	if r.begun, r.role = true, core.User; r.userTurn == noTurn {
		r.w.Turn(core.User)
	}
}

func (r *requestReader) endUser() {
	if r.userTurn != noTurn {
		r.w.EndTurn()
	}
	r.userTurn = noTurn
}

// systemMessage writes a message of the system: as instructions until the conversation
// has begun, afterwards as a turn.
func (r *requestReader) systemMessage() {
	r.role, r.late = core.System, true
	if !r.begun {
		r.role = core.Instructions
	}
	if r.content(); r.late {
		r.x.Keep(core.EmptyTurn, nil)
	} else {
		r.w.EndTurn()
	}
	r.late = false
}

// beginLate begins a turn of the system that is not empty.
func (r *requestReader) beginLate() bool {
	if r.role == core.System && !r.x.Keep(core.LateSystem, nil) {
		return false
	}
	r.late = false
	r.w.Turn(r.role)
	return true
}

// output writes what a tool returned.
func (r *requestReader) output() {
	id := r.item.Text("call_id")
	if r.beginResult(id) {
		r.contentOf("output")
		r.w.CloseResult(false)
	}
}

func (r *requestReader) beginResult(id []byte) bool {
	r.endAssistant()
	if !r.x.Keep(core.ToolResult, r.item.Raw("type")) {
		return false
	}
	r.beginUser()
	r.userTurn = max(r.userTurn, resultTurn)
	r.result = core.Result{ID: id, Free: r.freeCalls[string(id)]}
	r.w.OpenResult(&r.result)
	return true
}

// found declares the tools that a search has found, and writes their names as its
// result.
func (r *requestReader) found() {
	raw := r.item.Raw("tools")
	r.toolList.add(r.x.At, raw)
	id := r.item.Text("call_id")
	if string(r.item.Word("execution")) == "server" || len(id) == 0 || !r.beginResult(id) {
		return
	}
	for r.elements(raw, "tools"); r.element(toolShapes); {
		if name := r.part.Text("name"); len(name) > 0 {
			r.w.Text(name)
		}
	}
	r.w.CloseResult(false)
}
