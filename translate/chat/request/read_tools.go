package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readTools reads the tools, unless the writer gets none of them.
func (r *reader) readTools() {
	if len(r.tools) > 0 && r.tools[0] == '[' && !jsonscan.IsEmptyList(r.tools) {
		if r.x.Options.Has(core.ToolChoiceNone) && !r.x.Keep(core.UnusedTools, nil) || !r.x.Keep(core.FunctionTool, nil) {
			return
		}
		for r.elements(r.tools, "tools"); r.element(); {
			r.item.Read(r.x, &r.list, toolShapes, "")
			r.tool()
		}
	}
	r.allowed.Check(r.x, allowedPath, missingAllowedRow)
}

// tool writes a tool: a function, or one that takes a free text.
func (r *reader) tool() {
	ok := false
	switch kind := r.item.Raw("type"); string(jsonscan.DecodedOf(kind)) {
	case "function":
		ok = r.function()
	case "custom":
		ok = r.x.Keep(core.FreeTool, kind) && r.custom()
	default:
		r.x.KeepAs(core.VendorTool, unknownToolRow, kind)
	}
	if !ok || !r.allowed.Has(r.parts.tool.Name) {
		return
	}
	r.w.Tool(&r.parts.tool)
	if raw := r.item.Raw("cache_control"); raw != nil && r.x.Keep(core.CacheTool, nil) {
		r.writeBreakpoint(raw, "cache_control")
	}
}

// function reads a function.
func (r *reader) function() bool {
	f := r.readDefinition("function")
	r.parts.tool = core.Tool{Name: f.Raw("name"), Description: f.Raw("description"), Schema: f.Raw("parameters"), Strict: f.Raw("strict")}
	return r.isFunction(f)
}

// readDefinition reads the definition of a tool of a type: the member with the name of
// the type.
func (r *reader) readDefinition(kind string) *core.Object {
	r.item.LoseOthers(r.x, toolShapes.Named(kind))
	r.readInner(r.item.Raw(kind), definitionShapes, kind)
	return &r.inner
}

// custom reads a tool that takes a free text.
func (r *reader) custom() bool {
	f := r.readDefinition("custom")
	r.parts.tool = core.Tool{Name: f.Raw("name"), Description: f.Raw("description"), Free: true}
	if len(jsonscan.Inner(r.parts.tool.Name)) == 0 {
		r.x.Invalid("custom.name", "required")
		return false
	}
	return r.grammar(f.Raw("format"))
}

// grammar reads the grammar of the text that a tool takes.
func (r *reader) grammar(raw []byte) bool {
	const path = "custom.format"
	if raw == nil {
		return true
	}
	if !r.isObject(raw, path) {
		return false
	}
	o := &r.inner
	o.ReadRaw(r.x, raw, customFormats, path)
	o.LoseOthers(r.x, o.Shape())
	switch kind := o.Raw("type"); string(jsonscan.DecodedOf(kind)) {
	case "text":
	case "grammar":
		return r.x.Keep(core.Grammar, kind) && r.readGrammar(o.Raw("grammar"), path+".grammar")
	default:
		r.x.Lose(unknownGrammarRow, kind)
		return false
	}
	return true
}

func (r *reader) readGrammar(raw []byte, path string) bool {
	if !r.isObject(raw, path) {
		return false
	}
	o := &r.inner
	o.ReadRaw(r.x, raw, grammarMembers, path)
	r.parts.tool.Syntax, r.parts.tool.Definition = o.Raw("syntax"), o.Raw("definition")
	if r.parts.tool.Syntax == nil || r.parts.tool.Definition == nil {
		r.x.Invalid(path, "must have a syntax and a definition")
	}
	return !r.x.Failed()
}

// isFunction refuses functions that no format would accept as they are.
func (r *reader) isFunction(f *core.Object) bool {
	parameters := f.Raw("parameters")
	switch {
	case len(f.Text("name")) == 0:
		r.x.Invalid("function.name", "required")
	case parameters != nil:
		return r.isObject(parameters, "function.parameters")
	default:
		return true
	}
	return false
}
