package core

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonschema"
)

// AppendSchema appends the schema of a tool, with the type that providers require.
func AppendSchema(dst, schema []byte) []byte {
	if schema[0] != '{' || jsonscan.MemberOf(schema, "type") != nil {
		return append(dst, schema...)
	}
	dst = append(dst, `{"type":"object"`...)
	if !jsonscan.IsEmptyList(schema) {
		dst = append(dst, ',')
	}
	return append(dst, schema[1:]...)
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
	for _, loss := range lost {
		x.Losses.AddIn(loss.Class, option.Row.path(), loss.Path)
	}
	option.Raw = schema
}

// ShapeTool writes the schema of a tool in the form that services accept, and reports what differs.
func ShapeTool(x *Translation, t *Tool) {
	schema, lost := jsonschema.Arguments(t.Schema)
	t.report(x, lost)
	t.Schema = schema
}

// NameArguments writes the schema of a tool without the arguments that the messages format has no
// names for, and reports them.
func NameArguments(x *Translation, t *Tool) {
	schema, lost := jsonschema.Named(t.Schema)
	t.report(x, lost)
	t.Schema = schema
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
	at := x.At.upTo(row)
	for _, loss := range lost {
		x.Losses.AddPath(loss.Class, at.append(nil, row.at.member+loss.Path, true))
	}
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
	schema, lost, free := jsonschema.Enforceable(AppendSchema(nil, t.Schema))
	if free != "" {
		LoseStrict(x, t)
		return
	}
	t.report(x, lost)
	t.Schema = schema
}

// noArguments is the schema of a tool without arguments, which services enforce.
var noArguments = []byte(`{"type":"object","properties":{},"additionalProperties":false}`)

// LoseStrict reports that the arguments of a tool need not follow its schema.
func LoseStrict(x *Translation, t *Tool) {
	x.Lose(x.From.Rows.concepts[ToolStrict], t.Strict)
	t.Strict = nil
}
