package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readChoice reads the choice among the tools.
func (r *reader) readChoice(raw []byte) {
	o, x := &r.data, r.x
	o.ReadRaw(x, raw, choiceMembers, "toolConfig")
	o.LoseNamed(x, "toolConfig", "retrievalConfig")
	if o.Raw("includeServerSideToolInvocations") != nil {
		x.LoseMember("toolConfig", []byte("includeServerSideToolInvocations"))
	}
	o.ReadRaw(x, o.Raw("functionCallingConfig"), callingMembers, calling)
	word, names := o.Raw("mode"), jsonschema.Elements(o.Raw("allowedFunctionNames"))
	mode := string(bytes.ToUpper(o.Word("mode")))
	switch {
	case len(names) > 0 && mode != "ANY" && mode != validated:
		x.Invalid(ofChoice+"allowedFunctionNames", "needs the mode ANY or VALIDATED")
	case mode == "", mode == "MODE_UNSPECIFIED":
	case mode == "ANY" && len(names) == 1:
		x.SetOption(namedChoiceRow, word)
		x.SetOption(choiceNameRow, names[0])
	default:
		x.SetOption(rows.Value(ofChoice+"mode", mode), word)
		if len(names) > 0 {
			r.allowed = core.NewAllowedTools()
		}
		for _, name := range names {
			r.allowed.Allow(jsonscan.TextOf(name))
		}
	}
}

// readTools writes the tools that may be used, unless the writer gets none of them.
func (r *reader) readTools(raw []byte, prefix string) {
	x := r.x
	if len(raw) > 0 && raw[0] == '[' && !jsonscan.IsEmptyList(raw) {
		if x.Options.Has(core.ToolChoiceNone) && !x.Keep(core.UnusedTools, nil) || !x.Keep(core.FunctionTool, nil) {
			return
		}
		c := jsonscan.Again(raw)
		for x.EnterList(&c, prefix+"tools"); x.NextElement(&c); {
			r.object.Read(x, &c, toolMembers, "")
			for _, name := range toolMembers.Names() { // the other tools are those of the service
				if name != "functionDeclarations" && r.object.Raw(name) != nil {
					x.KeepAs(core.VendorTool, rows.Named("tools[*]."+name), nil)
				}
			}
			r.readFunctions(r.object.Raw("functionDeclarations"))
		}
	}
	r.allowed.Check(x, ofChoice+"allowedFunctionNames", missingAllowedRow)
}

// noParameters is the schema of a function that declares none.
var noParameters = []byte(`{"type":"object","properties":{}}`)

// readFunctions writes the functions that an element of the tools declares.
func (r *reader) readFunctions(raw []byte) {
	o, x := &r.data, r.x
	c := jsonscan.Again(raw)
	for x.EnterList(&c, "functionDeclarations"); x.NextElement(&c); {
		o.Read(x, &c, functionMembers, "")
		o.LoseNamed(x, function, "response", "responseJsonSchema")
		if string(o.Word("behavior")) == "NON_BLOCKING" {
			x.Lose(blockingTool, nil)
		}
		tool := core.Tool{Name: o.Raw("name"), Description: o.Raw("description"), Schema: noParameters}
		if raw := o.Raw("parameters"); raw != nil {
			tool.Schema, _ = jsonSchema(raw, true)
		} else if raw := o.Raw("parametersJsonSchema"); raw != nil {
			tool.Schema, _ = jsonSchema(raw, false)
			tool.SchemaRow = jsonSchemaRow
		}
		if strictly := x.Options[core.ToolChoiceAuto]; strictly.Row == validatedRow && isClosed(tool.Schema) {
			tool.Strict = []byte("true")
		}
		if len(jsonscan.Inner(tool.Name)) == 0 {
			x.Invalid("name", "required")
		} else if r.allowed.Has(tool.Name) {
			r.args.tool = tool
			r.w.Tool(&r.args.tool)
		}
	}
}
