package request

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Tool adds a tool. The format requires a schema.
func (w *requestWriter) Tool(t *core.Tool) {
	w.names = append(w.names, t.Name)
	w.marking = &w.tools
	b := &w.tools
	b.begin("", `{"name":`)
	b.buf = append(b.buf, t.Name...)
	if t.Description != nil {
		b.buf = append(append(b.buf, `,"description":`...), t.Description...)
	}
	b.buf = append(b.buf, `,"input_schema":`...)
	if t.Schema == nil {
		b.buf = append(b.buf, `{"type":"object","properties":{}}`...)
	} else {
		b.buf = core.AppendSchema(b.buf, t.Schema)
	}
	if t.Strict != nil {
		b.buf = append(append(b.buf, `,"strict":`...), t.Strict...)
	}
	b.buf = append(b.buf, '}')
}

// writeChoice writes the choice among the tools, if there are tools.
func (w *requestWriter) writeChoice() {
	o := &w.x.Options
	kind, one := o.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed), o.Has(core.OneCallAtATime)
	switch {
	case w.tools.empty():
		if o.ForcesTool() {
			w.x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		return
	case kind == core.Nothing && !one:
		return
	}
	w.out.Name("tool_choice")
	w.out = append(append(append(w.out, `{"type":"`...), choiceWord(kind)...), '"')
	if kind == core.ToolChoiceNamed {
		w.writeChosen(o[core.ToolChoiceName])
	}
	if one && kind != core.ToolChoiceNone {
		w.out.Raw("disable_parallel_tool_use", []byte("true"))
	}
	w.out = append(w.out, '}')
}

// choiceWord returns the type of a choice. Without a choice, the assistant may choose.
func choiceWord(c core.Concept) string {
	switch c {
	case core.ToolChoiceRequired:
		return "any"
	case core.ToolChoiceNone:
		return "none"
	case core.ToolChoiceNamed:
		return "tool"
	default:
		return "auto"
	}
}

// writeChosen writes the name of the tool that must be used. The loss of a tool that is
// missing is reported.
func (w *requestWriter) writeChosen(name core.Option) {
	if !slices.ContainsFunc(w.names, func(other []byte) bool { return jsonscan.SameText(other, name.Raw) }) {
		w.x.Lose(name.Row, nil)
	}
	w.out.Raw("name", name.Raw)
}
