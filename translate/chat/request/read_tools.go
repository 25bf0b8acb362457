package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// toolReader reads the tools of a request and the choice among them.
type toolReader struct {
	x *core.Translation
	w core.Writer

	allowed *core.AllowedTools // nil if all are
	item    core.Object        // the object of a tool, or of a choice
	inner   core.Object        // an object in it
	tool    core.Tool          // the argument of the writer's method
}

// readChoice reads the choice among the tools: a word, or an object that names tools.
func (t *toolReader) readChoice(raw []byte) {
	o, x := &t.item, t.x
	if isAbsent(raw) {
		return
	}
	if raw[0] != '{' {
		x.SetWord("tool_choice", raw)
		return
	}
	o.ReadRaw(x, raw, choiceMembers, "tool_choice")
	s := o.Shape()
	o.LoseOthers(x, s)
	kind, chosen := o.Raw("type"), o.Raw(s.Type())
	switch s.Type() {
	case "custom", "function":
		if s.Type() == "function" || x.Keep(core.FreeChoice, kind) {
			x.SetOption(namedChoiceRow, kind)
			x.SetOption(choiceNameRow, t.chosenName(chosen, "tool_choice."+s.Type()))
		}
	case "allowed_tools":
		const path = "tool_choice.allowed_tools"
		if isObject(x, chosen, path) {
			o.ReadRaw(x, chosen, allowedMembers, path)
			x.SetWord(path+".mode", o.Raw("mode"))
			t.allowed = core.NewAllowedTools()
			t.readAllowed(o.Raw("tools"))
		}
	default:
		x.Lose(unknownChoiceRow, kind)
	}
}

// chosenName returns the raw name in the object at a path, which has no other member.
func (t *toolReader) chosenName(raw []byte, path string) []byte {
	if !isObject(t.x, raw, path) {
		return nil
	}
	t.inner.ReadRaw(t.x, raw, chosenMembers, path)
	name := t.inner.Raw("name")
	if !jsonscan.IsString(name) {
		t.x.Invalid(path+".name", "must be a string")
	}
	return name
}

const allowedPath = "tool_choice.allowed_tools.tools"

// readAllowed reads the references to the tools that may be used.
func (t *toolReader) readAllowed(raw []byte) {
	o, x := &t.item, t.x
	if len(raw) == 0 || raw[0] != '[' {
		x.Invalid(allowedPath, "must be an array of objects")
		return
	}
	c := jsonscan.Again(raw)
	for x.EnterList(&c, allowedPath); x.NextElement(&c); {
		o.Read(x, &c, allowedTool, "")
		s, kind := o.Shape(), o.Raw("type")
		switch {
		case s.Type() != "function" && s.Type() != "custom":
			x.Lose(foreignAllowedRow, kind)
		case s.Type() == "function" || x.KeepAs(core.FreeChoice, freeAllowedRow, kind):
			o.LoseOthers(x, s)
			t.allowed.Allow(jsonscan.TextOf(t.chosenName(o.Raw(s.Type()), s.Type())))
		}
	}
	if x.Options.Has(core.ToolChoiceRequired) && t.allowed.Empty() {
		x.Invalid(allowedPath, "must hold at least one tool where the mode is 'required'")
	}
}

// readTools writes the tools that may be used, unless the writer gets none of them.
func (t *toolReader) readTools(raw []byte) {
	x := t.x
	if len(raw) > 0 && raw[0] == '[' && !jsonscan.IsEmptyList(raw) {
		if x.Options.Has(core.ToolChoiceNone) && !x.Keep(core.UnusedTools, nil) || !x.Keep(core.FunctionTool, nil) {
			return
		}
		c := jsonscan.Again(raw)
		for x.EnterList(&c, "tools"); x.NextElement(&c); {
			t.item.Read(x, &c, toolMembers, "")
			tool, ok := t.readTool()
			if ok && t.allowed.Has(tool.Name) {
				t.tool = tool
				t.w.Tool(&t.tool)
				if raw := t.item.Raw(cacheControl.member); raw != nil && x.Keep(core.CacheTool, nil) {
					cacheControl.write(x, t.w, raw)
				}
			}
		}
	}
	t.allowed.Check(x, allowedPath, missingAllowedRow)
}

// readTool returns the tool at hand, a function or one that takes a free text. ok is false
// if the writer does not get it.
func (t *toolReader) readTool() (tool core.Tool, ok bool) {
	x, kind := t.x, t.item.Raw("type")
	switch string(jsonscan.DecodedOf(kind)) {
	case "function":
		f := t.definition("function", functionMembers)
		tool = core.Tool{Name: f.Raw("name"), Description: f.Raw("description"), Schema: f.Raw("parameters"), Strict: f.Raw("strict")}
		if len(jsonscan.Inner(tool.Name)) == 0 {
			x.Invalid("function.name", "required")
			return tool, false
		}
		return tool, tool.Schema == nil || isObject(x, tool.Schema, "function.parameters")
	case "custom":
		if !x.Keep(core.FreeTool, kind) {
			return tool, false
		}
		f := t.definition("custom", freeToolMembers)
		tool = core.Tool{Name: f.Raw("name"), Description: f.Raw("description"), Free: true}
		if len(jsonscan.Inner(tool.Name)) == 0 {
			x.Invalid("custom.name", "required")
			return tool, false
		}
		format := f.Raw("format")
		return tool, format == nil || t.readGrammar(format, &tool)
	default:
		x.KeepAs(core.VendorTool, unknownToolRow, kind)
		return tool, false
	}
}

// definition reads the definition of a tool, the member with the name of its type.
func (t *toolReader) definition(kind string, members *strict.Table) *core.Object {
	t.item.LoseOthers(t.x, toolMembers.Named(kind))
	t.inner.ReadRaw(t.x, t.item.Raw(kind), members, kind)
	return &t.inner
}

// readGrammar reads the grammar of the text that a tool takes. It reports whether the
// writer gets the tool.
func (t *toolReader) readGrammar(raw []byte, tool *core.Tool) bool {
	const path = "custom.format"
	f, x := &t.inner, t.x
	if !isObject(x, raw, path) {
		return false
	}
	f.ReadRaw(x, raw, textFormats, path)
	f.LoseOthers(x, f.Shape())
	switch kind := f.Raw("type"); string(jsonscan.DecodedOf(kind)) {
	case "text":
		return true
	case "grammar":
		grammar := f.Raw("grammar")
		if !x.Keep(core.Grammar, kind) || !isObject(x, grammar, path+".grammar") {
			return false
		}
		f.ReadRaw(x, grammar, grammarMembers, path+".grammar")
		tool.Syntax, tool.Definition = f.Raw("syntax"), f.Raw("definition")
		if tool.Syntax == nil || tool.Definition == nil {
			x.Invalid(path+".grammar", "must have a syntax and a definition")
		}
		return !x.Failed()
	default:
		x.Lose(unknownGrammarRow, kind)
		return false
	}
}
