package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// assistantTurn is the turn of the assistant that consists of the current items.
// Reasoning waits for the content that follows it. Calls wait for the texts of the turn,
// which are written before them, since other formats require that results follow their
// calls directly.
type assistantTurn struct {
	open     bool
	hasText  bool       // the current message
	at       core.Place // of the last item
	thoughts []placed[core.Thought]
	calls    []placed[core.Call]
}

// placed is a part with the position of its item.
type placed[T any] struct {
	at   core.Place
	part T
}

// beginAssistant begins the turn of the assistant, or goes on with it, and writes the
// reasoning that led here.
func (r *requestReader) beginAssistant() {
	t := &r.turn
	if t.at = r.x.At; !t.open {
		t.open = true
		r.endUser()
		r.w.Turn(core.Assistant)
	}
	if len(t.thoughts) == 0 {
		return
	}
	r.writeCalls()
	for i := range t.thoughts {
		r.x.At = t.thoughts[i].at
		r.w.Reasoning(&t.thoughts[i].part)
	}
	r.x.At, t.thoughts = t.at, t.thoughts[:0]
}

// beginText prepares the turn for a text of the assistant.
func (r *requestReader) beginText() {
	if r.beginAssistant(); len(r.turn.calls) > 0 {
		r.x.Lose(foldedRow, nil)
	}
	r.turn.hasText = true
}

// endAssistant ends the turn of the assistant, if one is open. Reasoning that led to
// nothing is left out.
func (r *requestReader) endAssistant() {
	t, now := &r.turn, r.x.At
	r.writeCalls()
	for i := range t.thoughts {
		r.x.At = t.thoughts[i].at
		r.x.Lose(idleReasoningRow, nil)
	}
	if t.thoughts = t.thoughts[:0]; t.open {
		r.x.At, t.open = t.at, false
		r.w.EndTurn()
	}
	r.x.At = now
}

// writeCalls writes the calls that wait.
func (r *requestReader) writeCalls() {
	t, now := &r.turn, r.x.At
	for i := range t.calls {
		r.x.At = t.calls[i].at
		r.w.Call(&t.calls[i].part)
	}
	r.x.At, t.calls = now, t.calls[:0]
}

// call keeps the call of a tool until the turn has no more texts.
func (r *requestReader) call(kind string) {
	if kind == "tool_search_call" && string(r.item.Word("execution")) == "server" {
		r.x.Lose(serverSearchCallRow, nil)
		return
	}
	if r.begun = true; !r.x.Keep(core.ToolCall, r.item.Raw("type")) {
		return
	}
	call := core.Call{ID: r.item.Text("call_id")}
	switch kind {
	case "custom_tool_call":
		call.Name = r.calledName()
		r.freeCall(&call)
	case "tool_search_call":
		if call.Name, call.Input = []byte(searchName), r.item.Raw("arguments"); !isObject(call.Input) {
			r.x.Invalid("arguments", "must be an object")
		}
	default:
		call.Name, call.Text = r.calledName(), r.item.Text("arguments")
	}
	r.beginAssistant()
	r.turn.calls = append(r.turn.calls, placed[core.Call]{r.x.At, call})
}

// calledName returns the name by which the writer knows the tool that is called.
func (r *requestReader) calledName() []byte {
	name, namespace := r.item.Raw("name"), r.item.Raw("namespace")
	if !r.isNamespace(namespace, "namespace") {
		return jsonscan.Inner(name)
	}
	return flatName(nil, namespace, name)
}

// isNamespace reports whether a raw value at a path names a namespace, and refuses one
// that is no text.
func (r *requestReader) isNamespace(raw []byte, path string) bool {
	if raw != nil && !jsonscan.IsString(raw) {
		r.x.Invalid(path, "must be a string")
	}
	return len(jsonscan.Inner(raw)) > 0
}

// freeCall reads the text of a call, which is wrapped for providers that have functions
// alone.
func (r *requestReader) freeCall(call *core.Call) {
	input := r.item.Raw("input")
	if call.Free = r.x.Can(core.FreeTool); call.Free {
		call.Text = jsonscan.Inner(input)
		r.keepFree(call.ID)
		return
	}
	call.Input = append(append([]byte(`{"input":`), input...), '}')
}

// keepFree keeps the id of a call that had a free text, for its result.
func (r *requestReader) keepFree(id []byte) {
	if r.freeCalls == nil {
		r.freeCalls = make(map[string]bool)
	}
	r.freeCalls[string(id)] = true
}

// isObject reports whether a raw value is an object or absent.
func isObject(raw []byte) bool { return raw == nil || raw[0] == '{' }
