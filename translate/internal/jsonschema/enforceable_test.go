package jsonschema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
)

// Services that enforce schemas refuse what they cannot enforce, while other vendors and the
// libraries that make schemas of types write it as a matter of course.
func TestEnforceableSchemasAreWhatServicesAccept(t *testing.T) {
	for _, tt := range []struct{ name, schema, want, lost string }{
		{"closed already", `{ "type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false }`, "", ""},
		{"no object", `{"type":"array","items":{"type":"string"},"minItems":1}`, "", ""},
		{"an open object", `{"type":"object"}`, `{"type":"object","additionalProperties":false}`, ".additionalProperties"},
		{"explicitly open", `{"additionalProperties":true,"type":"object","properties":{}}`, `{"additionalProperties":false,"type":"object","properties":{}}`, ".additionalProperties"},
		{"open by an empty schema", `{"type":"object","additionalProperties":{}}`, `{"type":"object","additionalProperties":false}`, ".additionalProperties"},
		{"an object without a type", `{"properties":{"a":{}}}`, `{"properties":{"a":{}},"additionalProperties":false}`, ".additionalProperties"},
		{"one that may be null", `{"type":["object","null"]}`, `{"type":["object","null"],"additionalProperties":false}`, ".additionalProperties"},
		{
			"in others", `{"type":"array","items":{"type":"object"},"$defs":{"x":{"anyOf":[{"type":"object"}]}}}`,
			`{"type":"array","items":{"type":"object","additionalProperties":false},"$defs":{"x":{"anyOf":[{"type":"object","additionalProperties":false}]}}}`,
			".items.additionalProperties,.$defs.*.anyOf.*.additionalProperties",
		},
		{"a property by the name of a limit", `{"type":"object","properties":{"minimum":{"type":"string"}},"additionalProperties":false}`, "", ""},
		{"a value that looks like a schema", `{"enum":["object"],"default":{"type":"object","minimum":1}}`, "", ""},
		{"bounds of numbers", `{"type":"number","minimum":1,"maximum":2,"exclusiveMinimum":0,"exclusiveMaximum":3,"multipleOf":0.5}`, `{"type":"number"}`, ".minimum,.maximum,.exclusiveMinimum,.exclusiveMaximum,.multipleOf"},
		{"bounds of texts", `{"type":"string","minLength":1,"maxLength":2}`, `{"type":"string"}`, ".minLength,.maxLength"},
		{"bounds of lists", `{"type":"array","minItems":2,"maxItems":3,"uniqueItems":true,"contains":{}}`, `{"type":"array"}`, ".minItems,.maxItems,.uniqueItems,.contains"},
		{"a list by places", `{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, `{"type":"array"}`, ".prefixItems,.items"},
		{"bounds of objects", `{"type":"object","additionalProperties":false,"maxProperties":3,"propertyNames":{}}`, `{"type":"object","additionalProperties":false}`, ".maxProperties,.propertyNames"},
		{"known formats", `{"anyOf":[{"format":"date-time"},{"format":"uuid"},{"format":"ipv6"}]}`, "", ""},
		{"other formats", `{"anyOf":[{"format":"int64"},{"format":"iri"}]}`, `{"anyOf":[{},{}]}`, ".anyOf.*.format"},
		{"plain patterns", `{"anyOf":[{"pattern":"^[a-z]{2,3}\\d+(?:x|y)\\.$"},{"pattern":"\\\\b"}]}`, "", ""},
		{"other patterns", `{"anyOf":[{"pattern":"(?=a)"},{"pattern":"(a)\\1"},{"pattern":"\\bword"},{"pattern":"(?<n>a)"}]}`, `{"anyOf":[{},{},{},{}]}`, ".anyOf.*.pattern"},
		{"a choice of one", `{"oneOf":[{"type":"string"},{"type":"object"}]}`, `{"anyOf":[{"type":"string"},{"type":"object","additionalProperties":false}]}`, ".oneOf,.anyOf.*.additionalProperties"},
		{"a reference with company", `{"allOf":[{"$ref":"#/$defs/a"}],"description":"d"}`, `{"$ref":"#/$defs/a","description":"d"}`, ""},
		{"conditions", `{"not":{"type":"null"},"if":{},"then":{},"else":{},"dependentRequired":{}}`, `{}`, ".not,.if,.then,.else,.dependentRequired"},
		{"words of nobody", `{"type":"string","x-order":1,"discriminator":{},"fileUri":1}`, `{"type":"string"}`, ".?,.discriminator,.fileUri"},
		{"a type that nobody has", `{"anyOf":[{"type":"any"},{"type":["string","date"]},{"type":["string","null"]}]}`, `{"anyOf":[{},{},{"type":["string","null"]}]}`, ".anyOf.*.type"},
		{"a type that may be null", `{"type":"string","nullable":true}`, `{"type":["string","null"]}`, ""},
		{"one that may not", `{"type":"string","nullable":false}`, `{"type":"string"}`, ".nullable"},
		{"a schema elsewhere", `{"anyOf":[{"$ref":"https://x/s.json"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"string"}}}`, `{"anyOf":[{},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"string"}}}`, ".anyOf.*.$ref"},
		{"required members that nobody describes", `{"type":"object","properties":{"a":{},"\u0062":{}},"required":["a","b","c"]}`, `{"type":"object","properties":{"a":{},"\u0062":{}},"required":["a","b"],"additionalProperties":false}`, ".additionalProperties,.required"},
		{"a definition used twice", `{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"string"}}}`, "", ""},
		{"a list of objects among values", `{"enum":["a",{"b":1}]}`, `{}`, ".enum"},
		{"a boolean", `true`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, lost, free := jsonschema.Enforceable([]byte(tt.schema))
			want := tt.want
			if want == "" {
				want = tt.schema
			}
			assert.Equal(t, want, string(got))
			assert.Equal(t, tt.lost, lost.String())
			assert.Empty(t, free)
			_, repeated, _ := jsonschema.Enforceable(got)
			assert.Empty(t, repeated, "an enforceable schema stays as it is")
		})
	}
}

// No closed object has the members of a map, so that the answer would lack what is asked for.
func TestSchemasOfFreeNamesAreNotEnforceable(t *testing.T) {
	for schema, path := range map[string]string{
		`{"type":"object","additionalProperties":{"type":"number"}}`:                             ".additionalProperties",
		`{"type":"array","items":{"type":"object","patternProperties":{"^a":{}}}}`:               ".items.patternProperties",
		`{"$defs":{"m":{"properties":{"a":{"additionalProperties":{"anyOf":[{}],"title":1}}}}}}`: ".$defs.*.properties.*.additionalProperties",
	} {
		_, _, free := jsonschema.Enforceable([]byte(schema))
		assert.Equal(t, path, free, schema)
	}
}

// Claude has no answers of any depth: a schema of trees, which OpenAI takes, was sent to it unchanged,
// and refused. Nor does it take a reference that holds beside another schema.
func TestSchemasThatContainThemselvesAreNotEnforceable(t *testing.T) {
	for schema, path := range map[string]string{
		`{"type":"object","properties":{"c":{"type":"array","items":{"$ref":"#"}}}}`:                                                               ".properties.*.items.$ref",
		`{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}}}}}`:                                                             ".$defs.*.properties.*.$ref",
		`{"items":{"$ref":"#/definitions/a"},"definitions":{"a":{"anyOf":[{"$ref":"#/definitions/b"}]},"b":{"items":{"$ref":"#/definitions/a"}}}}`: ".definitions.*.items.$ref",
		`{"items":{"$ref":"#/$defs/a/$defs/b"},"$defs":{"a":{"$defs":{"b":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/a/$defs/b"}]}}}}}`:            ".$defs.*.$defs.*.anyOf.*.$ref",
		`{"properties":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"description":"d"}]}},"$defs":{"a":{"type":"string"}}}`:                                ".properties.*.allOf",
		`{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{"a":{"type":"string"},"b":{"type":"string"}}}`:                              ".allOf",
		`{"properties":{"$ref":{"type":"string"}},"$defs":{"unused":{"items":{"$ref":"#/$defs/unused"}}}}`:                                         "",
	} {
		_, _, free := jsonschema.Enforceable([]byte(schema))
		assert.Equal(t, path, free, schema)
	}
}

func TestDeepSchemasAreWalked(t *testing.T) {
	schema := strings.Repeat(`{"items":`, 200) + `{"type":"object"}` + strings.Repeat("}", 200)
	got, lost, _ := jsonschema.Enforceable([]byte(schema))
	assert.Contains(t, string(got), `"additionalProperties":false`)
	assert.Len(t, lost, 1)
}
