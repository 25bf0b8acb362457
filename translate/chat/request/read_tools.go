package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The members of a tool, and of its function.
const (
	toolType = iota
	toolFunction
	toolCustom
	toolCache
)

const (
	functionName = iota
	functionDescription
	functionParameters
	functionStrict
	customFormat
)

const (
	formatKind = iota
	formatGrammar
)

const (
	grammarSyntax = iota
	grammarDefinition
)

var (
	toolMembers     = core.NewNames("type", "function", "custom", "cache_control")
	functionMembers = core.NewNames("name", "description", "parameters", "strict", "format")
	customFormats   = core.NewNames("type", "grammar")
	grammarMembers  = core.NewNames("syntax", "definition")

	ownOfFunction = core.SetOf(functionName, functionDescription, functionParameters, functionStrict)
	ownOfCustom   = core.SetOf(functionName, functionDescription, customFormat)
)

// readTools reads the tools, unless none of them is wanted.
func (r *reader) readTools() {
	if len(r.tools) > 0 && r.tools[0] == '[' && !jsonscan.IsEmptyList(r.tools) {
		if r.x.Options.Has(core.ToolChoiceNone) && !r.x.Keep(core.UnusedTools, nil) || !r.x.Keep(core.FunctionTool, nil) {
			return
		}
		for r.elements(r.tools, "tools"); r.element(); {
			r.item.Read(r.x, &r.list, toolMembers, "")
			r.tool()
		}
	}
	r.allowed.Check(r.x, allowedPath, missingAllowedRow)
}

// tool writes a tool: a function, or one that takes a free text.
func (r *reader) tool() {
	ok := false
	switch kind := r.item.Raw(toolType); string(jsonscan.Inner(kind)) {
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
	if raw := r.item.Raw(toolCache); raw != nil && r.x.Keep(core.CacheTool, nil) {
		r.writeBreakpoint(raw, "cache_control")
	}
}

// function reads a function.
func (r *reader) function() bool {
	f := r.readTool(toolFunction, ownOfFunction, "function.")
	r.parts.tool = core.Tool{
		Name: f.Raw(functionName), Description: f.Raw(functionDescription), Schema: f.Raw(functionParameters), Strict: f.Raw(functionStrict),
	}
	return r.isFunction(f)
}

// readTool reads what a tool is: the object of that member.
func (r *reader) readTool(member int, own core.Set, path string) *core.Object {
	r.item.LoseOthers(r.x, core.SetOf(toolType, member, toolCache), toolMembers, "")
	c := jsonscan.Again(r.item.Raw(member))
	r.inner.Read(r.x, &c, functionMembers, path)
	r.inner.LoseOthers(r.x, own, functionMembers, path)
	return &r.inner
}

// custom reads a tool that takes a free text.
func (r *reader) custom() bool {
	f := r.readTool(toolCustom, ownOfCustom, "custom.")
	r.parts.tool = core.Tool{Name: f.Raw(functionName), Description: f.Raw(functionDescription), Free: true}
	if len(jsonscan.Inner(r.parts.tool.Name)) == 0 {
		r.x.Invalid("custom.name", "required")
		return false
	}
	return r.grammar(f.Raw(customFormat))
}

// grammar reads which text a tool takes.
func (r *reader) grammar(raw []byte) bool {
	const path = "custom.format"
	if raw == nil {
		return true
	}
	if !r.isObject(raw, path) {
		return false
	}
	c := jsonscan.Again(raw)
	o := &r.inner
	o.Read(r.x, &c, customFormats, path+".")
	switch kind := o.Raw(formatKind); string(jsonscan.Inner(kind)) {
	case "text":
		o.LoseOthers(r.x, core.SetOf(formatKind), customFormats, path+".")
	case "grammar":
		return r.x.Keep(core.Grammar, kind) && r.readGrammar(o.Raw(formatGrammar), path+".grammar")
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
	c := jsonscan.Again(raw)
	o := &r.inner
	o.Read(r.x, &c, grammarMembers, path+".")
	r.parts.tool.Syntax, r.parts.tool.Definition = o.Raw(grammarSyntax), o.Raw(grammarDefinition)
	if r.parts.tool.Syntax == nil || r.parts.tool.Definition == nil {
		r.x.Invalid(path, "must have a syntax and a definition")
	}
	return !r.x.Failed()
}

// isFunction refuses functions that no format would accept as they are.
func (r *reader) isFunction(f *core.Object) bool {
	parameters := f.Raw(functionParameters)
	switch {
	case len(jsonscan.Inner(f.Raw(functionName))) == 0:
		r.x.Invalid("function.name", "required")
	case parameters != nil:
		return r.isObject(parameters, "function.parameters")
	default:
		return true
	}
	return false
}
