package request_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	chat "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/request"
	messages "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
	responses "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// The models of the tests, by what they ask for.
const (
	older = "gemini-2.0-flash"
	flash = "gemini-2.5-flash"
	three = "gemini-3-flash-preview"
)

var sealer = func() *seal.Sealer {
	ring, err := seal.NewRing([]byte("0123456789abcdef"))
	if err != nil {
		panic(err)
	}
	return ring.For("gemini", "")
}()

// write translates a request for a model.
func write(from *core.Source, model, body string) (string, core.Rendered, *fault.Fault) {
	info := &core.RequestInfo{Model: "m1", Upstream: model, Operation: translate.Generate, Seals: sealer}
	out, r, f := core.Render(nil, []byte(body), info, from, &request.Target)
	return string(out), r, f
}

// written returns the request for a model, which a strict service accepts.
func written(t *testing.T, from *core.Source, model, body string) (string, core.Rendered) {
	t.Helper()
	out, r, f := write(from, model, body)
	require.Nil(t, f, body)
	require.Empty(t, strictly(out, model), out)
	return out, r
}

// refusal returns the message with which a request is refused.
func refusal(t *testing.T, from *core.Source, model, body string) string {
	t.Helper()
	_, _, f := write(from, model, body)
	require.NotNil(t, f, body)
	return f.Message
}

// asked is a messages request with members, whose conversation is one text.
func asked(members string) string {
	return `{"model":"m1","max_tokens":10,"messages":[{"role":"user","content":"hi"}]` + members + `}`
}

// talk is a messages request with messages, chatted the chat request with them.
func talk(messages string) string {
	return `{"model":"m1","max_tokens":10,"messages":[` + messages + `]}`
}
func chatted(messages string) string { return `{"model":"m1","messages":[` + messages + `]}` }

// paths returns the paths of the losses.
func paths(r core.Rendered) (all []string) {
	for _, loss := range r.Losses {
		all = append(all, loss.Path)
	}
	return all
}

const hi = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]`

func TestK002TheBodyHasNoModelAndNoStream(t *testing.T) {
	out, r := written(t, &messages.Source, flash, asked(`,"stream":true`))
	assert.Equal(t, hi+`,"generationConfig":{"maxOutputTokens":10}}`, out)
	assert.True(t, r.Answer.Stream)
}

func TestK003BlocksOfTheSystemArePartsOfTheInstruction(t *testing.T) {
	out, _ := written(t, &messages.Source, flash, asked(`,"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`))
	assert.Equal(t, hi+`,"systemInstruction":{"parts":[{"text":"a"},{"text":"b"}]},"generationConfig":{"maxOutputTokens":10}}`, out)
}

func TestK004MessagesOfOneRoleAreOneContent(t *testing.T) {
	out, _ := written(t, &chat.Source, flash, chatted(`{"role":"user","content":"a"},{"role":"user","content":"b"}`))
	assert.Equal(t, `{"contents":[{"role":"user","parts":[{"text":"a"},{"text":"b"}]}]}`, out)
	assert.Contains(t, refusal(t, &chat.Source, flash, chatted(`{"role":"system","content":"a"}`)), "at least one message")
}

// The conversation of a tool in the chat format.
const (
	question = `{"role":"user","content":"q"}`
	calls    = `{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},` +
		`{"id":"c2","type":"function","function":{"name":"g","arguments":""}}]}`
	results = `{"role":"tool","tool_call_id":"c1","content":"one"},{"role":"tool","tool_call_id":"c2","content":"two"}`
)

func TestK005K006ResultsHaveTheNamesOfTheirCallsAndShareOneContent(t *testing.T) {
	out, _ := written(t, &chat.Source, flash, chatted(question+","+calls+","+results))
	assert.Equal(t, `{"contents":[{"role":"user","parts":[{"text":"q"}]},`+
		`{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}},{"functionCall":{"name":"g","args":{}}}]},`+
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"one"}}},`+
		`{"functionResponse":{"name":"g","response":{"output":"two"}}}]}]}`, out)
}

func TestK005AResultWithoutItsCallIsRefused(t *testing.T) {
	message := refusal(t, &chat.Source, flash, chatted(question+`,{"role":"tool","tool_call_id":"c9","content":"x"}`))
	assert.Contains(t, message, "messages[1]")
	assert.Contains(t, message, "answers a tool call that is not in front of it")
}

func TestK007AConversationThatOpensWithACallGetsABeginning(t *testing.T) {
	out, _ := written(t, &chat.Source, flash, chatted(calls+","+results))
	assert.Contains(t, out, `{"contents":[{"role":"user","parts":[{"text":"[The beginning of the conversation was left out.]"}]},{"role":"model"`)
}

func TestK008ResponsesAreObjects(t *testing.T) {
	result := func(content string) string {
		return talk(`{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"text","text":"then"},{"type":"tool_result","tool_use_id":"t1",` + content + `}]}`)
	}
	for content, want := range map[string]string{
		`"content":"plain"`:               `{"output":"plain"}`,
		`"content":"[1,2]"`:               `{"output":"[1,2]"}`,
		`"content":"bad","is_error":true`: `{"error":"bad"}`,
		`"content":[]`:                    `{"output":""}`,
		`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`: `{"output":"a\nb"}`,
	} {
		out, _ := written(t, &messages.Source, flash, result(content))
		assert.Contains(t, out, `[{"functionResponse":{"name":"f","response":`+want+`}},{"text":"then"}]`)
	}
}

func TestImagesOfResultsAreInTheResultForNewerModelsOnly(t *testing.T) {
	body := talk(`{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`)
	const image = `{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`
	out, _ := written(t, &messages.Source, flash, body)
	assert.Contains(t, out, `{"functionResponse":{"name":"f","response":{"output":""}}},`+image+`]`)
	out, _ = written(t, &messages.Source, three, body)
	assert.Contains(t, out, `"response":{"output":""},"parts":[`+image+`]}}]`)
}

func TestImagesAndDocumentsAreParts(t *testing.T) {
	content := func(parts string) string { return talk(`{"role":"user","content":[` + parts + `]}`) }
	for parts, want := range map[string]string{
		`{"type":"image","source":{"type":"url","url":"https://h/a.PNG?x=1"}}`:                          `{"fileData":{"mimeType":"image/png","fileUri":"https://h/a.PNG?x=1"}}`,
		`{"type":"image","source":{"type":"url","url":"https://h/a"}}`:                                  `{"fileData":{"fileUri":"https://h/a"}}`,
		`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`:   `{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}`,
		`{"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"x"}}`: `{"text":"T\nx"}`,
		`{"type":"search_result","title":"T","source":"s","content":[{"type":"text","text":"x"}]}`:      `{"text":"T\ns\nx"}`,
	} {
		out, _ := written(t, &messages.Source, flash, content(parts))
		assert.Contains(t, out, `"parts":[`+want+`]`)
	}
	assert.Contains(t, refusal(t, &messages.Source, older, content(`{"type":"image","source":{"type":"url","url":"https://h/a.png"}}`)), "cannot be translated")
}

// A document without a title, a context and parts began a content, which was not written: the
// turns of the model before and after it were two contents of one role.
func TestADocumentWithoutPartsIsNoContent(t *testing.T) {
	const nothing = `{"role":"user","content":[{"type":"document","source":{"type":"content","content":[]}}]}`
	out, _ := written(t, &messages.Source, flash, talk(`{"role":"user","content":"a"},{"role":"assistant","content":"b"},`+nothing+`,{"role":"assistant","content":"c"},{"role":"user","content":"d"}`))
	assert.Contains(t, out, `{"role":"model","parts":[{"text":"b"},{"text":"c"}]}`)
}

// tool is a request with a tool that has a schema.
func tool(schema, more string) string {
	return asked(`,"tools":[{"name":"x","description":"d","input_schema":` + schema + `}]` + more)
}

const strictSchema = `{"$schema":"s","type":"object","additionalProperties":false,"properties":{"k":{"const":"v"}},"required":["k"]}`

func TestK009NewerModelsGetTheSchemaUnchanged(t *testing.T) {
	out, r := written(t, &messages.Source, flash, tool(strictSchema, ""))
	assert.Contains(t, out, `"tools":[{"functionDeclarations":[{"name":"x","description":"d","parametersJsonSchema":`+strictSchema+`}]}]`)
	assert.Empty(t, r.Losses)
}

func TestK010OlderModelsGetTheirDialect(t *testing.T) {
	out, _ := written(t, &messages.Source, older, tool(strictSchema, ""))
	assert.Contains(t, out, `"parameters":{"type":"OBJECT","properties":{"k":{"type":"STRING","enum":["v"]}},"required":["k"]}`)
}

func TestSchemasOfTheOlderDialect(t *testing.T) {
	property := func(schema string) string { return `{"type":"object","properties":{"p":` + schema + `}}` }
	for schema, want := range map[string]string{
		`{"type":["string","null"]}`:                        `{"type":"STRING","nullable":true}`,
		`{"type":["string","integer"]}`:                     `{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}`,
		`{"anyOf":[{"type":"string"},{"type":"null"}]}`:     `{"type":"STRING","nullable":true}`,
		`{"anyOf":[{"type":"string"},{"type":"number"}]}`:   `{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}`,
		`{"type":"integer","exclusiveMinimum":0}`:           `{"type":"INTEGER","minimum":1}`,
		`{"type":"array"}`:                                  `{"type":"ARRAY","items":{}}`,
		`{"type":"object"}`:                                 `{"type":"OBJECT"}`,
		`{"allOf":[{"type":"string"},{"description":"d"}]}`: `{"type":"STRING","description":"d"}`,
		`{"type":"string","format":"date-time"}`:            `{"type":"STRING","format":"date-time"}`,
		`{"type":"string","format":"uri"}`:                  `{"type":"STRING"}`,
		`true`:                                              `{}`,
	} {
		out, r := written(t, &messages.Source, older, tool(property(schema), ""))
		assert.Contains(t, out, `"parameters":{"type":"OBJECT","properties":{"p":`+want+`}}`, schema)
		assert.Empty(t, r.Losses, schema)
	}
	for _, schema := range []string{`{"type":"integer","multipleOf":2}`, `{"enum":[1,2]}`, `{"type":"number","exclusiveMaximum":1.5}`} {
		_, r := written(t, &messages.Source, older, tool(property(schema), ""))
		assert.Equal(t, []string{"tools"}, paths(r), schema)
	}
}

func TestK011ASchemaThatContainsItselfIsRefused(t *testing.T) {
	const twice = `{"type":"object","properties":{"a":{"$ref":"#/$defs/s"},"b":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`
	out, _ := written(t, &messages.Source, older, tool(twice, ""))
	assert.Contains(t, out, `"properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}`)
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#"}}}`,
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`,
	} {
		message := refusal(t, &messages.Source, older, tool(schema, ""))
		assert.Contains(t, message, "tools.0")
		assert.Contains(t, message, "contains itself")
	}
	assert.Contains(t, refusal(t, &messages.Source, older, tool(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`, "")), "refers to a schema")
}

func TestK012AToolWithoutPropertiesHasNoParameters(t *testing.T) {
	out, _ := written(t, &messages.Source, older, tool(`{"type":"object","properties":{}}`, ""))
	assert.Contains(t, out, `"functionDeclarations":[{"name":"x","description":"d"}]`)
}

func TestK013ChoicesAmongTools(t *testing.T) {
	for choice, want := range map[string]string{
		`{"type":"tool","name":"x"}`: `{"mode":"ANY","allowedFunctionNames":["x"]}`,
		`{"type":"any"}`:             `{"mode":"ANY"}`,
		`{"type":"none"}`:            `{"mode":"NONE"}`,
		`{"type":"auto"}`:            `{"mode":"AUTO"}`,
	} {
		out, _ := written(t, &messages.Source, flash, tool(strictSchema, `,"tool_choice":`+choice))
		assert.Contains(t, out, `"functionDeclarations":[{"name":"x"`)
		assert.Contains(t, out, `"toolConfig":{"functionCallingConfig":`+want+`}`)
	}
	out, _ := written(t, &messages.Source, flash, asked(`,"tools":[{"name":"x","strict":true,"input_schema":{"type":"object"}}]`))
	assert.Contains(t, out, `{"mode":"VALIDATED"}`)
}

func TestNamesThatTheServiceRefusesAreReplaced(t *testing.T) {
	out, r := written(t, &messages.Source, flash, asked(`,"tools":[{"name":"1st","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"1st"}`))
	assert.Contains(t, out, `[{"name":"_1st"`)
	assert.Contains(t, out, `"allowedFunctionNames":["_1st"]`)
	assert.Equal(t, map[string]string{"_1st": "1st"}, r.Answer.Tools.Shortened)
}

func TestK014K015K016ThinkingFollowsTheGenerationOfTheModel(t *testing.T) {
	effort := func(word string) string {
		return `{"model":"m1","messages":[` + question + `],"reasoning_effort":"` + word + `"}`
	}
	thinking := func(value string) string {
		return `{"model":"m1","max_tokens":32000,"messages":[` + question + `],"thinking":` + value + `}`
	}
	for name, tt := range map[string]struct {
		from              *core.Source
		model, body, want string
	}{
		"K014 a budget":              {&chat.Source, flash, effort("low"), `"thinkingBudget":1024,"includeThoughts":true`},
		"K014 a level":               {&chat.Source, three, effort("low"), `"thinkingLevel":"low","includeThoughts":true`},
		"K015 no minimal":            {&chat.Source, "gemini-3.7-flash", effort("minimal"), `"thinkingLevel":"low","includeThoughts":true`},
		"K015 an alias":              {&chat.Source, "gemini-flash-latest", effort("minimal"), `"thinkingLevel":"low","includeThoughts":true`},
		"minimal":                    {&chat.Source, three, effort("minimal"), `"thinkingLevel":"minimal","includeThoughts":true`},
		"K016 always thinks":         {&messages.Source, "gemini-2.5-pro", thinking(`{"type":"disabled"}`), `"thinkingBudget":128,"includeThoughts":false`},
		"off":                        {&messages.Source, flash, thinking(`{"type":"disabled"}`), `"thinkingBudget":0,"includeThoughts":false`},
		"the client's budget":        {&messages.Source, flash, thinking(`{"type":"enabled","budget_tokens":3000}`), `"thinkingBudget":3000,"includeThoughts":true`},
		"a large budget":             {&messages.Source, flash, thinking(`{"type":"enabled","budget_tokens":30000}`), `"thinkingBudget":24576,"includeThoughts":true`},
		"a budget for a level":       {&messages.Source, three, thinking(`{"type":"enabled","budget_tokens":10000}`), `"thinkingLevel":"high","includeThoughts":true`},
		"adaptive":                   {&messages.Source, flash, thinking(`{"type":"adaptive"}`), `"thinkingBudget":-1,"includeThoughts":true`},
		"adaptive, without a budget": {&messages.Source, three, thinking(`{"type":"adaptive"}`), `"includeThoughts":true`},
		"hidden":                     {&messages.Source, three, thinking(`{"type":"adaptive","display":"omitted"}`), `"includeThoughts":false`},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := written(t, tt.from, tt.model, tt.body)
			assert.Contains(t, out, `"thinkingConfig":{`+tt.want+`}`)
		})
	}
	out, r := written(t, &chat.Source, older, effort("low"))
	assert.NotContains(t, out, "thinking")
	assert.Equal(t, []string{"reasoning_effort"}, paths(r))
}

func TestK018SeveralAnswersAndBiasesAreRefused(t *testing.T) {
	with := func(members string) string { return `{"model":"m1","messages":[` + question + `],` + members + `}` }
	assert.Contains(t, refusal(t, &chat.Source, flash, with(`"n":2`)), "n: 2")
	assert.Contains(t, refusal(t, &chat.Source, flash, with(`"logit_bias":{"1":5}`)), "logit_bias")
	written(t, &chat.Source, flash, with(`"n":1,"logit_bias":{}`))
}

func TestK019ArgumentsAreObjects(t *testing.T) {
	written(t, &chat.Source, flash, chatted(question+","+calls+","+results)) // the arguments of g are ""
	broken := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"[1]"}}]}`
	out, r := written(t, &chat.Source, flash, chatted(question+","+broken+`,{"role":"tool","tool_call_id":"c1","content":"no"}`))
	assert.Contains(t, out, `"args":{"_arguments":[1]}`)
	assert.Equal(t, []string{"messages[*].tool_calls[*].function.arguments"}, paths(r))
}

func TestOptionsOfTheAnswer(t *testing.T) {
	out, r := written(t, &chat.Source, flash, `{"model":"m1","messages":[`+question+`],"max_completion_tokens":9,"temperature":1.5,"top_p":0.5,`+
		`"seed":7,"presence_penalty":1,"frequency_penalty":-1,"stop":["a","b"],"response_format":{"type":"json_object"},"parallel_tool_calls":false}`)
	assert.Contains(t, out, `"generationConfig":{"maxOutputTokens":9,"temperature":1.5,"topP":0.5,"seed":7,"presencePenalty":1,`+
		`"frequencyPenalty":-1,"stopSequences":["a","b"],"responseMimeType":"application/json"}`)
	assert.Equal(t, []string{"parallel_tool_calls"}, paths(r))
	assert.Equal(t, translate.Hint, r.Losses[0].Class)
}

func TestTheSchemaOfTheAnswerHasTheDialectOfTheModel(t *testing.T) {
	body := `{"model":"m1","messages":[` + question + `],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` + strictSchema + `}}}`
	out, _ := written(t, &chat.Source, flash, body)
	assert.Contains(t, out, `{"responseMimeType":"application/json","responseJsonSchema":`+strictSchema+`}`)
	out, _ = written(t, &chat.Source, older, body)
	assert.Contains(t, out, `"responseSchema":{"type":"OBJECT","properties":{"k":{"type":"STRING","enum":["v"]}},"required":["k"]}`)
}

func TestTheGatewayEnforcesMoreStopsThanTheServiceAccepts(t *testing.T) {
	out, r := written(t, &messages.Source, flash, asked(`,"stop_sequences":["a","b","c","d","e","f"]`))
	assert.Contains(t, out, `"stopSequences":["a","b","c","d","e"]`)
	assert.Contains(t, r.Answer.Cuts.Stops, "f")
}

func TestTokensAreCountedOfAWholeRequest(t *testing.T) {
	info := &core.RequestInfo{Model: "m1", Upstream: flash, Operation: translate.CountTokens}
	out, _, f := core.Render(nil, []byte(`{"model":"m1","system":"s","messages":[`+question+`]}`), info, &messages.Source, &request.Target)
	require.Nil(t, f)
	assert.JSONEq(t, `{"generateContentRequest":{"model":"models/gemini-2.5-flash","contents":[{"role":"user","parts":[{"text":"q"}]}],`+
		`"systemInstruction":{"parts":[{"text":"s"}]}}}`, string(out))
}

// sealedThought is a thinking block that has a signature of the format.
func sealedThought(payload string) string {
	signature, _ := json.Marshal(string(sealer.Append(nil, seal.Item, []byte(payload))))
	return `{"type":"thinking","thinking":"","signature":` + string(signature) + `}`
}

// used is the call of a tool in the messages format, returned its result.
func used(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"f","input":{}}` }
func returned(ids ...string) (blocks string) {
	for _, id := range ids {
		blocks += `,{"type":"tool_result","tool_use_id":"` + id + `","content":"r"}`
	}
	return `{"role":"user","content":[` + blocks[1:] + `]}`
}

func model(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }

func TestSignaturesReturnToTheirParts(t *testing.T) {
	out, r := written(t, &messages.Source, three, talk(question+","+
		model(`{"type":"text","text":"a"},`+sealedThought("part:T1")+","+sealedThought("call:C1")+","+used("t1"))+","+returned("t1")))
	assert.Contains(t, out, `{"role":"model","parts":[{"text":"a","thoughtSignature":"T1"},{"functionCall":{"id":"t1","name":"f","args":{}},"thoughtSignature":"C1"}]}`)
	assert.Empty(t, r.Losses)
}

func TestASignatureWithoutATextHasAnEmptyOne(t *testing.T) {
	out, _ := written(t, &messages.Source, three, talk(question+","+model(used("t1")+","+sealedThought("part:T1"))+","+returned("t1")))
	assert.Contains(t, out, `{"text":"","thoughtSignature":"T1"}]`)
}

// Chat clients keep all thinking in front of the text and the calls.
func TestSignaturesInFrontOfAllPartsReturnToTheirParts(t *testing.T) {
	out, _ := written(t, &chat.Source, three, chatted(question+`,{"role":"assistant","content":"a","thinking_blocks":[`+
		sealedThought("part:T1")+","+sealedThought("call:C1")+`],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},`+
		`{"role":"tool","tool_call_id":"c1","content":"r"}`))
	assert.Contains(t, out, `[{"text":"a","thoughtSignature":"T1"},{"functionCall":{"id":"c1","name":"f","args":{}},"thoughtSignature":"C1"}]`)
}

const dummy = `,"thoughtSignature":"skip_thought_signature_validator"`

func TestK022OnlyFirstCallsOfTheCurrentTurnGetAStandIn(t *testing.T) {
	out, _ := written(t, &messages.Source, three, talk(question+","+model(used("t1"))+","+returned("t1")+","+question+","+
		model(used("t2")+","+used("t3"))+","+returned("t2", "t3")+","+model(used("t4"))+","+returned("t4")))
	call := func(id, signature string) string {
		return `{"functionCall":{"id":"` + id + `","name":"f","args":{}}` + signature + `}`
	}
	assert.Contains(t, out, call("t1", ""))
	assert.Contains(t, out, call("t2", dummy)+","+call("t3", ""))
	assert.Contains(t, out, call("t4", dummy))
	out, _ = written(t, &messages.Source, flash, talk(question+","+model(used("t1"))+","+returned("t1")))
	assert.NotContains(t, out, "thoughtSignature")
}

func TestK023ASignedFirstCallNeedsNoStandIn(t *testing.T) {
	out, _ := written(t, &messages.Source, three, talk(question+","+model(sealedThought("call:C1")+","+used("t1")+","+used("t2"))+","+returned("t1", "t2")))
	assert.NotContains(t, out, "skip_thought")
	assert.Contains(t, out, `"thoughtSignature":"C1"`)
}

func TestK024ThinkingOfAnotherVendorIsLeftOutWithAHint(t *testing.T) {
	out, r := written(t, &messages.Source, three, talk(question+","+
		model(`{"type":"thinking","thinking":"x","signature":"EqQB"},{"type":"text","text":"a"}`)+","+question))
	assert.NotContains(t, out, "EqQB")
	require.Len(t, r.Losses, 1)
	assert.Equal(t, translate.Hint, r.Losses[0].Class)
}

func TestK025K026OnlyNewerModelsGetIDs(t *testing.T) {
	body := talk(question + "," + model(used("f1")) + "," + returned("f1"))
	out, _ := written(t, &messages.Source, "gemini-3.5-flash", body)
	assert.Contains(t, out, `{"functionCall":{"id":"f1","name":"f"`)
	assert.Contains(t, out, `{"functionResponse":{"id":"f1","name":"f"`)
	out, _ = written(t, &messages.Source, flash, body)
	assert.NotContains(t, out, `"id"`)
}

func TestResponsesClientsAskForTheSame(t *testing.T) {
	out, _ := written(t, &responses.Source, flash, `{"model":"m1","instructions":"s","input":[{"role":"user","content":"q"},`+
		`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"r"}]}`)
	assert.Equal(t, `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},`+
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}],"systemInstruction":{"parts":[{"text":"s"}]}}`, out)
}

func FuzzWrite(f *testing.F) {
	f.Add(talk(question+","+model(sealedThought("call:C1")+","+used("t1"))+","+returned("t1")), byte(0))
	f.Add(tool(strictSchema, `,"tool_choice":{"type":"any"}`), byte(1))
	f.Add(chatted(question+","+calls+","+results), byte(2))
	f.Fuzz(func(t *testing.T, body string, n byte) {
		model := []string{older, flash, three}[n%3]
		if _, refused := messages.Inspect([]byte(body), translate.Generate); refused == nil {
			if out, _, f := write(&messages.Source, model, body); f == nil {
				require.Empty(t, strictly(out, model), out)
			}
		}
		if _, refused := chat.Inspect([]byte(body), translate.Generate); refused == nil {
			if out, _, f := write(&chat.Source, model, body); f == nil {
				require.Empty(t, strictly(out, model), out)
			}
		}
	})
}
