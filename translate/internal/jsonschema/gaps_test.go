package jsonschema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
)

// Servers of tools publish lists of anything without their items, and libraries write absent
// members as null. OpenAI ("array schema missing items") and Gemini ("items: missing field") refuse
// each request with such a list among its tools, and Claude one with a null ("required: Input
// should be a valid list").
func TestSchemasHaveNoGaps(t *testing.T) {
	for _, tt := range []struct{ name, schema, want string }{
		{"none", ``, ""},
		{"a boolean", `true`, ""},
		{"whole", `{ "type": "object", "properties": {"a": {"type": ["array", "null"], "items": {}}}, "default": null }`, ""},
		{"words that are no types", `{"description":"an \"array\"","enum":["array",null],"const":null,"example":null,"properties":{"array":{"type":"string"}}}`, ""},
		{"values with the shape of schemas", `{"default":{"type":"array","required":null},"enum":[{"type":"array"}]}`, ""},
		{"an array", `{"type":"object","properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`},
		{"an array or null", `{"properties":{"a":{"type":["array","null"],"minItems":1}}}`, `{"properties":{"a":{"type":["array","null"],"minItems":1,"items":{}}}}`},
		{"an array of arrays", `{"properties":{"a":{"type":"array","items":{"type":"array"}}}}`, `{"properties":{"a":{"type":"array","items":{"type":"array","items":{}}}}}`},
		{"a tuple", `{"properties":{"a":{"type":"array","prefixItems":[{"type":"array"}]}}}`, `{"properties":{"a":{"type":"array","prefixItems":[{"type":"array","items":{}}],"items":{}}}}`},
		{"in a choice", `{"properties":{"a":{"anyOf":[{"type":"array"},{"type":"null"}]}}}`, `{"properties":{"a":{"anyOf":[{"type":"array","items":{}},{"type":"null"}]}}}`},
		{"in a definition", `{"$defs":{"d":{"type":"array"}},"definitions":{"e":{"type":"array"}}}`, `{"$defs":{"d":{"type":"array","items":{}}},"definitions":{"e":{"type":"array","items":{}}}}`},
		{"free names", `{"additionalProperties":{"type":"array"}}`, `{"additionalProperties":{"type":"array","items":{}}}`},
		{"a property of the name items", `{"properties":{"items":{"type":"array"}}}`, `{"properties":{"items":{"type":"array","items":{}}}}`},
		{"no list of required names", `{"type":"object","properties":{"a":{"type":"string","enum":null}},"required":null}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"no type, and no items", `{"type":null,"properties":{"a":{"type":"array","items": null}}}`, `{"properties":{"a":{"type":"array","items":{}}}}`},
	} {
		want := tt.want
		if want == "" {
			want = tt.schema
		}
		assert.Equal(t, want, string(jsonschema.Filled([]byte(tt.schema))), tt.name)
		assert.Equal(t, want != tt.schema, jsonschema.RootOf([]byte(tt.schema)).Has(jsonschema.Gaps), tt.name)
	}
}

// A tool without arguments is an object without properties: OpenAI refuses each request with one
// ("object schema missing properties").
func TestSchemasOfArgumentsHaveProperties(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`{}`, `{"properties":{}}`},
		{`{ }`, `{"properties":{}}`},
		{`{"type":"object"}`, `{"type":"object","properties":{}}`},
		{`{"\u0074ype":"obj\u0065ct","additionalProperties":false}`, `{"\u0074ype":"obj\u0065ct","additionalProperties":false,"properties":{}}`},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{}}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{}}},"properties":{}}`},
		{`{"properties":null}`, `{"properties":{}}`},
	} {
		assert.True(t, jsonschema.RootOf([]byte(tt.schema)).Has(jsonschema.Bare), tt.schema)
		assert.Equal(t, tt.want, string(jsonschema.WithProperties([]byte(tt.schema))))
		assert.False(t, jsonschema.RootOf([]byte(tt.want)).Has(jsonschema.Bare), tt.want)
	}
	for _, schema := range []string{``, `true`, `{"type":"string"}`, `{"type":["string","null"]}`, `{"properties":{}}`} {
		assert.False(t, jsonschema.RootOf([]byte(schema)).Has(jsonschema.Bare), schema)
	}
}
