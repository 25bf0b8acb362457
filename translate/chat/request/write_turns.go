package request

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// turnBuffer is the turn that is being written.
type turnBuffer struct {
	role    core.Role
	content parts.Content
	marked  *parts.Content // the content with the last part

	thinking parts.Content
	calls    []byte // tool calls, each with a comma before it

	results bool          // the turn contains the result of a tool
	hoisted parts.Content // media from the results of tools
}

// betweenTexts are the separators of the texts of a turn that become one text.
var betweenTexts = [...]string{
	core.Instructions: parts.BlankLine,
	core.System:       parts.BlankLine,
	core.User:         parts.LineFeed,
	core.Assistant:    "",
}

// Turn begins a turn.
func (w *writer) Turn(role core.Role) {
	t := &w.turn
	t.role, t.calls, t.results = role, t.calls[:0], false
	t.content.Reset(openText, betweenTexts[role])
	t.thinking.Reset(openText, parts.LineFeed)
	t.hoisted.Reset(openText, parts.LineFeed)
}

// EndTurn writes the turn.
func (w *writer) EndTurn() {
	switch w.turn.role {
	case core.Instructions:
		w.system.Join(&w.turn.content)
	case core.System:
		w.endSystem()
	case core.Assistant:
		w.endAssistant()
	default:
		w.endUser()
	}
}

// endSystem writes a late text of the system in the role, or at the place, that the provider accepts.
func (w *writer) endSystem() {
	c := &w.turn.content
	switch mid := cmp.Or(w.x.Traits.MidSystem, lateSystem); {
	case mid == trait.MidSystemHoist, w.messages.empty() && (w.messages.unite || mid != trait.MidSystemKeep):
		w.hoisted.Join(c)
	case mid == trait.MidSystemUser:
		w.add("user", c)
	default:
		w.add(parts.SystemRole(w.x.Traits), c)
	}
}

// endUser writes the content of a user's turn, behind the results of tools, together
// with the media from the results.
func (w *writer) endUser() {
	t := &w.turn
	all := &t.content
	if !t.hoisted.Empty() {
		all = &t.hoisted
		all.Join(&t.content)
	}
	if !all.Empty() {
		w.add("user", all)
	} else if !t.results {
		w.x.Keep(core.EmptyTurn, nil)
	}
}

// add adds a message without other members than the content.
func (w *writer) add(role string, c *parts.Content) {
	w.spread(c)
	w.messages.add(w.x.At, role, nil, c, nil)
}

// spread turns several texts into parts for providers that accept only parts.
func (w *writer) spread(c *parts.Content) {
	if w.x.Traits.ToolContentParts && c.Texts() > 1 {
		c.ToArray()
	}
}

// endAssistant writes the text, the reasoning and the calls of the assistant.
func (w *writer) endAssistant() {
	t := &w.turn
	if t.content.Empty() && t.thinking.Empty() && len(t.calls) == 0 {
		w.x.Keep(core.EmptyTurn, nil)
		return
	}
	c := &t.content
	if c.Empty() && len(t.calls) > 0 {
		c = nil
	}
	w.messages.add(w.x.At, "assistant", nil, c, w.assistantTail())
}

// assistantTail returns the members of an assistant's message behind the content.
func (w *writer) assistantTail() []byte {
	t := &w.turn
	tail := w.scratch[:0]
	if !t.thinking.Empty() {
		tail = append(append(append(tail, `,"`...), replayFields[w.x.Traits.ReasoningReplay]...), `":`...)
		tail = t.thinking.AppendTo(tail)
	}
	if len(t.calls) > 0 {
		tail = append(tail, `,"tool_calls":[`...)
		tail = append(append(tail, t.calls[1:]...), ']')
	}
	w.scratch = tail
	return tail
}

var replayFields = [...]string{
	trait.ReplayReasoningContent: "reasoning_content",
	trait.ReplayReasoning:        "reasoning",
}

// Text adds a text to the open content, or a line to an open text of several lines.
func (w *writer) Text(text []byte) {
	t := &w.turn
	switch to := w.texts(); {
	case w.lines:
		to.Buf = append(append(to.Buf, parts.LineFeed...), text...)
	default:
		if len(t.calls) > 0 && to == &t.content {
			// Calls are in a member of their own, so the order of calls and texts is lost.
			w.x.Keep(core.TextBehindCall, nil)
		}
		to.AddText(text)
		t.marked = to
	}
}

// Refusal adds a text by which the assistant refuses.
func (w *writer) Refusal(text []byte) { w.Text(text) }

// CacheBreakpoint marks the part added last.
func (w *writer) CacheBreakpoint([]byte) { w.turn.marked.Mark() }

// Reasoning keeps earlier reasoning for the field in which the provider accepts it.
func (w *writer) Reasoning(r *core.Thought) {
	if len(r.Text) > 0 {
		w.turn.thinking.AddText(r.Text)
	}
}

// Call adds a call.
func (w *writer) Call(c *core.Call) {
	calls := append(w.turn.calls, `,{"id":"`...)
	calls = w.calls.AppendID(calls, c.ID)
	if c.Free {
		calls = append(calls, `","type":"custom","custom":{"name":"`...)
		calls = append(w.names.AppendTo(calls, c.Name), `","input":"`...)
		calls = append(calls, c.Text...)
	} else {
		calls = append(calls, `","type":"function","function":{"name":"`...)
		calls = append(w.names.AppendTo(calls, c.Name), `","arguments":"`...)
		calls = w.calls.AppendArguments(calls, c)
	}
	w.turn.calls = append(calls, `"}}`...)
}
