package parts

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Tools gathers the tools of a request in the chat and responses formats. It writes the
// names of tools, and the ids and arguments of calls, as the provider accepts them.
type Tools struct {
	Buf     []byte // the tools, each with a comma before it
	Repeats bool   // the provider gets the ids of calls that repeat as it has given them

	names   core.ToolNames
	scratch []byte
}

// Begin begins the tools of a request. letterFirst is true if the provider accepts only names that
// begin with a letter or "_".
func (t *Tools) Begin(letterFirst bool) { t.names.LetterFirst = letterFirst }

// Add begins a tool with its first bytes, its name and its description. The caller appends
// the others to Buf.
func (t *Tools) Add(x *core.Translation, tool *core.Tool, first string) {
	t.names.Add(x, tool)
	t.Buf = t.names.AppendTo(append(t.Buf, first...), jsonscan.Inner(tool.Name))
	t.Buf = append(t.Buf, '"')
	if tool.Description != nil {
		t.Buf = append(append(t.Buf, `,"description":`...), tool.Description...)
	}
}

// AppendName appends the name that the provider gets for a tool. Both names are escaped.
func (t *Tools) AppendName(dst, name []byte) []byte { return t.names.AppendTo(dst, name) }

// AppendID appends the provider's id of a call, made from the client's id. Both are
// escaped.
func (t *Tools) AppendID(dst, id []byte) []byte {
	if !jsonscan.HasEscapes(id) && !bytes.HasPrefix(id, []byte("gwid1_")) {
		return append(dst, t.cutRepeat(id)...)
	}
	t.scratch = jsonscan.AppendUnescaped(t.scratch[:0], id)
	return jsonscan.AppendEscaped(dst, t.cutRepeat(toolcall.AppendOriginalID(nil, t.scratch)))
}

// cutRepeat returns the provider's id of a call.
func (t *Tools) cutRepeat(id []byte) []byte {
	if t.Repeats {
		return toolcall.CutRepeat(id)
	}
	return id
}

// AppendArguments appends the arguments of a call, or the text of a free call, as an
// escaped text.
func (t *Tools) AppendArguments(dst []byte, c *core.Call) []byte {
	switch {
	case c.Input != nil:
		t.scratch = jsonscan.AppendCompact(t.scratch[:0], c.Input)
		return jsonscan.AppendEscaped(dst, t.scratch)
	case len(c.Text) > 0 || c.Free:
		return append(dst, c.Text...)
	default:
		return append(dst, "{}"...)
	}
}

// AppendTo appends the tools and the choice among them, unless there are no tools.
// appendNamed appends the choice of a tool by its kind and the name that the provider
// gets.
func (t *Tools) AppendTo(dst *core.Members, x *core.Translation, appendNamed func(dst []byte, kind string, name []byte) []byte) {
	t.names.Check(x)
	if len(t.Buf) == 0 {
		if x.Options.ForcesTool() {
			x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		return
	}
	dst.Name("tools")
	*dst = append(append(append(*dst, '['), t.Buf[1:]...), ']')
	switch x.Options.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed) {
	case core.ToolChoiceAuto:
		dst.Word("tool_choice", "auto")
	case core.ToolChoiceRequired:
		dst.Word("tool_choice", "required")
	case core.ToolChoiceNone:
		dst.Word("tool_choice", "none")
	case core.ToolChoiceNamed:
		option, kind := x.Options[core.ToolChoiceName], "function"
		free, ok := t.names.Find(option.Raw)
		if !ok { // the request has no such tool
			x.Lose(option.Row, nil)
			break
		}
		if free {
			kind = "custom"
		}
		dst.Name("tool_choice")
		*dst = appendNamed(*dst, kind, t.names.AppendTo(nil, jsonscan.Inner(option.Raw)))
	}
	if jsonscan.IsTrue(x.Options.Raw(core.OneCallAtATime)) {
		dst.Raw("parallel_tool_calls", []byte("false"))
	}
}

// Forget removes all tools, and returns the size of the memory that t keeps, in bytes.
func (t *Tools) Forget() (kept int) {
	t.names.Reset()
	t.Buf = t.Buf[:0]
	return cap(t.Buf) + cap(t.scratch)
}
