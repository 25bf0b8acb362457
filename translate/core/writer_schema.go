package core

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// AppendSchema appends the schema of a tool that has one, with the type that providers require.
func AppendSchema(dst []byte, t *Tool) []byte {
	if t.Schema[0] != '{' || jsonschema.RootOf(t.Schema).Has(jsonschema.Typed) {
		return append(dst, t.Schema...)
	}
	dst = append(dst, `{"type":"object"`...)
	if !jsonscan.IsEmptyList(t.Schema) {
		dst = append(dst, ',')
	}
	return append(dst, t.Schema[1:]...)
}

// reshape replaces the schema of a tool, and reports what differs.
func (t *Tool) reshape(x *Translation, schema []byte, lost translate.Losses) {
	t.report(x, lost)
	t.Schema = schema
}

// EnforceSchema writes the schema of the answer in the form that services enforce, and reports
// what differs. It refuses a schema that has no such form.
func EnforceSchema(x *Translation) {
	option := &x.Options[Schema]
	if option.Raw == nil {
		return
	}
	schema, lost, free := jsonschema.Enforceable(option.Raw)
	if free != "" {
		x.Fail(x.Info.Refuse(x.To.Format, option.Row.path()+free, ""))
	}
	x.Losses.AddBelow(option.Row.path(), lost)
	option.Raw = schema
}

// schemaInstruction is the instruction to follow a schema, which is appended to it.
const schemaInstruction = "Answer with one JSON object that follows this JSON Schema, and nothing else: "

// writeFormat asks in words for the format of the answer where the model has no option for it.
func writeFormat(x *Translation, w Writer, tools bool) {
	o, kind := &x.Options, x.Traits.JSONSchema
	if kind == trait.JSONSchemaNative || kind == trait.JSONSchemaAlone && !tools {
		return
	}
	text, schema := []byte(JSONObjectInstruction), o[Schema]
	switch {
	case schema.Raw != nil:
		text = jsonscan.AppendEscaped([]byte(schemaInstruction), jsonscan.AppendCompact(nil, schema.Raw))
	case kind == trait.JSONSchemaObject, !o.Has(FormatObject):
		return
	}
	if kind == trait.JSONSchemaAlone { // rules depend on traits alone, and this depends on the tools
		for c := FormatObject; c <= SchemaStrict; c++ {
			fate := Shaped
			if c > Schema {
				fate = Hinted
			}
			if row := o[c].Row; row != nil {
				x.report(row, fate, nil, nil)
			}
		}
	}
	o.Clear(FormatObject, SchemaStrict)
	if kind == trait.JSONSchemaObject && x.To.Keeps(FormatObject, x.Traits) {
		o[FormatObject] = schema
	}
	w.Turn(Instructions)
	w.Text(text)
	w.EndTurn()
}

// ShapeTool writes the schema of a tool in the form that services accept, and reports what differs.
func ShapeTool(x *Translation, t *Tool) {
	schema, lost := jsonschema.Arguments(t.Schema)
	t.reshape(x, jsonschema.WithProperties(jsonschema.Filled(schema)), lost)
	if x.Traits.ReferencesAlone {
		schema, lost := jsonschema.Separated(t.Schema)
		t.reshape(x, schema, lost)
	}
}

// SeparateSchema writes the schema of the answer with references and choices that are alone, if the
// provider demands that, and reports what differs.
func SeparateSchema(x *Translation) {
	if option := &x.Options[Schema]; option.Raw != nil && x.Traits.ReferencesAlone {
		schema, lost := jsonschema.Separated(option.Raw)
		x.Losses.AddBelow(option.Row.path(), lost)
		option.Raw = schema
	}
}

// FillSchema writes into the schema of a tool what services of all formats miss in it.
func FillSchema(t *Tool) { t.Schema = jsonschema.Filled(t.Schema) }

// NameArguments writes the schema of a tool without the arguments that the messages format has no
// names for, and reports them.
func NameArguments(x *Translation, t *Tool) {
	schema, lost := jsonschema.Named(t.Schema)
	t.reshape(x, schema, lost)
}

// report reports what is left out of the schema of a tool.
func (t *Tool) report(x *Translation, lost translate.Losses) {
	if len(lost) == 0 {
		return
	}
	row := t.SchemaRow
	if row == nil {
		row = x.From.Rows.concepts[ToolSchema]
	}
	place := x.At.upTo(row)
	x.Losses.AddBelow(string(place.append(nil, row.place.member, true)), lost)
}

// EnforceTool is ShapeTool, and EnforceSchema for the schema of a tool whose arguments must follow
// the schema. If there is no such form, the arguments need not.
func EnforceTool(x *Translation, t *Tool) {
	ShapeTool(x, t)
	switch {
	case !jsonscan.IsTrue(t.Strict):
		return
	case t.Schema == nil:
		t.Schema = noArguments
		return
	}
	schema, lost, free := jsonschema.Enforceable(AppendSchema(nil, t))
	if free != "" {
		LoseStrict(x, t)
		return
	}
	t.reshape(x, schema, lost)
}

// noArguments is the schema of a tool without arguments, which services enforce.
var noArguments = []byte(`{"type":"object","properties":{},"additionalProperties":false}`)

// LoseStrict reports that the arguments of a tool need not follow its schema.
func LoseStrict(x *Translation, t *Tool) {
	if t.Strict == nil {
		return
	}
	x.Lose(x.From.Rows.concepts[ToolStrict], t.Strict)
	t.Strict = nil
}
