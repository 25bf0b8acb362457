package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// tools writes the tools in the array at the cursor.
func (r *reader) tools(c *jsonscan.Cursor) {
	t, x := &r.levels[0].block, r.x
	for x.EnterList(c, "tools"); x.NextElement(c); {
		t.Read(x, c, toolMembers, "")
		kind, name := t.Raw("type"), t.Raw("name")
		if word := jsonscan.DecodedOf(kind); kind != nil && (word == nil || len(word) > 0 && string(word) != "custom") {
			x.KeepAs(core.VendorTool, unknownToolRow, kind)
			continue
		}
		if len(jsonscan.Inner(name)) == 0 {
			x.Invalid("name", "required")
			continue
		}
		checkCallers(x, t.Raw("allowed_callers"))
		r.args.tool = core.Tool{Name: name, Description: t.Raw("description"), Schema: t.Raw("input_schema"), Strict: t.Raw("strict")}
		r.w.Tool(&r.args.tool)
		r.breakpoint(t, core.CacheTool)
	}
}

// checkCallers refuses a tool that only the vendor's own code may call.
func checkCallers(x *core.Translation, raw []byte) {
	if raw == nil {
		return
	}
	c := jsonscan.Again(raw)
	if !c.EnterArray() {
		x.Invalid("allowed_callers", "must be an array of strings")
		return
	}
	direct := false
	for c.Element() {
		direct = string(jsonscan.DecodedOf(c.Skip())) == "direct" || direct
	}
	if !direct {
		x.Lose(otherCallersRow, nil)
	}
}
