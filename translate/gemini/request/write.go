package request

import (
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target writes gemini requests.
var Target = core.Target{
	Format: translate.Gemini, Outcomes: &outcomes, DistinctCallIDs: true, LongTexts: true, New: func() core.Writer { return new(writer) },
	Reserved: append([]string{
		"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "serviceTier", "generateContentRequest",
	}, trait.ChatOptions...),
}

// openText begins a text part.
const openText = `{"text":"`

// The roles of contents.
const (
	user  = "user"
	model = "model"
)

// writer writes a gemini request. It gathers the conversation, the system instruction and the
// tools in buffers, since a body may have its members in any order.
type writer struct {
	core.Discard
	x    *core.Translation
	asks properties // of the model

	system   parts.Content
	contents contents
	turn     turn
	result   result
	calls    map[string][]byte // the client's escaped names of the functions by the ids of their calls
	tools    tools
	id       []byte // scratch: the client's id of a call, and that of the provider
	scratch  []byte
}

// turn is the turn that is being written.
type turn struct {
	role    core.Role
	written bool   // something
	call    []byte // the escaped signature of the next call, nil for none
	text    []byte // the escaped signature of the next text, nil for none
}

// Begin begins a request.
func (w *writer) Begin(x *core.Translation, room int) {
	w.x, w.asks = x, propertiesOf(x.Info.Shown())
	w.system.Reset(openText, "")
	w.system.ToArray()
	w.contents.reset()
	w.contents.buf = slices.Grow(w.contents.buf, room)
	w.tools.names.LetterFirst = true
}

// Forget drops all references to the body.
func (w *writer) Forget() (kept int) {
	w.x, w.turn = nil, turn{}
	clear(w.calls)
	w.result = result{content: w.result.content}
	return w.system.Forget() + w.contents.forget() + w.result.content.Forget() + w.tools.forget() + cap(w.id) + cap(w.scratch)
}

// Turn begins a turn.
func (w *writer) Turn(role core.Role) {
	if role == core.System {
		role = core.User
		if cmp.Or(w.x.Traits.MidSystem, lateSystem) == trait.MidSystemHoist {
			role = core.Instructions
		}
	}
	w.turn = turn{role: role}
}

// EndTurn ends the turn.
func (w *writer) EndTurn() {
	if w.turn.text != nil {
		w.signText()
	}
	if w.turn.call != nil {
		w.x.Keep(core.Reasoning, nil)
	}
	if !w.turn.written {
		w.x.Keep(core.EmptyTurn, nil)
	}
}

// parts returns the parts of the turn, or the content of the result in it.
func (w *writer) parts() *parts.Content {
	if w.result.open {
		return &w.result.content
	}
	return w.beside()
}

// beside returns the parts of the turn, also while a result is open.
func (w *writer) beside() *parts.Content {
	w.turn.written = true
	if w.turn.role == core.Instructions {
		return &w.system
	}
	return w.contents.of(w.turn.contentRole(), w.x.At)
}

// contentRole returns the role of the turn's content.
func (t *turn) contentRole() string {
	if t.role == core.Assistant {
		return model
	}
	return user
}

// Text adds a text.
func (w *writer) Text(text []byte) {
	w.parts().AddText(text)
	if w.turn.role == core.Assistant {
		if w.contents.endText(); w.turn.text != nil {
			w.signText()
		}
	}
}

// Refusal adds a text by which the assistant refuses. The format has no part of its own for
// refusals.
func (w *writer) Refusal(text []byte) { w.Text(text) }

// ToolReference adds the name of a tool that a search for tools has found.
func (w *writer) ToolReference(name []byte) { w.parts().AddReference(name) }

// Finish appends the request.
func (w *writer) Finish(dst []byte) []byte {
	x := w.x
	if n := x.Options[core.Samples]; n.Raw != nil {
		if one, ok := jsonscan.Integer(n.Raw); !ok || one != 1 {
			x.KeepAs(core.Samples, n.Row, n.Raw)
		}
	}
	x.Answer.Seals = x.Info.Seals // for the signatures of the answer
	x.FanOut(false)
	w.contents.close()
	if x.Traits.SystemIsUser() {
		w.contents.lead(&w.system)
	}
	if len(w.contents.buf) == 0 {
		x.Invalid(x.PathOf(core.Conversation), "must hold at least one message with content that is no system message")
	}
	if w.contents.role == model && !w.contents.called {
		x.KeepAt(w.contents.place, core.Prefill)
	}
	if x.Failed() {
		return dst
	}
	start := len(dst)
	members := core.Members(dst)
	if x.Info.Counts() {
		members.Name("generateContentRequest")
		members = append(members, `{"model":"`...)
		members = jsonscan.AppendEscaped(append(append(members, collectionOf(x.Info.Upstream)...), '/'), idOf(x.Info.Upstream))
		members = append(members, '"')
	}
	w.contents.writeTo(&members, w.asks.signs())
	if !w.system.Empty() {
		members.Name("systemInstruction")
		members = append(w.system.AppendTo(append(members, `{"parts":`...)), '}')
	}
	w.tools.writeTo(&members, x, w.asks.takesJSONSchema())
	w.writeConfig(&members)
	writeTier(&members, &x.Options)
	if members = append(members, x.Extensions...); x.Info.Counts() {
		members = append(members, '}')
	}
	members[start] = '{'
	return append(members, '}')
}
