package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The members of a tool, and of its function.
const (
	toolType = iota
	toolFunction
	toolCache
)

const (
	functionName = iota
	functionDescription
	functionParameters
	functionStrict
)

var (
	toolMembers     = core.NewNames("type", "function", "cache_control")
	functionMembers = core.NewNames("name", "description", "parameters", "strict")
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
	r.allowed.check(r.x)
}

// tool writes a tool that is a function.
func (r *reader) tool() {
	if kind := r.item.Raw(toolType); string(jsonscan.Inner(kind)) != "function" {
		r.x.KeepAs(core.VendorTool, unknownToolRow, kind)
		return
	}
	c := jsonscan.Again(r.item.Raw(toolFunction))
	f := &r.inner
	f.Read(r.x, &c, functionMembers, "function.")
	if !r.isFunction(f) || !r.allowed.has(f.Raw(functionName)) {
		return
	}
	r.parts.tool = core.Tool{
		Name: f.Raw(functionName), Description: f.Raw(functionDescription), Schema: f.Raw(functionParameters), Strict: f.Raw(functionStrict),
	}
	r.w.Tool(&r.parts.tool)
	if raw := r.item.Raw(toolCache); raw != nil && r.x.Keep(core.CacheTool, nil) {
		r.writeBreakpoint(raw, "cache_control")
	}
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
