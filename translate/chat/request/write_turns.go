package request

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// turnBuffer is the turn that is being written.
type turnBuffer struct {
	role    core.Role
	content parts.Content
	marked  *parts.Content // the content with the last part

	thinking parts.Content
	calls    []byte // tool calls, each with a comma before it
	details  []byte // the reasoning_details of the calls, nil for none

	results bool          // the turn contains the result of a tool
	hoisted parts.Content // media from the results of tools
}

// result is the result of a tool that is being written.
type result struct {
	open      bool
	content   parts.Content
	id        []byte // the provider's id of the call, escaped
	elsewhere string // the text if the result consists of media in the next message
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
	t.role, t.calls, t.details, t.results = role, t.calls[:0], nil, false
	t.content.Reset(openText, betweenTexts[role])
	t.thinking.Reset(openText, parts.LineFeed)
	t.hoisted.Reset(openText, parts.LineFeed)
}

// EndTurn writes the turn.
func (w *writer) EndTurn() {
	t := &w.turn
	switch t.role {
	case core.Instructions:
		w.system.Join(&t.content)
	case core.System: // in the role, or at the place, that the provider accepts
		mid := cmp.Or(w.x.Traits.MidSystem, lateSystem)
		switch {
		case mid == trait.MidSystemHoist, w.messages.empty() && (w.messages.unite || mid != trait.MidSystemKeep):
			w.hoisted.Join(&t.content)
		case mid == trait.MidSystemUser:
			w.add("user", nil, &t.content)
		default:
			w.add(parts.SystemRole(w.x.Traits), nil, &t.content)
		}
	case core.User: // behind the results of tools, together with their media
		all := &t.content
		if !t.hoisted.Empty() {
			all = &t.hoisted
			all.Join(&t.content)
		}
		if !all.Empty() {
			w.add("user", nil, all)
		} else if !t.results {
			w.x.Keep(core.EmptyTurn, nil)
		}
	case core.Assistant:
		if w.x.Traits.ReasoningReplay == trait.ReplayThinking && !t.thinking.Empty() {
			t.think()
		}
		switch {
		case !t.content.Empty() || len(t.calls) == 0 && !t.thinking.Empty():
			w.messages.add(w.x.At, "assistant", nil, &t.content, w.assistantTail())
		case len(t.calls) > 0:
			w.messages.add(w.x.At, "assistant", nil, nil, w.assistantTail())
		default:
			w.x.Keep(core.EmptyTurn, nil)
		}
	}
}

// think puts the reasoning into a part in front of the content.
func (t *turnBuffer) think() {
	text := t.thinking.AppendTo(nil)
	t.thinking.Reset(openText, parts.LineFeed)
	t.thinking.Part(`{"type":"thinking","thinking":[{"type":"text","text":`)
	t.thinking.Buf = append(append(t.thinking.Buf, text...), `}],"closed":true}`...)
	t.thinking.Join(&t.content)
	t.thinking, t.content = t.content, t.thinking
	t.thinking.Reset(openText, parts.LineFeed)
}

// add adds a message with texts.
func (w *writer) add(role string, head []byte, c *parts.Content) {
	w.divide(c)
	w.messages.add(w.x.At, role, head, c, nil)
}

// divide turns texts into parts for providers that accept only parts.
func (w *writer) divide(c *parts.Content) {
	if w.x.Traits.ToolContentParts && c.Texts() > 1 {
		c.ToArray()
	}
}

// assistantTail returns the members of an assistant's message behind the content.
func (w *writer) assistantTail() []byte {
	t := &w.turn
	tail := w.scratch[:0]
	switch {
	case !t.thinking.Empty():
		tail = append(append(append(tail, `,"`...), w.x.Traits.ReasoningReplay.Field()...), `":`...)
		tail = t.thinking.AppendTo(tail)
	case w.x.Traits.ReasoningReplay == trait.ReplayReasoningContent:
		tail = append(tail, noReasoning...)
	}
	if t.details != nil {
		tail = append(append(tail, `,"reasoning_details":`...), t.details...)
	}
	if len(t.calls) > 0 {
		tail = append(append(append(tail, `,"tool_calls":[`...), t.calls[1:]...), ']')
	}
	w.scratch = tail
	return tail
}

// noReasoning is the reasoning of a turn that has none, such as one of another vendor's model:
// DeepSeek refuses a history in which the reasoning of a turn is absent or empty.
const noReasoning = `,"reasoning_content":" "`

// texts returns the open content.
func (w *writer) texts() *parts.Content {
	if w.result.open {
		return &w.result.content
	}
	return &w.turn.content
}

// Text adds a text to the open content.
func (w *writer) Text(text []byte) {
	t, content := &w.turn, w.texts()
	if len(t.calls) > 0 && content == &t.content {
		// Calls are in a member of their own, so the order of calls and texts is lost.
		w.x.Keep(core.TextBehindCall, nil)
	}
	content.AddText(text)
	t.marked = content
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
	kind, input := `","type":"function","function":{"name":"`, `","arguments":"`
	if c.Free {
		kind, input = `","type":"custom","custom":{"name":"`, `","input":"`
	}
	calls := append(w.turn.calls, `,{"id":"`...)
	start := len(calls)
	calls = w.tools.AppendID(calls, c.ID)
	w.scratch = jsonscan.AppendUnescaped(w.scratch[:0], calls[start:])
	extra := w.x.Info.Seals.Recall(w.scratch)
	if len(extra) > 0 && extra[0] == '[' {
		w.turn.details = extra
	}
	calls = append(w.tools.AppendName(append(calls, kind...), c.Name), input...)
	calls = append(w.tools.AppendArguments(calls, c), `"}`...)
	if len(extra) > 0 && extra[0] == '{' { // a signature of Google's models, without which they refuse the result
		calls = append(append(calls, `,"extra_content":`...), extra...)
	}
	w.turn.calls = append(calls, '}')
}

// OpenResult begins the message of a tool's result.
func (w *writer) OpenResult(r *core.Result) {
	if !w.turn.content.Empty() {
		w.x.Keep(core.TextBeforeResult, nil) // a result follows its call immediately
	}
	w.turn.results = true
	w.result.open, w.result.elsewhere = true, ""
	w.result.id = w.tools.AppendID(w.result.id[:0], r.ID)
	w.result.content.Reset(openText, parts.LineFeed)
}

// CloseResult writes the message.
func (w *writer) CloseResult(failed bool) {
	r := &w.result
	r.open = false
	if r.content.Empty() && r.elsewhere != "" {
		r.content.Add([]byte(r.elsewhere))
	}
	if failed {
		r.content.Blame()
	}
	head := append(w.scratch[:0], `,"tool_call_id":"`...)
	w.scratch = append(append(head, r.id...), '"')
	w.add("tool", w.scratch, &r.content)
}

// ToolReference adds the name of a tool that a search for tools has found.
func (w *writer) ToolReference(name []byte) { w.texts().AddReference(name) }
