package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// tools are the tools of a request.
type tools struct {
	buf    []byte // each with a comma before it
	names  core.ToolNames
	called [][]byte // the escaped names of the tools of calls, each once
}

func (t *tools) forget() (kept int) {
	t.names.Reset()
	clear(t.called)
	t.buf, t.called = t.buf[:0], t.called[:0]
	return cap(t.buf)
}

// empty reports whether the client declares no tools.
func (t *tools) empty() bool { return len(t.buf) == 0 }

// call notes the escaped name of a tool that was called.
func (t *tools) call(name []byte) {
	for _, known := range t.called {
		if bytes.Equal(known, name) {
			return
		}
	}
	t.called = append(t.called, name)
}

// openTool begins the declaration of a tool.
const openTool = `,{"toolSpec":{"name":"`

// Tool adds a tool. The format requires a schema, and refuses an empty description.
func (w *writer) Tool(t *core.Tool) {
	if jsonscan.IsTrue(t.Strict) && (!w.vendor.strict || !w.x.Can(core.ToolStrict)) {
		core.LoseStrict(w.x, t)
	}
	core.EnforceTool(w.x, t)
	w.tools.names.Add(w.x, t)
	b := append(w.tools.buf, openTool...)
	b = append(w.tools.names.AppendTo(b, jsonscan.Inner(t.Name)), '"')
	if !jsonscan.OnlySpace(jsonscan.Inner(t.Description)) {
		b = append(append(b, `,"description":`...), t.Description...)
	}
	b = append(b, `,"inputSchema":{"json":`...)
	if t.Schema == nil {
		b = append(b, anyObject...)
	} else {
		b = core.AppendSchema(b, t)
	}
	b = append(b, '}')
	if jsonscan.IsTrue(t.Strict) {
		b = append(b, `,"strict":true`...)
	}
	w.tools.buf = append(b, `}}`...)
}

// anyObject is the schema of a tool without one.
const anyObject = `{"type":"object","properties":{}}`

// writeTo writes the tools and the choice among them. A conversation with calls needs a
// declaration of their tools, even if the client declares none and none must be called.
func (t *tools) writeTo(members *core.Members, x *core.Translation) {
	t.names.Check(x)
	kind := x.Options.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed)
	if !t.empty() && kind == core.ToolChoiceNone && !x.Keep(core.UnusedTools, nil) {
		t.buf = t.buf[:0]
	}
	declared := !t.empty()
	if !declared {
		if x.Options.ForcesTool() {
			x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		for _, name := range t.called {
			t.buf = append(t.names.AppendTo(append(t.buf, openTool...), name), `","inputSchema":{"json":`+anyObject+`}}}`...)
		}
	}
	if t.empty() {
		return
	}
	members.Name("toolConfig")
	*members = append(append(append(*members, `{"tools":[`...), t.buf[1:]...), ']')
	if declared {
		t.writeChoice(members, x, kind)
	}
	*members = append(*members, '}')
}

// writeChoice writes the choice among the tools. Without one, the model may choose.
func (t *tools) writeChoice(members *core.Members, x *core.Translation, kind core.Concept) {
	switch kind {
	case core.ToolChoiceRequired:
		members.Raw("toolChoice", []byte(`{"any":{}}`))
	case core.ToolChoiceNamed:
		name := x.Options[core.ToolChoiceName]
		if _, ok := t.names.Find(name.Raw); !ok {
			x.Lose(name.Row, nil)
			return
		}
		members.Name("toolChoice")
		*members = t.names.AppendTo(append(*members, `{"tool":{"name":"`...), jsonscan.Inner(name.Raw))
		*members = append(*members, `"}}`...)
	}
}
