package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// searchName is the name of the function that replaces the client's search for tools.
const searchName = "tool_search"

// toolReader collects the tools of a request. Those that items add count like those of
// the request, and of two with the same name the later one.
type toolReader struct {
	added    []placed[[]byte] // raw lists in items
	declared []declaredTool
	byName   map[string]int // the indices of declared; nil while no item adds tools
	allowed  *core.AllowedTools

	object    core.Object
	format    core.Object
	namespace []byte // raw: of the tools at hand, nil for none
}

// declaredTool is a tool as the writer gets it, and what the client calls it if that
// is something else.
type declaredTool struct {
	placed[core.Tool]
	client translate.ClientTool
}

func (t *toolReader) add(at core.Place, raw []byte) {
	if len(raw) > 0 && raw[0] == '[' {
		t.added = append(t.added, placed[[]byte]{at, raw})
	}
}

// readTools writes the tools, unless none of them is wanted.
func (r *requestReader) readTools() {
	t := &r.toolList
	if !jsonscan.Blank(r.tools) || len(t.added) > 0 {
		if r.x.Options.Has(core.ToolChoiceNone) && !r.x.Keep(core.UnusedTools, nil) || !r.x.Keep(core.FunctionTool, nil) {
			r.settings.Set(toolsSetting, []byte("[]"))
			return
		}
		r.collectTools()
		r.writeTools()
	}
	t.allowed.Check(r.x, allowedPath, missingAllowedRow)
}

func (r *requestReader) collectTools() {
	t, now := &r.toolList, r.x.At
	if len(t.added) > 0 {
		t.byName = make(map[string]int)
	}
	var left []translate.Span
	r.toolsOf(r.tools, &left)
	r.repeatTools(left)
	for i := range t.added {
		r.x.At = t.added[i].at
		r.toolsOf(t.added[i].part, nil)
	}
	r.x.At = now
}

// writeTools gives the writer the tools that may be used, and the way back the names
// that the client has for them.
func (r *requestReader) writeTools() {
	now := r.x.At
	for i := range r.toolList.declared {
		d := &r.toolList.declared[i]
		if !r.toolList.allowed.Has(d.part.Name) {
			continue
		}
		r.x.At = d.at
		r.rememberTool(d)
		r.w.Tool(&d.part)
	}
	r.x.At = now
	r.checkFunctions()
}

// checkFunctions refuses a function with the name that the provider knows another tool
// by: a call of the one would reach the client as a call of the other.
func (r *requestReader) checkFunctions() {
	mapped := r.x.Answer.Tools
	for i := 0; len(mapped) > 0 && i < len(r.toolList.declared); i++ {
		d := &r.toolList.declared[i]
		if _, taken := mapped[jsonscan.TextOf(d.part.Name)]; taken && d.client == (translate.ClientTool{}) && r.toolList.allowed.Has(d.part.Name) {
			r.x.InvalidAt(d.at, "name", takenName)
		}
	}
}

// takenName is the end of a message about a tool whose name another one has already.
const takenName = "is what the name of another tool becomes for the provider"

// rememberTool keeps for the way back what the client calls a tool.
func (r *requestReader) rememberTool(d *declaredTool) {
	if d.client == (translate.ClientTool{}) {
		return
	}
	if r.x.Answer.Tools == nil {
		r.x.Answer.Tools = make(map[string]translate.ClientTool)
	}
	name := jsonscan.TextOf(d.part.Name)
	if _, taken := r.x.Answer.Tools[name]; taken {
		r.x.Invalid("name", takenName)
	}
	r.x.Answer.Tools[name] = d.client
}

// toolsOf reads a list of tools, and adds to left the spans of those that are left out,
// unless left is nil.
func (r *requestReader) toolsOf(raw []byte, left *[]translate.Span) {
	if jsonscan.Blank(raw) {
		return
	}
	t := &r.toolList
	c := jsonscan.Again(raw)
	cuts := strict.Cutter{Spans: left}
	for r.x.EnterList(&c, "tools"); r.x.NextElement(&c); {
		start := c.Offset()
		t.object.Read(r.x, &c, toolShapes, "")
		if declared := r.tool(); left != nil {
			cuts.Element(translate.Span{Start: start, End: c.Offset()}, !declared)
		}
	}
	if cuts.All() {
		cuts.CutAll()
	}
}

// tool declares a tool, and reports whether the writer gets it.
func (r *requestReader) tool() bool {
	o := &r.toolList.object
	kind, s := o.Raw("type"), o.Shape()
	if s == nil {
		r.x.Lose(rows.Value("tools[*].type", jsonscan.TextOf(kind)), kind)
		return false
	}
	o.LoseOthers(r.x, s)
	r.checkCallers(o.Raw("allowed_callers"))
	switch s.Type() {
	case "function":
		r.declare(r.function(), translate.ClientTool{})
	case "custom":
		r.custom()
	case "namespace":
		r.namespaceTools()
	case "tool_search":
		return r.search()
	}
	return true
}

// checkCallers refuses a tool that only the vendor's own code may call.
func (r *requestReader) checkCallers(callers []byte) {
	if callers != nil && callers[0] != '[' {
		r.x.Invalid("allowed_callers", "must be an array of strings")
	}
	for _, raw := range elementsOf(callers) {
		if string(raw) != `"direct"` {
			r.x.Lose(otherCallersRow, raw)
		}
	}
}

// function returns the function at hand.
func (r *requestReader) function() core.Tool {
	o := &r.toolList.object
	if parameters := o.Raw("parameters"); !isObject(parameters) {
		r.x.Invalid("parameters", "must be an object")
	}
	return core.Tool{Description: o.Raw("description"), Schema: o.Raw("parameters"), Strict: o.Raw("strict")}
}

// declare declares a tool by the name at hand, within the namespace if there is one.
// client is what else the client knows about it.
func (r *requestReader) declare(tool core.Tool, client translate.ClientTool) {
	t := &r.toolList
	name := t.object.Raw("name")
	if len(jsonscan.Inner(name)) == 0 {
		r.x.Invalid("name", "required")
		return
	}
	tool.Name = name
	if t.namespace != nil {
		client.Namespace = jsonscan.TextOf(t.namespace)
		tool.Name = append(flatName([]byte{'"'}, t.namespace, name), '"')
	}
	if client != (translate.ClientTool{}) {
		client.Name = jsonscan.TextOf(name)
	}
	t.keep(declaredTool{placed[core.Tool]{r.x.At, tool}, client})
}

// keep keeps a tool in place of an earlier one with the same name.
func (t *toolReader) keep(d declaredTool) {
	if t.byName == nil {
		t.declared = append(t.declared, d)
		return
	}
	name := string(d.part.Name)
	if i, again := t.byName[name]; again && t.declared[i].client == d.client {
		t.declared[i] = d
		return
	}
	t.byName[name] = len(t.declared)
	t.declared = append(t.declared, d)
}

// flatName appends the name that replaces a namespace and the name of a tool in it; both
// are raw.
func flatName(dst, namespace, name []byte) []byte {
	const between = "__"
	flat := jsonscan.AppendText(nil, namespace)
	if n := len(flat); n < len(between) || string(flat[n-len(between):]) != between {
		flat = append(flat, between...)
	}
	return toolcall.AppendName(dst, jsonscan.AppendText(flat, name))
}

// namespaceTools declares the tools of a namespace.
func (r *requestReader) namespaceTools() {
	t := &r.toolList
	if t.namespace != nil {
		r.x.Lose(unknownToolRow, t.object.Raw("type"))
		return
	}
	inner := t.object.Raw("tools")
	if name := t.object.Raw("name"); r.isNamespace(name, "name") {
		t.namespace = name
	}
	r.toolsOf(inner, nil)
	t.namespace = nil
}

// search declares the client's own search for tools as a function, and reports whether
// it is the client's. Where the provider would search, all tools are sent instead.
func (r *requestReader) search() bool {
	o := &r.toolList.object
	if string(o.Word("execution")) != "client" {
		r.x.Lose(serverSearchRow, nil)
		return false
	}
	tool := r.function()
	tool.Name = []byte(`"` + searchName + `"`)
	r.toolList.keep(declaredTool{placed[core.Tool]{r.x.At, tool}, translate.ClientTool{Name: searchName, Search: true}})
	return true
}

// elementsOf returns the elements of a raw array, raw.
func elementsOf(raw []byte) (all [][]byte) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	c := jsonscan.Again(raw)
	for c.EnterArray(); c.Element(); {
		all = append(all, c.Skip())
	}
	return all
}
