package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
)

// A tool that is made of an OpenAPI document has an argument "$filter". Claude refuses each request
// with such a tool: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
func TestArgumentsHaveNamesThatServicesAccept(t *testing.T) {
	const lost = ".properties.*"
	long := strings.Repeat("n", 65)
	for _, tt := range []struct{ name, schema, want, lost string }{
		{"plain", `{ "type": "object", "properties": {"a.b-c_1": {"properties": {"$x": {}}}}, "required": ["a.b-c_1"] }`, "", ""},
		{"none", ``, "", ""},
		{"no properties", `{"type":"object","$defs":{"$a":{"properties":{"$b":{}}}}}`, "", ""},
		{"a dollar", `{"type":"object","properties":{"$filter":{"type":"string"},"top":{"type":"integer"}},"required":["$filter","top"]}`, `{"type":"object","properties":{"top":{"type":"integer"}},"required":["top"]}`, lost},
		{"a space, brackets and an at", `{"properties":{"user name":{},"user[id]":{},"@type":{},"a":{}}}`, `{"properties":{"a":{}}}`, lost},
		{"other letters, and an escape", `{"properties":{"名":{},"\u0024a":{},"\\u0061":{},"\u0061":{}}}`, `{"properties":{"\u0061":{}}}`, lost},
		{"too long, and empty", `{"properties":{"` + long + `":{},"":{},"` + long[:64] + `":{}}}`, `{"properties":{"` + long[:64] + `":{}}}`, lost},
	} {
		got, lost := jsonschema.Named([]byte(tt.schema))
		want := tt.want
		if want == "" {
			want = tt.schema
		}
		assert.Equal(t, want, string(got), tt.name)
		assert.Equal(t, tt.lost, lost.String(), tt.name)
	}
}

// A server of tools publishes "one of these arguments" as a choice at the root of a schema. OpenAI
// and Claude refuse each request that has such a tool among its tools.
func TestSchemasOfArgumentsAreObjectsWithoutAChoice(t *testing.T) {
	for _, tt := range []struct{ name, schema, want, lost string }{
		{"an object", `{ "type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}} }`, "", ""},
		{"no type", `{"properties":{"not":{"enum":[1]}}}`, "", ""},
		{"none", ``, "", ""},
		{"a boolean", `true`, "", ""},
		{"a list of types without an object", `{"type":["string","null"]}`, "", ""},
		{
			"one of these is required", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, ".anyOf",
		},
		{
			"one of these objects", `{"oneOf":[{"type":"object","properties":{"k":{"const":"x"},"a":{"type":"string"}},"required":["k","a"]},{"properties":{"k":{"const":"y"},"b":{}},"required":["k"]}]}`,
			`{"properties":{"k":{"anyOf":[{"const":"x"},{"const":"y"}]},"a":{"type":"string"},"b":{}},"required":["k"]}`, ".oneOf",
		},
		{
			"all of these", `{"type":"object","properties":{"a":{}},"required":["a"],"allOf":[{"properties":{"b":{"type":"string"}},"required":["b"]},{"properties":{"a":{"type":"number"}},"required":["a","c"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{"type":"string"}},"required":["a","b","c"]}`, ".allOf",
		},
		{
			"references to definitions", `{"$defs":{"A":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/definitions/B"},{"$ref":"#/$defs/none"}],"definitions":{"B":{"properties":{"x":{"type":"integer"}}}}}`,
			`{"$defs":{"A":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},"definitions":{"B":{"properties":{"x":{"type":"integer"}}}},"properties":{"x":{"type":"integer"}}}`, ".anyOf",
		},
		{"one that may be null", `{"type":["object","null"],"properties":{}}`, `{"type":"object","properties":{}}`, ""},
		{"what is not, and values", `{"type":"object","not":{"required":["a"]},"enum":[{}],"const":{}}`, `{"type":"object"}`, ".enum,.const,.not"},
		{"a choice that is no list", `{"type":"object","anyOf":{}}`, `{"type":"object"}`, ".anyOf"},
		{"a choice with a boolean", `{"type":"object","oneOf":[true,{"required":["a"]}]}`, `{"type":"object"}`, ".oneOf"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, lost := jsonschema.Arguments([]byte(tt.schema))
			want := tt.want
			if want == "" {
				want = tt.schema
			}
			assert.Equal(t, want, string(got))
			assert.Equal(t, tt.lost, lost.String())
			_, repeated := jsonschema.Arguments(got)
			assert.Empty(t, repeated)
		})
	}
}

// many returns a list of n values with commas between.
func many(n int, value func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = value(i)
	}
	return strings.Join(all, ",")
}

// A tool of 200 kB with references to a definition behind others kept a processor busy for four
// seconds, and one of some megabytes for minutes: each reference, name and schema was searched for
// among all others. The test would not end.
func TestSchemasWithManyChoicesCostWhatTheirSizeCosts(t *testing.T) {
	const n = 60_000
	name := func(i int) string { return fmt.Sprintf(`"p%05d"`, i) }
	object := func(i int) string { return name(i) + `:{"type":"string"}` }
	for what, schema := range map[string]string{
		"references to one":     `{"anyOf":[` + many(n, func(int) string { return `{"$ref":"#/$defs/z"}` }) + `],"$defs":{` + many(n, object) + `,"z":{"properties":{"a":{}}}}}`,
		"references to many":    `{"allOf":[` + many(n, func(i int) string { return `{"$ref":"#/definitions/` + strings.Trim(name(i), `"`) + `"}` }) + `],"definitions":{` + many(n, object) + `}}`,
		"references to no one":  `{"oneOf":[` + many(n, func(i int) string { return fmt.Sprintf(`{"$ref":"#/$defs/none%d"}`, i) }) + `],"$defs":{` + many(n, object) + `}}`,
		"properties":            `{"properties":{` + many(n, object) + `},"anyOf":[{"properties":{` + many(n, func(i int) string { return object(i + n/2) }) + `}}]}`,
		"schemas of a property": `{"anyOf":[` + many(n, func(i int) string { return fmt.Sprintf(`{"properties":{"a":{"const":%d}}}`, i) }) + `]}`,
		"required by all":       `{"required":[` + many(n, name) + `],"allOf":[{"required":[` + many(n, func(i int) string { return name(n - i) }) + `]}]}`,
		"required by any":       `{"anyOf":[{"required":[` + many(n, name) + `]},{"required":[` + many(n, func(i int) string { return name(n - i) }) + `]}]}`,
	} {
		out, lost := jsonschema.Arguments([]byte(schema))
		assert.True(t, json.Valid(out), what)
		assert.Len(t, lost, 1, what)
		assert.Less(t, len(out), len(schema), what)
	}
}

// A list of a megabyte inside 90 schemas was read once for each of them.
func TestASchemaDeepInsideOthersIsEditedWithinABound(t *testing.T) {
	const depth = 90
	values := `{"minLength":1,"enum":[` + many(200_000, func(i int) string { return strconv.Itoa(i) }) + `]}`
	for _, around := range [][2]string{{`{"items":`, `}`}, {`{"type":"object","properties":{"a":`, `}}`}, {`{"anyOf":[`, `]}`}, {`{"allOf":[`, `]}`}} {
		schema := strings.Repeat(around[0], depth) + values + strings.Repeat(around[1], depth)
		visited := 0
		out, deep := jsonschema.Append(nil, []byte(schema), func(*jsonschema.Schema) { visited++ })
		assert.True(t, schema == string(out))
		assert.Less(t, visited, depth)
		assert.NotEmpty(t, deep)
		_, _, free := jsonschema.Enforceable([]byte(schema))
		assert.Equal(t, deep, free)
	}
	flat := `{"items":{"properties":{"a":` + values + `}}}`
	_, deep := jsonschema.Append(nil, []byte(flat), func(*jsonschema.Schema) {})
	assert.Empty(t, deep)
}
