package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// fromGemini translates a request of a gemini client.
func fromGemini(t *testing.T, target translate.Format, op translate.Operation, body, traits string) (string, core.Rendered, *fault.Fault) {
	t.Helper()
	if _, f := formats.Of(translate.Gemini).Requests.Inspect([]byte(body), op); f != nil {
		return "", core.Rendered{}, f
	}
	info := &core.RequestInfo{Operation: op, Model: "m1", Upstream: "up", Traits: traitsOf(t, traits), Seals: sealer}
	out, r, f := pairs.Render(nil, translate.Gemini, target, []byte(body), info)
	return string(out), r, f
}

// geminiCase is a request of a gemini client and what a provider gets of it.
type geminiCase struct {
	name, body string
	target     translate.Format
	traits     string
	want       []string // parts of the request, in their order
	not        string   // what the request must not have
	losses     string
	refused    string // the path of the field that is refused
}

func (c geminiCase) check(t *testing.T) {
	t.Helper()
	out, r, f := fromGemini(t, c.target, translate.Generate, c.body, c.traits)
	if c.refused != "" {
		require.NotNil(t, f, out)
		assert.Equal(t, c.refused, f.Param, f.Message)
		return
	}
	require.Nil(t, f)
	requireRight(t, c.target, []byte(out))
	rest := out
	for _, want := range c.want {
		_, after, found := strings.Cut(rest, want)
		require.True(t, found, "%s lacks %s", out, want)
		rest = after
	}
	if c.not != "" {
		assert.NotContains(t, out, c.not)
	}
	losses := lossesOf(r.Losses)
	if !strings.Contains(c.losses, addedBound) { // the bound that a provider needs is not what most cases are about
		losses = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(losses, addedBound), ", "), addedBound+", ")
	}
	assert.Equal(t, c.losses, losses)
}

const addedBound = "generationConfig.maxOutputTokens hint"

func checkAll(t *testing.T, cases []geminiCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

const (
	bareCallF   = `{"functionCall":{"name":"f","args":{"a":1}}}`
	bareCallG   = `{"functionCall":{"name":"g","args":{}}}`
	bareResultF = `{"functionResponse":{"name":"f","response":{"output":"x"}}}`
	bareResultG = `{"functionResponse":{"name":"g","response":{"output":"y"}}}`
	redPixel    = `{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`
	fromModel   = `,{"role":"model","parts":[`
	fromUserNow = `]},{"role":"user","parts":[`
)

func TestConversationsOfGeminiClients(t *testing.T) {
	longRun := contents(saying + fromModel + bareCallF + `,` + bareCallF + fromUserNow + bareResultF + `]},{"role":"user","parts":[` + strings.Replace(bareResultF, `"x"`, `"y"`, 1) + `]}`).body
	checkAll(t, []geminiCase{
		{name: "Y008 contents of one role are one turn", target: translate.Messages,
			body: contents(saying + fromModel + `{"text":"a"}]}` + fromModel + `{"text":""}]}` + fromModel + `{"text":"b"}` + fromUserNow + `{"text":"c"}]}`).body,
			want: []string{`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`}},
		{name: "Y009 results in contents of their own", target: translate.Messages, body: longRun,
			want: []string{`"id":"gwp_1_0"`, `"id":"gwp_1_1"`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"gwp_1_0","content":"x"},{"type":"tool_result","tool_use_id":"gwp_1_1","content":"y"}]}`}},
		{name: "Y010 ids are the same when a conversation goes on", target: translate.Chat, body: strings.Replace(longRun, `"y"`, `"z"`, 1),
			want: []string{`"id":"gwp_1_0"`, `"id":"gwp_1_1"`, `"tool_call_id":"gwp_1_0"`, `"tool_call_id":"gwp_1_1"`}},
		{name: "Y011 results follow the ids", target: translate.Chat,
			body: exchanging(`{"functionCall":{"id":"c1","name":"f"}},{"functionCall":{"id":"c2","name":"f"}}`, `{"functionResponse":{"id":"c2","name":"f","response":{"output":"second"}}},{"functionResponse":{"id":"c1","name":"f","response":{"output":"first"}}}`).body,
			want: []string{`"tool_call_id":"c2","content":"second"`, `"tool_call_id":"c1","content":"first"`}},
		{name: "Y012 a result without a call", target: translate.Chat, body: exchanging(bareCallF, bareResultG).body, refused: "contents[2].parts[0].functionResponse"},
		{name: "Y013 a result twice", target: translate.Messages, body: exchanging(geminiCall, geminiResult+","+geminiResult).body,
			want: []string{`"content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]`}, losses: "contents[*].parts[*].functionResponse hint"},
		{name: "Y013 two results of one call", target: translate.Messages,
			body: exchanging(geminiCall, geminiResult+","+strings.Replace(geminiResult, `"x"`, `"y"`, 1)).body, refused: "contents[2].parts[1].functionResponse"},
		{name: "Y014 an id with a colon", target: translate.Messages, body: strings.ReplaceAll(exchanging(geminiCall, geminiResult).body, `"c1"`, `"f:1"`),
			want: []string{`"id":"gwid1_`, `"tool_use_id":"gwid1_`}, not: "f:1"},
		{name: "Y015 the text of a result", target: translate.Messages, body: exchanging(bareCallF, bareResultF).body, want: []string{`"content":"x"`}, not: "is_error"},
		{name: "Y015 a result that is an error", target: translate.Messages, body: exchanging(bareCallF, strings.Replace(bareResultF, "output", "error", 1)).body, want: []string{`"content":"x"`, `"is_error":true`}},
		{name: "Y015 a result with another member", target: translate.Messages, body: exchanging(bareCallF, strings.Replace(bareResultF, `"output":"x"`, `"result": "x"`, 1)).body, want: []string{`"content":"{\"result\":\"x\"}"`}},
		{name: "Y015 a result with two members", target: translate.Messages, body: exchanging(bareCallF, strings.Replace(bareResultF, `"output":"x"`, `"name":"n","content":[1, 2]`, 1)).body, want: []string{`"content":"{\"name\":\"n\",\"content\":[1,2]}"`}},
		{name: "Y016 an image beside a result", target: translate.Messages, body: exchanging(bareCallF, redPixel+","+bareResultF).body,
			want: []string{`"type":"tool_result"`, `"type":"image"`}, losses: "contents[*].parts[*].text shaping"},
		{name: "Y017 no arguments", target: translate.Chat, body: exchanging(`{"functionCall":{"name":"f"}}`, bareResultF).body, want: []string{`"arguments":"{}"`}},
		{name: "Y017 digits survive", target: translate.Chat, body: exchanging(`{"functionCall":{"name":"f","args":{"n":12345678901234567890}}}`, bareResultF).body, want: []string{`{\"n\":12345678901234567890}`}},
		{name: "Y018 the other alphabet of base64", target: translate.Messages, body: ofParts(`{"inlineData":{"mimeType":"image/png","data":"_-8"}}`).body, want: []string{`"data":"/+8="`}},
		{name: "two calls with one id", target: translate.Chat,
			body: exchanging(geminiCall+","+geminiCall, geminiResult+","+strings.Replace(geminiResult, `"x"`, `"y"`, 1)).body,
			want: []string{`"id":"c1"`, `"id":"gwp_1_1"`, `"tool_call_id":"c1","content":"x"`, `"tool_call_id":"gwp_1_1","content":"y"`}},
		{name: "a call of the user", target: translate.Chat, body: ofParts(bareCallF).body, refused: "contents[0].parts[0].functionCall"},
		{name: "nothing but empty parts", target: translate.Chat, body: ofParts(`{"text":""}`).body, refused: "contents"},
		{name: "no role is that of the user", target: translate.Messages, body: `{"contents":[{"parts":[{"text":"a"}]}]}`, want: []string{`{"role":"user","content":[{"type":"text","text":"a"}]}`}},
		{name: "Y034 a file of the service", target: translate.Messages, body: ofParts(`{"fileData":{"mimeType":"image/png","fileUri":"gs://b/i.png"}}`).body, refused: "contents[0].parts[0].fileData.fileUri"},
		{name: "Y034 code that was run", target: translate.Messages, body: ofParts(`{"executableCode":{"code":"x"}}`).body, refused: "contents[0].parts[0].executableCode"},
		// Gemini 3 signs these parts, too: with a signature they were left out, and only its loss was reported.
		{name: "Y034 code that was run, signed", target: translate.Messages, body: ofParts(`{"executableCode":{"code":"x"},"thoughtSignature":"EqQB"}`).body, refused: "contents[0].parts[0].executableCode"},
		{name: "Y034 the output of code, signed", target: translate.Chat, body: ofParts(`{"codeExecutionResult":{"outcome":"OUTCOME_OK"},"thoughtSignature":"EqQB"}`).body, refused: "contents[0].parts[0].codeExecutionResult"},
		{name: "Y034 a tool of the service, signed", target: translate.Responses, body: ofParts(`{"toolCall":{"id":"a"},"thoughtSignature":"EqQB"}`).body, refused: "contents[0].parts[0].toolCall"},
		{name: "Y034 stored content", target: translate.Messages, body: generating(`"cachedContent":"cachedContents/c"`).body, refused: "cachedContent"},
		{name: "Y034 an image as the answer", target: translate.Messages, body: configured(`"responseModalities":["IMAGE"]`).body, refused: "generationConfig.responseModalities"},
	})
}

func TestOptionsOfGeminiClients(t *testing.T) {
	usual := configured(`"temperature":1`, `"topP":0.95`, `"topK":64`).body
	schema := `{"type":"OBJECT","nullable":true,"properties":{"b":{"type":"ARRAY","minItems":"2","items":{"type":"STRING"}},"a":{"type":"STRING","format":"enum","enum":["x"]}},"required":["a"],"propertyOrdering":["a","b"]}`
	checkAll(t, []geminiCase{
		{name: "Y007 snake case", target: translate.Messages, body: `{"contents":[{"parts":[{"inline_data":{"mime_type":"image/png","data":"AAAA"}}]}],"system_instruction":{"parts":[{"text":"s"}]},"generation_config":{"max_output_tokens":7,"top_k":3}}`,
			want: []string{`"max_tokens":7`, `"media_type":"image/png"`, `"text":"s"`, `"top_k":3`}},
		{name: "Y007 both spellings", target: translate.Messages, body: generating(`"generation_config":{}`, `"generationConfig":{}`).body, refused: "generationConfig"},
		{name: "Y007 both spellings of an option", target: translate.Messages, body: configured(`"top_k":3`, `"topK":3`).body, refused: "generationConfig.topK"},
		{name: "Y019 a schema of the API", target: translate.Chat, body: declaring(`,"parameters":` + schema).body,
			want: []string{`"parameters":{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"b":{"type":"array","minItems":2,"items":{"type":"string"}}},"required":["a"]}`}},
		{name: "Y020 types of the API in JSON Schema", target: translate.Responses, body: configured(`"responseMimeType":"application/json"`, `"responseJsonSchema":{"type":"OBJECT","properties":{"type":{"type":"INTEGER"}}}`).body,
			want: []string{`"schema":{"type":"object","properties":{"type":{"type":"integer"}}}`}},
		{name: "Y021 an optional member", target: translate.Chat, body: configured(`"responseMimeType":"application/json"`, `"responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`).body, want: []string{`"strict":false`}},
		{name: "Y021 all members are required", target: translate.Chat,
			body: configured(`"responseMimeType":"application/json"`, `"responseJsonSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`).body, want: []string{`"strict":true`}},
		{name: "Y022 the usual sampling is no loss", target: translate.Chat, traits: "sampling none; on_loss reject", body: usual, not: "temperature",
			losses: "generationConfig.temperature hint, generationConfig.topP hint, generationConfig.topK hint"},
		{name: "Y022 other sampling is one", target: translate.Chat, traits: "sampling none; on_loss reject", body: strings.Replace(usual, "64", "40", 1),
			losses: "generationConfig.temperature hint, generationConfig.topP hint, generationConfig.topK shaping"},
		{name: "Y023 no bound", target: translate.Messages, traits: "agent_max_tokens 9000", body: declaring("").body, want: []string{`"max_tokens":9000`}},
		{name: "Y024 a level in lower case", target: translate.Chat, traits: "reasoning_effort on", body: thinkingBy(`"thinkingLevel":"high"`).body, want: []string{`"reasoning_effort":"high"`}},
		{name: "Y024 a level in upper case", target: translate.Chat, traits: "reasoning_effort on", body: thinkingBy(`"thinkingLevel":"HIGH"`).body, want: []string{`"reasoning_effort":"high"`}},
		{name: "Y024 no budget", target: translate.Chat, traits: "reasoning_effort none low medium high", body: thinkingBy(`"thinkingBudget":0`).body, want: []string{`"reasoning_effort":"none"`}},
		{name: "Y024 any budget", target: translate.Responses, body: thinkingBy(`"thinkingBudget":-1`).body, not: `"effort"`},
		{name: "Y024 a budget", target: translate.Chat, traits: "reasoning_effort on", body: thinkingBy(`"thinkingBudget":8192`).body, want: []string{`"reasoning_effort":"high"`}},
		{name: "Y024 a level and a budget", target: translate.Chat, body: thinkingBy(`"thinkingBudget":1,"thinkingLevel":"LOW"`).body, refused: "generationConfig.thinkingConfig.thinkingLevel"},
		{name: "Y032 a tool of the service", target: translate.Messages, body: hosting("googleSearch").body, refused: "tools[0].googleSearch"},
		{name: "Y032 a tool that is left out", target: translate.Messages, traits: "unsupported_tools drop", body: hosting("googleSearch").body, losses: "tools[*].googleSearch hint"},
		{name: "Y033 two of the tools", target: translate.Messages, body: generating(`"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"},{"name":"h"}]}]`, `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","h"]}}`).body,
			want: []string{`"name":"f"`, `"name":"h"`, `"tool_choice":{"type":"any"}`}, not: `"name":"g"`},
		{name: "Y033 validated calls", target: translate.Messages, body: choosing(`"mode":"VALIDATED"`).body, want: []string{`"tool_choice":{"type":"auto"}`}},
		{name: "names without a mode", target: translate.Messages, body: choosing(`"allowedFunctionNames":["f"]`).body, refused: "toolConfig.functionCallingConfig.allowedFunctionNames"},
		{name: "a schema of a text", target: translate.Chat, body: configured(`"responseSchema":{"type":"OBJECT"}`).body, refused: "generationConfig.responseMimeType"},
		{name: "Y046 two candidates", target: translate.Chat, body: configured(`"candidateCount":2`).body, want: []string{`"n":2`}},
	})
}

func TestReasoningOfGeminiClients(t *testing.T) {
	signed := signedCall(seal.Block, `[{"type":"thinking","thinking":"t","signature":"s"}]`).body
	signature := strings.Split(strings.Split(signed, `"thoughtSignature":"`)[1], `"`)[0]
	checkAll(t, []geminiCase{
		{name: "Y027 sealed thinking is in front of its call", target: translate.Messages,
			body: exchanging(`{"text":"t","thought":true},{"text":"a"},{"functionCall":{"id":"c1","name":"f","args":{}},"thoughtSignature":"`+signature+`"}`, geminiResult).body,
			want: []string{`[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"a"},{"type":"tool_use"`}},
		{name: "Y028 an encrypted item", target: translate.Responses, traits: "responses_reasoning encrypted", body: signedCall(seal.Item, `[{"type":"thinking","thinking":"t","signature":"rs_1.1.gAAA"}]`).body,
			want: []string{`"type":"reasoning"`, `"encrypted_content":"gAAA"`, `"type":"function_call"`}},
		// Items came without what is encrypted, so that the signature of a call had nothing to seal.
		{name: "Y028 an encrypted item is asked for", target: translate.Responses, traits: "responses_reasoning encrypted", body: contents(saying).body,
			want: []string{`"include":["reasoning.encrypted_content"]`}},
		// gemini-cli states no level for models that it does not know.
		{name: "thoughts without a level are asked for", target: translate.Responses, body: configured(`"thinkingConfig":{"includeThoughts":true}`).body,
			want: []string{`"reasoning":{"summary":"auto"}`}},
		{name: "Y029 the signature that agents make up", target: translate.Messages, body: exchanging(`{"functionCall":{"id":"c1","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}`, geminiResult).body,
			not: "thinking", losses: "contents[*].parts[*].thoughtSignature hint"},
		{name: "Y029 a broken seal", target: translate.Messages, body: strings.Replace(signed, signature, signature[:len(signature)-8]+"AAAAAAA=", 1),
			not: "thinking", losses: "contents[*].parts[*].thoughtSignature hint"},
		{name: "thoughts without a signature", target: translate.Messages, body: contents(saying + fromModel + `{"text":"t","thought":true},{"text":"a"}` + fromUserNow + `{"text":"b"}]}`).body,
			not: `"t"`, losses: "contents[*].parts[*].text hint"},
	})
}

func TestY012ACountTakesAResultWithoutItsCall(t *testing.T) {
	body := ofParts(bareResultF).body
	out, _, f := fromGemini(t, translate.Messages, translate.CountTokens, body, "")
	require.Nil(t, f)
	assert.Contains(t, out, `"text":"x"`)
	out, _, f = fromGemini(t, translate.Messages, translate.CountTokens, `{"generateContentRequest":{"model":"models/m","contents":[`+saying+`],"systemInstruction":{"parts":[{"text":"s"}]}}}`, "")
	require.Nil(t, f)
	assert.Contains(t, out, `"text":"hi"`)
	assert.Contains(t, out, `"text":"s"`)
	_, _, f = fromGemini(t, translate.Messages, translate.CountTokens, `{"contents":[`+saying+`],"generateContentRequest":{"contents":[`+saying+`]}}`, "")
	require.NotNil(t, f)
	assert.Equal(t, "generateContentRequest", f.Param)
}

// TestY006OwnSealsDoNotReachProvidersOfTheFormat ensures that the model gets no signature that is
// not its own.
func TestY006OwnSealsDoNotReachProvidersOfTheFormat(t *testing.T) {
	signed := signedCall(seal.Block, `[{"type":"thinking","thinking":"t","signature":"s"}]`).body
	signature := strings.Split(strings.Split(signed, `"thoughtSignature":"`)[1], `"`)[0]
	view, f := formats.Of(translate.Gemini).Requests.Inspect([]byte(signed), translate.Generate)
	require.Nil(t, f)
	require.Len(t, view.Resigned, 1)
	assert.Equal(t, `"`+signature+`"`, signed[view.Resigned[0].Start:view.Resigned[0].End])
	assert.Empty(t, view.SelfSigned)

	for _, part := range []string{`{"text":"a","thoughtSignature":"` + signature + `"}`, `{"thoughtSignature": "` + signature + `" , "text":"a"}`} {
		body := contents(saying + fromModel + part + fromUserNow + `{"text":"b"}]}`).body
		view, f = formats.Of(translate.Gemini).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, f)
		require.Len(t, view.SelfSigned, 1)
		assert.Empty(t, view.Resigned)
		cut := body[:view.SelfSigned[0].Start] + body[view.SelfSigned[0].End:]
		assert.NotContains(t, cut, "thoughtSignature")
		assert.JSONEq(t, contents(saying+fromModel+`{"text":"a"}`+fromUserNow+`{"text":"b"}]}`).body, cut)
	}
	view, f = formats.Of(translate.Gemini).Requests.Inspect([]byte(strings.ReplaceAll(signed, signature, "c2lnbg==")), translate.Generate)
	require.Nil(t, f)
	assert.Empty(t, view.Resigned, "a signature of the model stays")
}
