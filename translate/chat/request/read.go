package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
)

// Source reads chat requests.
var Source = core.Source{Rows: rows, New: func() core.Reader { return new(reader) }}

// reader reads a chat request.
type reader struct {
	x     *core.Translation
	w     core.Writer
	turns parts.Turns
	tools toolReader

	message   core.Object
	part      core.Object     // a part, a block of reasoning, or a call in the message
	inner     core.Object     // an object in the part
	freeCalls map[string]bool // the escaped ids of calls with a free text

	// The arguments of the writer's methods, kept here to save allocations.
	args struct {
		media   core.Media
		thought core.Thought
		call    core.Call
		result  core.Result
	}
}

// Read reads a body.
func (r *reader) Read(body []byte, x *core.Translation, w core.Writer) error {
	if !x.Keep(core.Conversation, nil) {
		return nil
	}
	r.x, r.w, r.turns = x, w, parts.NewTurns(x, w, firstTextRow)
	r.tools.x, r.tools.w = x, w
	var tools, choice []byte
	c := x.Info.Texts.Again(body)
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "messages":
			for x.EnterList(&c, "messages"); x.NextElement(&c); {
				r.message.Read(x, &c, messageMembers, "")
				r.readMessage()
			}
		case "tools":
			tools = c.Skip()
		case "tool_choice":
			choice = c.Skip()
		case "response_format":
			readFormat(x, c.Skip())
		case "modalities":
			parts.ReadModalities(x, c.Skip(), imagesRow, imagesAloneRow, otherModalityRow)
		default:
			x.Member(&c)
		}
	}
	r.tools.readChoice(choice)
	r.tools.readTools(tools)
	foldOptions(x)
	return c.Finish()
}

// Forget drops all references to the body.
func (r *reader) Forget() { *r = reader{} }

// readMessage writes the message at hand as a turn.
func (r *reader) readMessage() {
	m, x := &r.message, r.x
	s := messageMembers.Shape(m.Word("role"))
	m.LoseOthers(x, s)
	switch s.Type() {
	case "system", "developer":
		r.turns.Begin(core.System)
		r.readMessageBreakpoint(r.readContent(core.System), core.CachePart)
		if !r.turns.End() {
			x.Lose(emptyTurnRow, nil)
		}
		return
	case "user":
		r.turns.Begin(core.User)
		written := r.readContent(core.User)
		if !written && !x.Failed() {
			x.Lose(emptyUserRow, nil)
		}
		r.readMessageBreakpoint(written, core.CachePart)
	case "assistant":
		if raw := m.Raw("function_call"); raw != nil {
			x.Lose(functionCallRow, raw)
		}
		if raw := m.Raw("audio"); raw != nil {
			x.Lose(spokenAnswerRow, raw)
		}
		r.turns.Begin(core.Assistant)
		r.readReasoning()
		written := r.readContent(core.Assistant)
		written = r.readRefusal(m.Raw("refusal")) || written
		if r.readCalls() {
			r.readMessageBreakpoint(true, core.CacheCall)
		} else {
			r.readMessageBreakpoint(written, core.CachePart)
		}
	case "tool":
		if x.Keep(core.ToolResult, nil) {
			r.turns.Begin(core.User)
			id := m.Text("tool_call_id")
			r.args.result = core.Result{ID: id, Free: r.freeCalls[string(id)]}
			r.w.OpenResult(&r.args.result)
			r.readContent(core.User)
			r.w.CloseResult(false)
			r.readMessageBreakpoint(true, core.CacheResult)
		}
	default:
		x.Lose(unknownRoleRow, m.Raw("role"))
	}
	r.turns.End()
	r.turns.Begun = true
}

// isObject reports whether a raw value at a path is an object, and refuses any other value.
func isObject(x *core.Translation, raw []byte, path string) bool {
	if len(raw) > 0 && raw[0] == '{' {
		return true
	}
	x.Invalid(path, "must be an object")
	return false
}

// isAbsent reports whether a raw value is missing or null.
func isAbsent(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }
