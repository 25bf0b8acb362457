package request

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// searchName is the name of the function that replaces the client's search for tools.
const searchName = "tool_search"

// toolReader reads the tools of a request and the choice among them. Tools that items add
// count like those of the request, and of two with the same name the later one.
type toolReader struct {
	x        *core.Translation
	allowed  *core.AllowedTools // nil if all are
	added    []placed[[]byte]   // raw lists in items
	declared []declaredTool
	byName   map[string]int // the indices of declared; nil while no item adds tools

	object    core.Object // of a tool, or of a choice
	namespace []byte      // raw: of the tool, nil for none
}

// declaredTool is a tool as the writer gets it, and what the client calls it if that
// is something else.
type declaredTool struct {
	placed[core.Tool]
	client translate.ClientTool
}

// add adds the raw list of tools in an item.
func (t *toolReader) add(place core.Place, raw []byte) {
	if len(raw) > 0 && raw[0] == '[' {
		t.added = append(t.added, placed[[]byte]{place, raw})
	}
}

// readChoice reads the choice among the tools: a word, or an object that names some.
func (t *toolReader) readChoice(raw []byte) {
	o, x := &t.object, t.x
	if len(raw) == 0 || raw[0] == 'n' {
		return
	}
	if raw[0] != '{' {
		x.SetWord("tool_choice", raw)
		return
	}
	o.ReadRaw(x, raw, choiceMembers, "tool_choice")
	s := o.Shape()
	o.LoseOthers(x, s)
	switch kind := o.Raw("type"); s.Type() {
	case "function", "custom":
		x.SetOption(namedChoiceRow, kind)
		x.SetOption(choiceNameRow, t.chosenName("tool_choice.name"))
	case "allowed_tools":
		x.SetWord("tool_choice.mode", o.Raw("mode"))
		t.readAllowed(o.Raw("tools"))
	case imageTool:
		x.SetOption(imageChoiceRow, kind)
	default:
		x.Lose(unknownChoiceRow, kind)
	}
}

// chosenName returns the raw name by which the writer knows the tool that is named in
// the object at hand, at a path.
func (t *toolReader) chosenName(path string) []byte {
	name, namespace := t.object.Raw("name"), t.object.Raw("namespace")
	switch {
	case !jsonscan.IsString(name):
		t.x.Invalid(path, "must be a string")
	case isNamespace(t.x, namespace, path):
		return append(flatName([]byte{'"'}, namespace, name), '"')
	}
	return name
}

const allowedPath = "tool_choice.tools"

// readAllowed reads which tools may be used at all.
func (t *toolReader) readAllowed(raw []byte) {
	o, x := &t.object, t.x
	if len(raw) == 0 || raw[0] != '[' {
		x.Invalid(allowedPath, "must be an array of objects")
		return
	}
	t.allowed = core.NewAllowedTools()
	c := jsonscan.Again(raw)
	for x.EnterList(&c, allowedPath); x.NextElement(&c); {
		o.Read(x, &c, allowedMembers, "")
		switch s := o.Shape(); s.Type() {
		case "function", "custom":
			o.LoseOthers(x, s)
			t.allowed.Allow(jsonscan.TextOf(t.chosenName("name")))
		default:
			x.Lose(foreignAllowedRow, o.Raw("type"))
		}
	}
	if x.Options.Has(core.ToolChoiceRequired) && t.allowed.Empty() {
		x.Invalid(allowedPath, "must hold at least one tool where the mode is 'required'")
	}
}

// readTools writes the tools that may be used, unless none of them is wanted. It returns
// the raw list of tools that the answer repeats: those of the request, without the ones
// that are left out, since the model could not call them.
func (t *toolReader) readTools(raw []byte, w core.Writer) (repeated []byte) {
	x := t.x
	if jsonscan.Blank(raw) && len(t.added) == 0 {
		t.allowed.Check(x, allowedPath, missingAllowedRow)
		return raw
	}
	if x.Options.Has(core.ToolChoiceNone) && !x.Keep(core.UnusedTools, nil) || !t.takesTools(raw) {
		return []byte("[]")
	}
	if len(t.added) > 0 {
		t.byName = make(map[string]int)
	}
	now := x.At
	left := t.readList(raw)
	for i := range t.added {
		x.At = t.added[i].place
		t.readList(t.added[i].part)
	}
	for i := range t.declared {
		if d := &t.declared[i]; t.allowed.Has(d.part.Name) {
			x.At = d.place
			d.remember(x)
			w.Tool(&d.part)
		}
	}
	x.At = now
	t.checkFunctions()
	t.allowed.Check(x, allowedPath, missingAllowedRow)
	if len(left) == 0 {
		return raw
	}
	edits := make([]edit.Edit, len(left))
	for i, span := range left {
		edits[i].Span = span
	}
	return edit.Apply(nil, raw, edits)
}

// takesTools reports whether the writer gets tools. A refusal names the list that has them, the
// raw one of the request or else that of an item.
func (t *toolReader) takesTools(raw []byte) (takes bool) {
	x, now := t.x, t.x.At
	row := toolsRow
	if jsonscan.Blank(raw) {
		x.At, row = t.added[0].place, addedToolsRow
	}
	takes = x.KeepAs(core.FunctionTool, row, nil)
	x.At = now
	return takes
}

// takenName is the end of a message about a tool whose name another one has already.
const takenName = "is what the name of another tool becomes for the provider"

// remember keeps for the translation of the answer what the client calls a tool.
func (d *declaredTool) remember(x *core.Translation) {
	if d.client == (translate.ClientTool{}) {
		return
	}
	if x.Answer.Tools.Client == nil {
		x.Answer.Tools.Client = make(map[string]translate.ClientTool)
	}
	name := jsonscan.TextOf(d.part.Name)
	if _, taken := x.Answer.Tools.Client[name]; taken {
		x.Invalid("name", takenName)
	}
	x.Answer.Tools.Client[name] = d.client
}

// checkFunctions refuses a function with the name that the provider knows another tool
// by: a call of the one would reach the client as a call of the other.
func (t *toolReader) checkFunctions() {
	mapped := t.x.Answer.Tools.Client
	for i := 0; len(mapped) > 0 && i < len(t.declared); i++ {
		d := &t.declared[i]
		if _, taken := mapped[jsonscan.TextOf(d.part.Name)]; taken && d.client == (translate.ClientTool{}) && t.allowed.Has(d.part.Name) {
			t.x.InvalidAt(d.place, "name", takenName)
		}
	}
}

// readList declares the tools of a raw list, and returns the spans of those that are left
// out.
func (t *toolReader) readList(raw []byte) (left []translate.Span) {
	if jsonscan.Blank(raw) {
		return nil
	}
	c := jsonscan.Again(raw)
	cuts := strict.Cutter{Spans: &left}
	for t.x.EnterList(&c, "tools"); t.x.NextElement(&c); {
		start := c.Offset()
		t.object.Read(t.x, &c, toolMembers, "")
		declared := t.readTool()
		cuts.Element(translate.Span{Start: start, End: c.Offset()}, !declared)
	}
	if cuts.All() {
		cuts.CutAll()
	}
	return left
}

// readTool declares the tool at hand, or those of a namespace. It reports whether the
// writer gets them. A search by the provider is left out: all tools are sent instead.
func (t *toolReader) readTool() bool {
	o, x := &t.object, t.x
	kind, s := o.Raw("type"), o.Shape()
	if !readTools.Has(s) {
		lost := rows.Value("tools[*].type", jsonscan.TextOf(kind))
		core.Witnessed(x, core.VendorTool, lost, kind)
		if s.Type() == imageTool && t.askForImages(kind) {
			o.LoseOthers(x, s)
			return true
		}
		x.Lose(lost, kind)
		return false
	}
	o.LoseOthers(x, s)
	checkCallers(x, o.Raw("allowed_callers"))
	name := o.Raw("name")
	tool := core.Tool{Name: name, Description: o.Raw("description"), Schema: o.Raw("parameters"), Strict: o.Raw("strict")}
	var client translate.ClientTool
	switch s.Type() {
	case "function":
		checkParameters(x, tool.Schema)
	case "tool_search":
		if string(o.Word("execution")) != "client" {
			x.Lose(serverSearchRow, nil)
			o.LoseMembers(x, "description", "parameters")
			return false
		}
		checkParameters(x, tool.Schema)
		tool.Name = []byte(`"` + searchName + `"`)
		t.declare(tool, translate.ClientTool{Name: searchName, Search: true})
		return true
	case "custom":
		if tool.Description != nil && !jsonscan.IsString(tool.Description) {
			x.Invalid("description", "must be a string")
		}
		tool = core.Tool{Name: name, Description: tool.Description, Free: true}
		readGrammar(x, o.Raw("format"), &tool)
		if !x.Can(core.FreeTool) {
			tool, client.Wrapped = wrapped(tool), true
		}
	case "namespace":
		if t.namespace != nil {
			x.Lose(unknownToolRow, kind)
			return true
		}
		tools := o.Raw("tools")
		if isNamespace(x, name, "name") {
			t.namespace = name
		}
		t.readList(tools)
		t.namespace = nil
		return true
	}
	if len(jsonscan.Inner(name)) == 0 {
		x.Invalid("name", "required")
		return true
	}
	if t.namespace != nil {
		client.Namespace = jsonscan.TextOf(t.namespace)
		tool.Name = append(flatName([]byte{'"'}, t.namespace, name), '"')
	}
	if client != (translate.ClientTool{}) {
		client.Name = jsonscan.TextOf(name)
	}
	t.declare(tool, client)
	return true
}

// askForImages makes the tool of a kind that makes images ask the model for them, if the model is known
// to make some. It reports whether the request asks for images, by the tool or otherwise.
func (t *toolReader) askForImages(kind []byte) bool {
	x := t.x
	if !x.Options.Has(core.Images) && t.allowed == nil && !x.Options.Has(core.ToolChoiceNone) && x.Can(core.Images) && makesImages(x.Info.Shown()) {
		x.SetOption(imageToolRow, kind)
	}
	return x.Options.Has(core.Images)
}

// makesImages reports whether the provider's name of a model states that the model makes images,
// as most names do: a model that makes none refuses a request for them.
func makesImages(model string) bool { return strings.Contains(strings.ToLower(model), "image") }

// declare declares a tool, in place of an earlier one with the same name.
func (t *toolReader) declare(tool core.Tool, client translate.ClientTool) {
	d := declaredTool{placed[core.Tool]{t.x.At, tool}, client}
	if t.byName != nil {
		name := string(tool.Name)
		if i, declared := t.byName[name]; declared && t.declared[i].client == client {
			t.declared[i] = d
			return
		}
		t.byName[name] = len(t.declared)
	}
	t.declared = append(t.declared, d)
}

// checkCallers refuses a tool that only the vendor's own code may call.
func checkCallers(x *core.Translation, callers []byte) {
	if callers != nil && callers[0] != '[' {
		x.Invalid("allowed_callers", "must be an array of strings")
	}
	for _, raw := range jsonschema.Elements(callers) {
		if string(raw) != `"direct"` {
			x.Lose(otherCallersRow, raw)
		}
	}
}

// checkParameters refuses a schema that is not an object.
func checkParameters(x *core.Translation, raw []byte) {
	if !isObject(raw) {
		x.Invalid("parameters", "must be an object")
	}
}

// readGrammar reads which text a tool takes. A provider that does not hold the model to it
// still shows it to the model.
func readGrammar(x *core.Translation, raw []byte, tool *core.Tool) {
	if raw == nil {
		return
	}
	var f core.Object
	f.ReadRaw(x, raw, textFormats, "format")
	f.LoseOthers(x, f.Shape())
	switch kind := f.Raw("type"); string(jsonscan.DecodedOf(kind)) {
	case "text":
	case "grammar":
		tool.Syntax, tool.Definition = f.Raw("syntax"), f.Raw("definition")
		if !jsonscan.IsString(tool.Syntax) || !jsonscan.IsString(tool.Definition) {
			x.Invalid("format", "must have a syntax and a definition")
		}
		x.Keep(core.Grammar, nil)
	default:
		x.Lose(unknownGrammarRow, kind)
	}
}

// wrapping is the schema of a function that replaces a custom tool, whose input is free
// text.
const wrapping = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// wrapped returns the function that replaces a custom tool for providers that have
// functions alone.
func wrapped(tool core.Tool) core.Tool {
	words := append([]byte{'"'}, jsonscan.Inner(tool.Description)...)
	if len(words) > 1 {
		words = append(words, `\n\n`...)
	}
	words = append(words, `Put the raw text, as it is, into the member \"input\".`...)
	if tool.Syntax != nil {
		words = append(append(words, ` It follows this grammar (`...), jsonscan.Inner(tool.Syntax)...)
		words = append(append(words, `):\n`...), jsonscan.Inner(tool.Definition)...)
	}
	return core.Tool{Name: tool.Name, Description: append(words, '"'), Schema: []byte(wrapping)}
}

// flatName appends the name that replaces a namespace and the name of a tool in it; both
// are raw.
func flatName(dst, namespace, name []byte) []byte {
	const separator = "__"
	flat := jsonscan.AppendText(nil, namespace)
	if n := len(flat); n < len(separator) || string(flat[n-len(separator):]) != separator {
		flat = append(flat, separator...)
	}
	return toolcall.AppendName(dst, jsonscan.AppendText(flat, name))
}

// isNamespace reports whether a raw value at a path names a namespace, and refuses one
// that is no text.
func isNamespace(x *core.Translation, raw []byte, path string) bool {
	if raw != nil && !jsonscan.IsString(raw) {
		x.Invalid(path, "must be a string")
	}
	return len(jsonscan.Inner(raw)) > 0
}

// isObject reports whether a raw value is an object or absent.
func isObject(raw []byte) bool { return raw == nil || raw[0] == '{' }
