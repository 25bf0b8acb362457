package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

const schemaToFollow = `{"type":"object","properties":{"k":{"type":"string"}},"required":["k"],"additionalProperties":false}`

// schemaAsked are requests for an answer that follows a schema, alone and beside a tool, with the
// path of the loss.
var schemaAsked = map[translate.Format]struct{ alone, besideTools, path string }{
	translate.Messages: {
		conversation(hi, `"output_config":{"format":{"type":"json_schema","schema":`+schemaToFollow+`}}`),
		conversation(hi, `"output_config":{"format":{"type":"json_schema","schema":`+schemaToFollow+`}}`, oneTool),
		"output_config.format",
	},
	translate.Chat: {
		wanting(`"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` + schemaToFollow + `}}`).body,
		wanting(`"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":`+schemaToFollow+`}}`, oneFunction).body,
		"response_format",
	},
	translate.Responses: {
		posing(`"text":{"format":{"type":"json_schema","name":"n","schema":` + schemaToFollow + `}}`).body,
		posing(`"text":{"format":{"type":"json_schema","name":"n","schema":`+schemaToFollow+`}}`, `"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}]`).body,
		"text.format",
	},
	translate.Gemini: {
		generating(`"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":` + schemaToFollow + `}`).body,
		generating(`"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":`+schemaToFollow+`}`, `"tools":[{"functionDeclarations":[{"name":"f"}]}]`).body,
		"generationConfig.responseJsonSchema",
	},
}

// schemaMembers are the members by which providers are asked for a schema, and for any object: ""
// where the format has none.
var schemaMembers = map[translate.Format]struct{ schema, object string }{
	translate.Chat:        {`"type":"json_schema"`, `"response_format":{"type":"json_object"}`},
	translate.Messages:    {`"type":"json_schema"`, ""},
	translate.Responses:   {`"type":"json_schema"`, `"format":{"type":"json_object"}`},
	translate.Gemini:      {`"responseJsonSchema"`, `"responseMimeType":"application/json"`},
	translate.Converse:    {`"type":"json_schema"`, ""},
	translate.Completions: {`"structured_outputs"`, ""},
}

// A service that has no schemas, or none beside tools, refuses a request with one.
func TestSchemasForModelsThatTakeNone(t *testing.T) {
	const inWords = `Answer with one JSON object that follows this JSON Schema, and nothing else: {\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"}},\"required\":[\"k\"],\"additionalProperties\":false}`
	for _, c := range []struct {
		trait                 string
		besideTools           bool
		native, object, words bool
	}{
		{"native", false, true, false, false},
		{"object", false, false, true, true},
		{"instruct", false, false, false, true},
		{"alone", false, true, false, false},
		{"alone", true, false, false, true},
	} {
		for from, asked := range schemaAsked {
			for to, member := range schemaMembers {
				if !pairs.CanTranslate(from, to) || c.besideTools && to == translate.Completions {
					continue
				}
				t.Run(c.trait+" from "+string(from)+" to "+string(to), func(t *testing.T) {
					body := asked.alone
					if c.besideTools {
						body = asked.besideTools
					}
					traits := traitsOf(t, "extensions structured_outputs; json_schema "+c.trait)
					info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(to), Traits: traits, Seals: sealer}
					rendered, r, refused := pairs.Render(nil, from, to, []byte(body), info)
					require.Nil(t, refused)
					out := string(rendered)
					if c.native {
						assert.Contains(t, out, member.schema)
					} else {
						assert.NotContains(t, out, member.schema)
						assert.Contains(t, lossesOf(r.Losses), asked.path)
						assert.Contains(t, lossesOf(r.Losses), "shaping")
					}
					if c.words {
						assert.Contains(t, out, inWords)
					} else {
						assert.NotContains(t, out, "follows this JSON Schema")
					}
					if member.object != "" && !c.native {
						assert.Equal(t, c.object, strings.Contains(out, member.object), out)
					}
					requireRight(t, to, rendered)
				})
			}
		}
	}
}

// A service without any format of the answer is asked for an object in words, too.
func TestAnObjectForModelsThatHaveNoFormat(t *testing.T) {
	body := wanting(`"response_format":{"type":"json_object"}`).body
	for _, to := range []translate.Format{translate.Responses, translate.Gemini} {
		for trait, object := range map[string]bool{"object": true, "instruct": false, "alone": true} {
			info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(to), Traits: traitsOf(t, "json_schema "+trait)}
			out, r, refused := pairs.Render(nil, translate.Chat, to, []byte(body), info)
			require.Nil(t, refused)
			assert.Equal(t, object, strings.Contains(string(out), schemaMembers[to].object), trait)
			assert.Equal(t, !object, strings.Contains(string(out), core.JSONObjectInstruction), trait)
			assert.Equal(t, !object, strings.Contains(lossesOf(r.Losses), "response_format.type shaping"), trait)
		}
	}
}
