package pairs_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// schemaField is a field of a client's format with a schema that the answer must follow.
type schemaField struct {
	source translate.Format
	path   string
	body   func(schema string) string
}

var schemaFields = []schemaField{
	{translate.Messages, "output_config.format.schema", func(schema string) string {
		return option(`"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`).body
	}},
	{translate.Messages, "output_format.schema", func(schema string) string {
		return option(`"output_format":{"type":"json_schema","schema":` + schema + `}`).body
	}},
	{translate.Messages, "tools.*.input_schema", func(schema string) string {
		return option(`"tools":[{"name":"f","strict":true,"input_schema":` + schema + `}]`).body
	}},
	{translate.Chat, "response_format.json_schema.schema", func(schema string) string {
		return wanting(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":` + schema + `}}`).body
	}},
	{translate.Chat, "tools[*].function.parameters", func(schema string) string {
		return wanting(`"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":` + schema + `}}]`).body
	}},
	{translate.Responses, "text.format.schema", func(schema string) string {
		return posing(`"text":{"format":{"type":"json_schema","name":"n","schema":` + schema + `}}`).body
	}},
	{translate.Responses, "tools[*].parameters", func(schema string) string {
		return posing(`"tools":[{"type":"function","name":"f","strict":true,"parameters":` + schema + `}]`).body
	}},
	{translate.Responses, "input[*].tools[*].parameters", func(schema string) string {
		return listing(`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"f","strict":true,"parameters":` + schema + `}]}`).body
	}},
	{translate.Gemini, "generationConfig.responseSchema", func(schema string) string {
		return configured(`"responseMimeType":"application/json","responseSchema":` + schema).body
	}},
	{translate.Gemini, "generationConfig.responseJsonSchema", func(schema string) string {
		return configured(`"responseMimeType":"application/json","responseJsonSchema":` + schema).body
	}},
}

// asOpenAPI is a schema as clients of the dialect with types in upper case write it.
func asOpenAPI(schema string) string {
	return regexp.MustCompile(`"type":"\w+"`).ReplaceAllStringFunc(schema, func(member string) string {
		return `"type":` + strings.ToUpper(strings.TrimPrefix(member, `"type":`))
	})
}

func (f schemaField) render(t *testing.T, target translate.Format, schema, traits string) (string, core.Rendered, *fault.Fault) {
	t.Helper()
	if f.source == translate.Gemini {
		schema = asOpenAPI(schema)
	}
	body := f.body(schema)
	_, wrong := formats.Of(f.source).Requests.Inspect([]byte(body), translate.Generate)
	require.Nil(t, wrong, body)
	info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(target), Traits: traitsOf(t, traits), Seals: sealer}
	out, r, refused := pairs.Render(nil, f.source, target, []byte(body), info)
	return string(out), r, refused
}

// A client's schema for another vendor left its objects open and bounded its numbers. Claude
// answered 400 "For 'object' type, 'additionalProperties' must be explicitly set to false", and
// Gemini clients, whose dialect has no such member, never got an answer.
func TestSchemasBecomeThoseThatTheServiceEnforces(t *testing.T) {
	members := []struct{ name, schema, want, lost string }{
		{"an open object", `{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`, ".additionalProperties"},
		{"a bound", `{"type":"object","properties":{"n":{"type":"integer","maximum":9}}}`, `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`, ".properties.*.maximum"},
		{"a list of objects", `{"type":"array","items":{"type":"object"},"maxItems":5}`, `{"type":"array","items":{"type":"object","additionalProperties":false}}`, ".items.additionalProperties"},
		{"a length", `{"anyOf":[{"type":"string","minLength":3},{"type":"object"}]}`, `{"anyOf":[{"type":"string"},{"type":"object","additionalProperties":false}]}`, ".anyOf.*.minLength"},
		{"a pattern", `{"type":"string","pattern":"^(?!x)"}`, `{"type":"string"}`, ".pattern"},
	}
	const opening, closed = `{"type":"object","properties":{"v":`, `,"additionalProperties":false}`
	for _, field := range schemaFields {
		for _, to := range []translate.Format{translate.Messages, translate.Converse} {
			if field.source == to {
				continue
			}
			for _, m := range members {
				t.Run(field.path+" of "+string(field.source)+" to "+string(to)+"/"+m.name, func(t *testing.T) {
					out, r, refused := field.render(t, to, opening+m.schema+"}"+closed, "")
					require.Nil(t, refused)
					requireRight(t, to, []byte(out))
					want := opening + m.want + "}"
					if to == translate.Converse && !strings.Contains(field.path, "tools") { // there, the schema is a text
						text, _ := json.Marshal(want)
						want = string(text[1 : len(text)-1])
					}
					assert.Contains(t, out, want)
					assert.Contains(t, r.Losses, translate.Loss{Path: field.path + ".properties.*" + m.lost, Class: translate.Shaping, Foreign: true})
				})
			}
		}
	}
}

// The rules are those of the services that enforce schemas: bytes pass to all others.
func TestSchemasStayAsTheyAreForOtherServices(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer","maximum":9}},"additionalProperties":{"type":"string"}}`
	for _, field := range schemaFields {
		if field.source == translate.Gemini {
			continue
		}
		for _, to := range []translate.Format{translate.Chat, translate.Responses, translate.Gemini} {
			if field.source == to {
				continue
			}
			out, r, refused := field.render(t, to, schema, "")
			require.Nil(t, refused)
			assert.Contains(t, out, schema, "%s to %s", field.path, to)
			assert.NotContains(t, r.Losses.String(), field.path)
		}
	}
}

// An answer cannot have the members of a map if every object is closed. The arguments of a tool
// are still described by its schema.
func TestMapsAreRefusedUnlessAToolDescribesThem(t *testing.T) {
	const schema = `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"number"}}}}`
	for _, field := range schemaFields {
		for _, to := range []translate.Format{translate.Messages, translate.Converse} {
			if field.source == to || strings.HasSuffix(field.path, "responseSchema") {
				continue
			}
			out, r, refused := field.render(t, to, schema, "")
			if !strings.Contains(field.path, "tools") {
				require.NotNil(t, refused, out)
				assert.Equal(t, field.path+".properties.*.additionalProperties", refused.Param)
				continue
			}
			require.Nil(t, refused)
			assert.Contains(t, out, `"additionalProperties":{"type":"number"}`)
			assert.NotContains(t, out, `"strict":true`)
			assert.Contains(t, r.Losses.String(), "strict")
		}
	}
}

// Of a tool with the argument "$filter", Claude gets the others; other services take all of them.
func TestArgumentsThatClaudeHasNoNamesForAreReported(t *testing.T) {
	const schema = `{"type":"object","properties":{"$filter":{"type":"string"},"top":{"type":"integer"}},"required":["top"]}`
	body := wanting(`"tools":[{"type":"function","function":{"name":"f","parameters":` + schema + `}}]`).body
	for _, to := range []translate.Format{translate.Messages, translate.Responses, translate.Converse, translate.Gemini} {
		out, r, refused := renderOf(t, translate.Chat, to, body)
		require.Nil(t, refused)
		if to == translate.Messages {
			assert.Contains(t, out, `{"type":"object","properties":{"top":{"type":"integer"}},"required":["top"]}`)
			assert.Contains(t, r.Losses.String(), "tools[*].function.parameters.properties.*")
		} else {
			assert.Contains(t, out, schema, to)
			assert.NotContains(t, r.Losses.String(), "parameters")
		}
	}
}

// toolFields are the fields of the clients' formats with the schema of the arguments of a tool.
var toolFields = []schemaField{
	{translate.Messages, "tools.*.input_schema", func(schema string) string { return option(`"tools":[{"name":"f","input_schema":` + schema + `}]`).body }},
	{translate.Chat, "tools[*].function.parameters", func(schema string) string {
		return wanting(`"tools":[{"type":"function","function":{"name":"f","parameters":` + schema + `}}]`).body
	}},
	{translate.Responses, "tools[*].parameters", func(schema string) string {
		return posing(`"tools":[{"type":"function","name":"f","strict":false,"parameters":` + schema + `}]`).body
	}},
	{translate.Gemini, "tools[*].functionDeclarations[*].parametersJsonSchema", func(schema string) string {
		return ofParts(`{"text":"a"}`).body[:len(ofParts(`{"text":"a"}`).body)-1] + `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":` + schema + `}]}]}`
	}},
}

// A server of tools publishes "one of these arguments" as a choice at the root of a schema. Claude,
// Nova and OpenAI refuse each request that has such a tool among its tools; Gemini takes it.
func TestSchemasOfToolsHaveNoChoiceAtTheirRoot(t *testing.T) {
	for _, c := range []struct{ schema, want, lost string }{
		{`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, "anyOf"},
		{`{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, "oneOf"},
		{`{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}}]}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, "allOf"},
		{`{"type":["object","null"],"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		{`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, ""},
	} {
		for _, field := range toolFields {
			for _, to := range []translate.Format{translate.Messages, translate.Chat, translate.Responses, translate.Converse, translate.Gemini} {
				if to == field.source {
					continue
				}
				out, r, refused := renderOf(t, field.source, to, field.body(c.schema))
				require.Nil(t, refused, "%s to %s", field.path, to)
				want, lost := c.want, c.lost
				if to == translate.Gemini {
					want, lost = c.schema[1:], "" // behind a type that is added
				}
				assert.Contains(t, out, want, "%s to %s", field.path, to)
				if lost == "" {
					assert.NotContains(t, r.Losses.String(), field.path, "%s to %s", field.path, to)
				} else {
					assert.Contains(t, r.Losses.String(), field.path+"."+lost, "%s to %s", field.path, to)
				}
			}
		}
	}
}

// One tool without arguments, or with a list of anything, made OpenAI refuse every request of Claude
// Code, whose own service takes both; Gemini refuses the list, too.
func TestSchemasOfToolsHaveWhatServicesDemand(t *testing.T) {
	for _, c := range []struct{ schema, want, gemini string }{
		{`{"type":"object"}`, `{"type":"object","properties":{}}`, `{"type":"object"}`},
		{`{}`, `{"type":"object","properties":{}}`, `{"type":"object"}`},
		{`{"type":"object","properties":null,"required":null}`, `{"type":"object","properties":{}}`, `{"type":"object"}`},
		{`{"type":null,"properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`, ""},
		{`{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","properties":{}}`, `"anyOf":`},
	} {
		for _, field := range toolFields {
			for _, to := range []translate.Format{translate.Messages, translate.Chat, translate.Responses, translate.Converse, translate.Gemini} {
				if to == field.source {
					continue
				}
				out, _, refused := renderOf(t, field.source, to, field.body(c.schema))
				require.Nil(t, refused, "%s to %s", field.path, to)
				want := c.want
				if to == translate.Gemini && c.gemini != "" { // an object without properties has any
					want = c.gemini
				}
				assert.Contains(t, out, want, "%s to %s", field.path, to)
			}
		}
	}
}

// The schemas of tools and of answers reached Moonshot as the client wrote them, and were refused with
// a description beside a reference, as that of an argument is written by libraries of Python.
func TestReferencesAreAloneForServicesThatDemandIt(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"$ref":"#/$defs/d","description":"x"}},"required":["a"],"additionalProperties":false,"$defs":{"d":{"type":"string"}}}`
	for _, field := range append(slices.Clone(toolFields), schemaFields...) {
		if field.source == translate.Chat || strings.HasSuffix(field.path, "responseSchema") { // which has no references
			continue
		}
		out, r, refused := field.render(t, translate.Chat, schema, "schema_references alone")
		require.Nil(t, refused, field.path)
		assert.Contains(t, out, `"a":{"$ref":"#/$defs/d"}`, field.path)
		assert.Contains(t, r.Losses.String(), field.path+".properties.*.description", field.path)
	}
}
