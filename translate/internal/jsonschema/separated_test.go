package jsonschema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
)

// Moonshot refuses each request with a tool whose schema has words beside a reference ("conflicting
// keywords found after $ref expansion", "when using $ref, type should be defined in the referenced
// schema"), as libraries write the description of an argument, or a type beside a choice ("when using
// anyOf, type should be defined in anyOf items").
func TestReferencesAndChoicesAreAlone(t *testing.T) {
	for _, tt := range []struct{ name, schema, want, lost string }{
		{"none", `{"type":"object","properties":{"a":{"description":"d","type":"string"}}}`, "", ""},
		{"alone", `{ "properties": {"a": {"$ref": "#/$defs/d"}, "b": {"anyOf": [{"type": "string"}]}}, "$defs": {"d": {}} }`, "", ""},
		{"a description", `{"properties":{"a":{"description":"d","$ref":"#/$defs/d","default":1}}}`, `{"properties":{"a":{"$ref":"#/$defs/d"}}}`, ".properties.*.description,.properties.*.default"},
		{"a type", `{"properties":{"a":{"$ref":"#/$defs/d","type":"string"}}}`, `{"properties":{"a":{"$ref":"#/$defs/d"}}}`, ""},
		{"a bound", `{"$defs":{"e":{"$ref":"#/$defs/d","maximum":9}}}`, `{"$defs":{"e":{"$ref":"#/$defs/d"}}}`, ".$defs.*.maximum"},
		{"at the root", `{"type":"object","$ref":"#/$defs/d","$defs":{"d":{}}}`, "", ""},
		{"older definitions", `{"properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"items":{"$ref":"#/definitions/e"}},"e":{}}}`, `{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"items":{"$ref":"#/$defs/e"}},"e":{}}}`, ""},
		{"a choice", `{"properties":{"a":{"type":"string","anyOf":[{"enum":["a"]},{},{"type":"string"},{"$ref":"#/$defs/d"},true],"description":"d"}}}`, `{"properties":{"a":{"anyOf":[{"type":"string","enum":["a"]},{"type":"string"},{"type":"string"},{"$ref":"#/$defs/d"},true],"description":"d"}}}`, ""},
		{"a choice in a choice", `{"items":{"type":"object","anyOf":[{"anyOf":[{"required":["a"]}]}]}}`, `{"items":{"anyOf":[{"anyOf":[{"type":"object","required":["a"]}]}]}}`, ""},
		{"an argument with such a name", `{"properties":{"$ref":{"type":"string"},"anyOf":{"type":"string"},"type":{}}}`, "", ""},
	} {
		got, lost := jsonschema.Separated([]byte(tt.schema))
		want := tt.want
		if want == "" {
			want = tt.schema
		}
		assert.Equal(t, want, string(got), tt.name)
		assert.Equal(t, tt.lost, lost.String(), tt.name)
	}
}
