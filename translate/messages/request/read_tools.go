package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// tools reads the tools.
func (r *reader) tools() {
	c := &r.cursor
	if !r.x.Can(core.FunctionTool) {
		r.lostTools = !jsonscan.Blank(c.Skip())
		return
	}
	for r.x.EnterList(c, "tools"); r.x.NextElement(c); {
		r.tool.Read(r.x, c, toolMembers, "")
		r.writeTool(&r.tool)
	}
}

// loseTools reports the loss of the tools if the writer gets none. The consequence
// depends on the choice among the tools.
func (r *reader) loseTools() {
	switch {
	case !r.lostTools:
	case r.x.Options.Has(core.ToolChoiceNone):
		r.x.Keep(core.UnusedTools, nil)
	default:
		r.x.Keep(core.FunctionTool, nil)
	}
}

// writeTool writes a tool of the client.
func (r *reader) writeTool(t *core.Object) {
	kind := t.Raw("type")
	if word := jsonscan.DecodedOf(kind); kind != nil && (word == nil || len(word) > 0 && string(word) != "custom") {
		r.x.KeepAs(core.VendorTool, unknownToolRow, kind)
		return
	}
	name := t.Raw("name")
	if len(jsonscan.Inner(name)) == 0 {
		r.x.Invalid("name", "required")
		return
	}
	r.checkCallers(t.Raw("allowed_callers"))
	r.parts.tool = core.Tool{Name: name, Description: t.Raw("description"), Schema: t.Raw("input_schema"), Strict: t.Raw("strict")}
	r.w.Tool(&r.parts.tool)
	if ttl, ok := r.cached(t.Raw("cache_control"), core.CacheTool); ok {
		r.w.CacheBreakpoint(ttl)
	}
}

// checkCallers refuses a tool that only the vendor's own code may call.
func (r *reader) checkCallers(raw []byte) {
	if raw == nil {
		return
	}
	c := jsonscan.Again(raw)
	if !c.EnterArray() {
		r.x.Invalid("allowed_callers", "must be an array of strings")
		return
	}
	direct := false
	for c.Element() {
		direct = string(jsonscan.DecodedOf(c.Skip())) == "direct" || direct
	}
	if !direct {
		r.x.Lose(otherCallersRow, nil)
	}
}
