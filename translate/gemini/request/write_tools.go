package request

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// tools are the tools of a request.
type tools struct {
	buf    []byte // each with a comma before it
	names  core.ToolNames
	strict bool // the arguments of a tool must follow its schema
}

func (t *tools) forget() (kept int) {
	t.names.Reset()
	t.buf, t.strict = t.buf[:0], false
	return cap(t.buf)
}

// Tool adds a tool. Its schema is filled, and stays as it is for models that accept JSON Schema.
func (w *writer) Tool(t *core.Tool) {
	w.tools.names.Add(w.x, t)
	core.FillSchema(t)
	b := append(w.tools.buf, `,{"name":"`...)
	b = append(w.tools.names.AppendTo(b, jsonscan.Inner(t.Name)), '"')
	if t.Description != nil {
		b = append(append(b, `,"description":`...), t.Description...)
	}
	w.tools.strict = w.tools.strict || jsonscan.IsTrue(t.Strict)
	switch {
	case t.Schema == nil:
	case w.asks.takesJSONSchema():
		b = core.AppendSchema(append(b, `,"parametersJsonSchema":`...), t)
	default:
		b = w.appendParameters(b, t.Schema)
	}
	w.tools.buf = append(b, '}')
}

// appendParameters appends the schema of a tool in the older dialect, which has no objects
// without properties.
func (w *writer) appendParameters(dst, schema []byte) []byte {
	const name = `,"parameters":`
	written, looser, empty, err := appendSchema(append(dst, name...), schema)
	if err != nil {
		w.x.Invalid("name", "is that of a tool with a schema that "+err.Error())
	}
	if looser {
		core.Report(w.x, core.FunctionTool, core.Shaped)
	}
	if empty {
		return written[:len(written)-len(name)]
	}
	return written
}

// modes are the words for choices among the tools.
var modes = map[core.Concept]string{
	core.ToolChoiceAuto: "AUTO", core.ToolChoiceRequired: "ANY", core.ToolChoiceNone: "NONE", core.ToolChoiceNamed: "ANY",
}

// validated is the mode in which the model may choose, but must follow the schemas.
const validated = "VALIDATED"

// writeTo writes the tools and the choice among them. validates reports whether the model can
// be made to follow the schemas without having to call a tool.
func (t *tools) writeTo(members *core.Members, x *core.Translation, validates bool) {
	t.names.Check(x)
	kind := x.Options.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed)
	if len(t.buf) == 0 {
		if x.Options.ForcesTool() {
			x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		return
	}
	members.Name("tools")
	*members = append(append(append(*members, `[{"functionDeclarations":[`...), t.buf[1:]...), `]}]`...)
	mode, allowed := modes[kind], []byte(nil)
	if t.strict && validates && cmp.Or(mode, "AUTO") == "AUTO" {
		mode = validated
	}
	if kind == core.ToolChoiceNamed {
		name := x.Options[core.ToolChoiceName]
		if _, ok := t.names.Find(name.Raw); ok {
			allowed = t.names.AppendTo(nil, jsonscan.Inner(name.Raw))
		} else {
			x.Lose(name.Row, nil)
			mode = ""
		}
	}
	if mode == "" {
		return
	}
	members.Name("toolConfig")
	*members = append(append(append(*members, `{"functionCallingConfig":{"mode":"`...), mode...), '"')
	if allowed != nil {
		*members = append(append(append(*members, `,"allowedFunctionNames":["`...), allowed...), `"]`...)
	}
	*members = append(*members, `}}`...)
}
