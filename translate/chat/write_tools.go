package chat

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// toolList is the list of tools.
type toolList struct {
	buf     []byte // each with a comma before it
	names   []toolName
	scratch []byte
}

// toolName is the name of a tool and where the client declares it.
type toolName struct {
	raw []byte
	at  core.Place
}

func (l *toolList) reset() { l.buf, l.names = l.buf[:0], l.names[:0] }

// forget lets go of the body.
func (l *toolList) forget() {
	clear(l.names)
	l.names = l.names[:0]
}

// Tool adds a tool. Only what is named here is copied, so that no other member can
// land in the function.
func (w *writer) Tool(t *core.Tool) {
	w.remember(t.Name)
	l := &w.tools
	l.buf = append(l.buf, `,{"type":"function","function":{"name":"`...)
	l.buf = l.appendName(l.buf, jsonscan.Inner(t.Name))
	l.buf = append(l.buf, '"')
	if t.Description != nil {
		l.buf = append(append(l.buf, `,"description":`...), t.Description...)
	}
	if t.Schema != nil {
		l.buf = core.AppendSchema(append(l.buf, `,"parameters":`...), t.Schema)
	}
	if t.Strict != nil {
		l.buf = append(append(l.buf, `,"strict":`...), t.Strict...)
	}
	l.buf = append(l.buf, `}}`...)
}

// remember keeps the name of a tool for the choice of one, and for the way back
// when the provider knows it by another.
func (w *writer) remember(raw []byte) {
	w.tools.names = append(w.tools.names, toolName{raw, w.x.At})
	if translate.PlainToolName(jsonscan.Inner(raw)) {
		return
	}
	name := jsonscan.TextOf(raw)
	if translate.PlainToolName([]byte(name)) {
		return
	}
	if w.x.Memory.Names == nil {
		w.x.Memory.Names = make(map[string]string)
	}
	w.x.Memory.Names[string(translate.AppendToolName(nil, []byte(name)))] = name
}

// appendName appends the name by which the provider knows a tool; the name is
// escaped.
func (l *toolList) appendName(dst, name []byte) []byte {
	if translate.PlainToolName(name) {
		return append(dst, name...)
	}
	l.scratch = jsonscan.AppendUnescaped(l.scratch[:0], name)
	return translate.AppendToolName(dst, l.scratch)
}

// checkToolNames refuses a tool whose name is the one that the provider would know
// another tool by: a call of the one would reach the client as a call of the other.
func (w *writer) checkToolNames() {
	l, known := &w.tools, w.x.Memory.Names
	for i := 0; len(known) > 0 && i < len(l.names); i++ {
		name := jsonscan.TextOf(l.names[i].raw)
		l.scratch = translate.AppendToolName(l.scratch[:0], []byte(name))
		if other, mapped := known[string(l.scratch)]; mapped && other != name {
			w.x.InvalidAt(l.names[i].at, "name", "is what the name of another tool becomes for the provider")
		}
	}
}

// writeTools writes the tools and the choice among them, which without tools means
// nothing.
func (w *writer) writeTools() {
	w.checkToolNames()
	if len(w.tools.buf) == 0 {
		if w.x.Options.ForcesTool() {
			w.x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		return
	}
	w.out.Name("tools")
	w.out = append(append(append(w.out, '['), w.tools.buf[1:]...), ']')
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
	if !w.tools.has(name.Raw) {
		w.x.Lose(name.Row, nil)
		return
	}
	w.out.Name("tool_choice")
	w.out = append(w.out, `{"type":"function","function":{"name":"`...)
	w.out = w.tools.appendName(w.out, jsonscan.Inner(name.Raw))
	w.out = append(w.out, `"}}`...)
}

// has reports whether a tool has that raw name, however it is escaped.
func (l *toolList) has(raw []byte) bool {
	return slices.ContainsFunc(l.names, func(n toolName) bool { return jsonscan.SameText(n.raw, raw) })
}
