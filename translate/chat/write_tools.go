package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Tool adds a tool. Only what is named here is copied, so that no other member can
// land in the function.
func (w *writer) Tool(t *core.Tool) {
	w.names.Add(w.x, t)
	if t.Free {
		w.tools = w.appendCustom(w.tools, t)
		return
	}
	buf := append(w.tools, `,{"type":"function","function":{"name":"`...)
	buf = w.names.AppendTo(buf, jsonscan.Inner(t.Name))
	buf = append(buf, '"')
	if t.Description != nil {
		buf = append(append(buf, `,"description":`...), t.Description...)
	}
	if t.Schema != nil {
		buf = core.AppendSchema(append(buf, `,"parameters":`...), t.Schema)
	}
	if t.Strict != nil {
		buf = append(append(buf, `,"strict":`...), t.Strict...)
	}
	w.tools = append(buf, `}}`...)
}

// appendCustom appends a tool that takes a free text.
func (w *writer) appendCustom(dst []byte, t *core.Tool) []byte {
	dst = append(dst, `,{"type":"custom","custom":{"name":"`...)
	dst = append(w.names.AppendTo(dst, jsonscan.Inner(t.Name)), '"')
	if t.Description != nil {
		dst = append(append(dst, `,"description":`...), t.Description...)
	}
	if t.Syntax != nil {
		dst = append(append(dst, `,"format":{"type":"grammar","grammar":{"syntax":`...), t.Syntax...)
		dst = append(append(append(dst, `,"definition":`...), t.Definition...), "}}"...)
	}
	return append(dst, `}}`...)
}

// writeTools writes the tools and the choice among them, which without tools means
// nothing.
func (w *writer) writeTools() {
	w.names.Check(w.x)
	if len(w.tools) == 0 {
		if w.x.Options.ForcesTool() {
			w.x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		return
	}
	w.out.Name("tools")
	w.out = append(append(append(w.out, '['), w.tools[1:]...), ']')
	w.writeChoice()
	if jsonscan.IsTrue(w.x.Options.Raw(core.OneCallAtATime)) {
		w.out.Raw("parallel_tool_calls", []byte("false"))
	}
}

func (w *writer) writeChoice() {
	switch w.x.Options.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed) {
	case core.ToolChoiceAuto:
		w.out.Word("tool_choice", "auto")
	case core.ToolChoiceRequired:
		w.out.Word("tool_choice", "required")
	case core.ToolChoiceNone:
		w.out.Word("tool_choice", "none")
	case core.ToolChoiceNamed:
		w.writeNamedChoice()
	}
}

// writeNamedChoice writes the choice of one tool, which must be there.
func (w *writer) writeNamedChoice() {
	name := w.x.Options[core.ToolChoiceName]
	free, ok := w.names.Find(name.Raw)
	if !ok {
		w.x.Lose(name.Row, nil)
		return
	}
	w.out.Name("tool_choice")
	if free {
		w.out = append(w.out, `{"type":"custom","custom":{"name":"`...)
	} else {
		w.out = append(w.out, `{"type":"function","function":{"name":"`...)
	}
	w.out = w.names.AppendTo(w.out, jsonscan.Inner(name.Raw))
	w.out = append(w.out, `"}}`...)
}
