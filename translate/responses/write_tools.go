package responses

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Tool adds a tool. Of a function, the format takes for true what other formats take
// for false where nothing is said.
func (w *requestWriter) Tool(t *core.Tool) {
	w.names.Add(w.x, t)
	buf := append(w.tools, `,{"type":"`...)
	if t.Free {
		buf = append(buf, `custom","name":"`...)
	} else {
		buf = append(buf, `function","name":"`...)
	}
	buf = append(w.names.AppendTo(buf, jsonscan.Inner(t.Name)), '"')
	if t.Description != nil {
		buf = append(append(buf, `,"description":`...), t.Description...)
	}
	switch {
	case !t.Free:
		buf = appendFunction(buf, t)
	case t.Syntax != nil:
		buf = append(append(buf, `,"format":{"type":"grammar","syntax":`...), t.Syntax...)
		buf = append(append(append(buf, `,"definition":`...), t.Definition...), '}')
	}
	w.tools = append(buf, '}')
}

// appendFunction appends what only functions have.
func appendFunction(dst []byte, t *core.Tool) []byte {
	dst = append(dst, `,"parameters":`...)
	if t.Schema == nil {
		dst = append(dst, `{"type":"object","properties":{}}`...)
	} else {
		dst = core.AppendSchema(dst, t.Schema)
	}
	if t.Strict == nil {
		return append(dst, `,"strict":false`...)
	}
	return append(append(dst, `,"strict":`...), t.Strict...)
}

// writeTools writes the tools and the choice among them, which without tools means
// nothing.
func (w *requestWriter) writeTools() {
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

func (w *requestWriter) writeChoice() {
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
func (w *requestWriter) writeNamedChoice() {
	name := w.x.Options[core.ToolChoiceName]
	free, ok := w.names.Find(name.Raw)
	if !ok {
		w.x.Lose(name.Row, nil)
		return
	}
	kind := "function"
	if free {
		kind = "custom"
	}
	w.out.Name("tool_choice")
	w.out = append(append(append(w.out, `{"type":"`...), kind...), `","name":"`...)
	w.out = w.names.AppendTo(w.out, jsonscan.Inner(name.Raw))
	w.out = append(w.out, `"}`...)
}
