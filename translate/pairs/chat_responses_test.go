package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// put is the responses request of those items, without a bound.
func put(items string, more ...string) string {
	return strings.Replace(posed(items, more...), `,"max_output_tokens":20`, "", 1)
}

func TestChatFieldsTowardsResponses(t *testing.T) {
	request := func(members ...string) string { return wanting(members...).body }
	lone := func(before string) string {
		return strings.Replace(put(itemHi), `,"store"`, `,`+before+`,"store"`, 1)
	}
	runRenderCases(t, translate.Chat, translate.Responses, []renderCase{
		{name: "a text", body: request(), want: put(itemHi)},
		{name: "a bound", body: request(`"max_completion_tokens":20`), want: posed(itemHi)},
		{name: "an older bound", body: request(`"max_tokens":20`), want: posed(itemHi)},
		{name: "R003 a bound below what the format knows", body: request(`"max_tokens":1`), want: strings.Replace(posed(itemHi), "20", "16", 1), losses: "max_tokens shaping"},
		{name: "what a sampler takes", body: request(`"temperature":1.5,"top_p":1,"seed":1,"presence_penalty":1,"logit_bias":{"1":1}`), want: lone(`"temperature":1.5,"top_p":1`), losses: "presence_penalty shaping, seed shaping, logit_bias shaping"},
		{name: "an effort", body: request(`"reasoning_effort":"minimal"`), want: lone(`"reasoning":{"effort":"minimal","summary":"auto"}`)},
		{name: "no effort", body: request(`"reasoning_effort":"none","temperature":1`), want: lone(`"reasoning":{"effort":"none"},"temperature":1`)},
		{name: "words", body: request(`"verbosity":"low"`), want: lone(`"text":{"verbosity":"low"}`)},
		{
			name: "a schema", body: request(`"verbosity":"low","response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{},"strict":false}}`),
			want: lone(`"text":{"format":{"type":"json_schema","name":"n","schema":{},"description":"d","strict":false},"verbosity":"low"}`),
		},
		{name: "a schema that need not be followed", body: request(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}`), want: lone(`"text":{"format":{"type":"json_schema","name":"n","schema":{}}}`)},
		{name: "an object", body: request(`"response_format":{"type":"json_object"}`), want: lone(`"text":{"format":{"type":"json_object"}}`)},
		{name: "a text as a format", body: request(`"response_format":{"type":"text"}`), want: put(itemHi)},
		{name: "probabilities", body: request(`"logprobs":true,"top_logprobs":2`), want: lone(`"include":["message.output_text.logprobs"],"top_logprobs":2`)},
		{name: "probabilities without alternatives", body: request(`"logprobs":true`), want: lone(`"include":["message.output_text.logprobs"]`)},
		{name: "stops", body: request(`"stop":["a","b"]`), want: put(itemHi)},
		{name: "a stop without text", body: request(`"stop":""`), fault: "stop:" + notM1 + "responses)"},
		{name: "a user", body: request(`"user":"u@example.com"`), want: lone(`"user":"u@example.com"`)},
		{name: "a safety identifier", traits: "user_field safety_identifier", body: request(`"safety_identifier":"u"`), want: lone(`"safety_identifier":"u"`)},
		{
			name: "what is kept and cached", body: request(`"metadata":{"a":"b"},"service_tier":"flex","prompt_cache_key":"k","prompt_cache_retention":"24h","prompt_cache_options":{"mode":"explicit"}`),
			want: lone(`"service_tier":"flex","metadata":{"a":"b"},"prompt_cache_key":"k","prompt_cache_options":{"mode":"explicit"},"prompt_cache_retention":"24h"`),
		},
		{name: "several answers that may not become calls", traits: "max_fan_out 1", body: request(`"n":2`), fault: "n: 2" + notM1 + "responses): more than 1 calls"},
	})
}

func TestChatTurnsTowardsResponses(t *testing.T) {
	asked := func(messages string) string { return discussing(messages).body }
	runs := strings.Replace(callItem, `"{}"`, `"{\"a\":1}"`, 1)
	ran := `{"type":"function_call_output","call_id":"c1","output":"r"}`
	instructed := func(text, items string) string {
		return strings.Replace(put(items), `"input"`, `"instructions":"`+text+`","input"`, 1)
	}
	freeCall := `{"role":"assistant","content":"x","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"f","input":"a\"b"}}]}`
	runRenderCases(t, translate.Chat, translate.Responses, []renderCase{
		{
			name: "several texts of the system in front", traits: "system_role developer", body: asked(`{"role":"system","content":"a"},{"role":"developer","content":"b"},` + hi),
			want: instructed("a", `{"type":"message","role":"developer","content":"b"},`+itemHi),
		},
		{name: "nothing but the system", body: asked(`{"role":"system","content":"a"}`), want: put(`{"type":"message","role":"system","content":"a"}`)},
		{
			name: "parts", body: asked(chatUser(textBlock("a") + `,{"type":"image_url","image_url":{"url":"https://x/i.png","detail":"low"}},` + pdfPart)),
			want: put(heard(inputText("a") + `,{"type":"input_image","image_url":"https://x/i.png","detail":"low"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}`)),
		},
		{
			name: "a text, then calls, and their results", body: asked(hi + `,{"role":"assistant","content":"x","tool_calls":[` + callF + `]},` + resultF),
			want: put(itemHi + `,` + answering(outputText("x")) + `,` + runs + `,` + ran),
		},
		{name: "a result behind what a user said", body: asked(hi + `,` + asksCall + `,` + bye + `,` + resultF), want: put(itemHi + `,` + runs + `,{"type":"message","role":"user","content":"bye"},` + ran)},
		{
			name: "a refusal", body: asked(hi + `,{"role":"assistant","content":[` + textBlock("a") + `,{"type":"refusal","refusal":"b"}],"refusal":"c"},` + hi),
			want: put(itemHi + `,` + answering(outputText("a")+`,{"type":"refusal","refusal":"b"},{"type":"refusal","refusal":"c"}`) + `,` + itemHi),
		},
		{
			name: "a call with a free text, and its result", body: asked(hi + `,` + freeCall + `,` + resultF),
			want: put(itemHi + `,` + answering(outputText("x")) + `,{"type":"custom_tool_call","call_id":"c1","name":"f","input":"a\"b"},{"type":"custom_tool_call_output","call_id":"c1","output":"r"}`),
		},
		{name: "arguments that are no object", body: asked(hi + `,` + strings.Replace(asksCall, `"{\"a\":1}"`, `"[]"`, 1) + `,` + resultF), want: put(itemHi + `,` + strings.Replace(callItem, "{}", "[]", 1) + `,` + ran)},
		{name: "reasoning without a signature", body: asked(hi + `,{"role":"assistant","content":"x","reasoning_content":"r"},` + hi), want: put(itemHi + `,` + answering(outputText("x")) + `,` + itemHi), losses: "messages[*].reasoning_content shaping"},
		{
			name: "reasoning in clear", traits: "responses_reasoning text", body: asked(hi + `,{"role":"assistant","content":"x","reasoning_content":"r"},` + hi),
			want: put(itemHi + `,{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"r"}]},` + answering(outputText("x")) + `,` + itemHi),
		},
		{
			name: "reasoning that was encrypted, beside that of others", traits: "responses_reasoning encrypted",
			body: asked(hi + `,{"role":"assistant","content":"x","thinking_blocks":[` + thought("a", sealedAs("rs_1.1.gA==")) + `,` + thought("b", "EqQB") + `,` + thought("c", "gwrs1:x.rs_1.1.gA==") + `]},` + hi),
			want: strings.Replace(put(itemHi+`,{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"gA=="},`+answering(outputText("x"))+`,`+itemHi),
				`,"store"`, `,"include":["reasoning.encrypted_content"],"store"`, 1),
			losses: "messages[*].thinking_blocks shaping",
		},
	})
}

func TestChatToolsTowardsResponses(t *testing.T) {
	request := func(members ...string) string { return wanting(members...).body }
	tool := func(parameters, strict string) string {
		return `{"type":"function","name":"f","parameters":` + parameters + `,"strict":` + strict + `}`
	}
	none := `{"type":"object","properties":{}}`
	custom := `"tools":[{"type":"custom","custom":{"name":"f","description":"d","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: \"a\""}}}}]`
	freeTool := `"tools":[{"type":"custom","name":"f","description":"d","format":{"type":"grammar","syntax":"lark","definition":"start: \"a\""}}]`
	runRenderCases(t, translate.Chat, translate.Responses, []renderCase{
		{name: "R004 a function", body: request(oneFunction), want: put(itemHi, `"tools":[`+tool(none, "false")+`]`)},
		{name: "a strict function", body: request(`"tools":[{"type":"function","function":{"name":"f","parameters":{},"strict":true}}]`), want: put(itemHi, `"tools":[`+tool(none, "true")+`]`)},
		{name: "a choice by name", body: selecting(`{"type":"function","function":{"name":"f"}}`).body, want: put(itemHi, `"tools":[`+tool(none, "false")+`],"tool_choice":{"type":"function","name":"f"}`)},
		{name: "one call at a time", body: request(oneFunction, `"parallel_tool_calls":false`), want: put(itemHi, `"tools":[`+tool(none, "false")+`],"parallel_tool_calls":false`)},
		{name: "a tool that takes a free text", body: request(custom), want: put(itemHi, freeTool)},
		{name: "a choice of such a tool", body: request(custom, `"tool_choice":{"type":"custom","custom":{"name":"f"}}`), want: put(itemHi, freeTool+`,"tool_choice":{"type":"custom","name":"f"}`)},
		{
			name: "such a tool among those allowed", body: request(custom, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"custom","custom":{"name":"f"}}]}}`),
			want: put(itemHi, freeTool+`,"tool_choice":"required"`),
		},
		{name: "a text of any kind", body: provided(`,"format":{"type":"text"}`).body, want: put(itemHi, `"tools":[{"type":"custom","name":"f"}]`)},
		{name: "a grammar that is none", body: provided(`,"format":{"type":"grammar","grammar":{"syntax":"lark"}}`).body, fault: "tools[0].custom.format.grammar: must have a syntax and a definition"},
	})
}

// The gateway asks for each of several answers by itself: the format has one.
func TestSeveralAnswersBecomeCallsOfResponses(t *testing.T) {
	_, r := renderCaseOf(t, translate.Chat, translate.Responses, renderCase{body: wanting(`"n":3`, `"logprobs":true`, `"top_logprobs":2`).body})
	assert.Equal(t, 3, numberOfCalls(r))
	assert.True(t, r.Answer.Logprobs.Asked)
	assert.Equal(t, 2, r.Answer.Logprobs.Top)
}
