package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

const (
	itemHi   = `{"type":"message","role":"user","content":"hi"}`
	callItem = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	usesF    = `{"type":"tool_use","id":"c1","name":"f","input":{}}`
	toolF    = `{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false}`
)

// conversing is a messages request of that content with room for an answer.
func conversing(messages string, more ...string) string {
	return strings.Replace(conversation(messages, more...), `"max_tokens":10`, `"max_tokens":20`, 1)
}

// posed returns the responses request of the items; more contains the members before the
// input, and those between the input and the bound.
func posed(items string, more ...string) string {
	return `{"model":"up","input":[` + items + `],"max_output_tokens":20` + strings.Join(append([]string{""}, more...), ",") + `,"store":false}`
}

// instructed is one with instructions.
func instructed(text, items string) string {
	return strings.Replace(posed(items), `"input"`, `"instructions":"`+text+`","input"`, 1)
}

// reasoned is one that asks for reasoning.
func reasoned(reasoning string, more ...string) string {
	return strings.Replace(posed(itemHi, more...), `,"max_output_tokens"`, `,"reasoning":{`+reasoning+`},"max_output_tokens"`, 1)
}

func answering(parts string) string {
	return `{"type":"message","role":"assistant","content":[` + parts + `]}`
}

func outputText(text string) string { return `{"type":"output_text","text":"` + text + `"}` }

func inputText(text string) string { return `{"type":"input_text","text":"` + text + `"}` }

func heard(parts string) string { return `{"type":"message","role":"user","content":[` + parts + `]}` }

// thought is a block of thinking with a signature.
func thought(text, signature string) string {
	return `{"type":"thinking","thinking":"` + text + `","signature":"` + signature + `"}`
}

// sealedAs is the signature of a reasoning item as a client of another format has it.
func sealedAs(payload string) string {
	return string(jsonscan.AppendEscaped(nil, sealer.Append(nil, seal.Item, []byte(payload))))
}

func TestMessagesFieldsTowardsResponses(t *testing.T) {
	mail := `"metadata":{"user_id":"u"}`
	session := func(user, id string) string {
		return `"metadata":{"user_id":"{\"user\":\"` + user + `\",\"session_id\":\"` + id + `\"}"}`
	}
	runRenderCases(t, translate.Messages, translate.Responses, []renderCase{
		{name: "a text", body: conversing(hi), want: posed(itemHi)},
		{name: "R003 a bound below what the format knows", body: conversation(hi), want: strings.Replace(posed(itemHi), "20", "16", 1), losses: "max_tokens shaping"},
		{name: "a bound of the model", traits: "max_output_tokens 18", body: conversing(hi), want: strings.Replace(posed(itemHi), "20", "18", 1), losses: "max_tokens shaping"},
		{name: "system", body: conversing(hi, `"system":"s\n"`), want: instructed(`s\n`, itemHi)},
		{
			name: "system with a breakpoint", traits: "cache_breakpoints on; system_role developer",
			body: conversing(hi, `"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},`+textBlock("b")+`]`),
			want: posed(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}},` + inputText("b") + `]},` + itemHi), losses: "system.*.cache_control.ttl hint",
		},
		{name: "system with a breakpoint that the provider does not have", body: conversing(hi, `"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`), want: instructed("a", itemHi), losses: "system.*.cache_control hint"},
		{
			name: "a breakpoint behind the request", traits: "cache_breakpoints on", body: conversing(hi, `"cache_control":{"type":"ephemeral"}`),
			want: posed(heard(`{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}`)),
		},
		{
			name: "a breakpoint behind several parts", traits: "cache_breakpoints on", body: conversing(`{"role":"user","content":[`+textBlock("a")+`,`+textBlock("b")+`]}`, `"cache_control":{"type":"ephemeral"}`),
			want: posed(heard(inputText("a") + `,{"type":"input_text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}}`)),
		},
		{
			name: "a breakpoint behind a part that has one", traits: "cache_breakpoints on",
			body: conversing(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}`, `"cache_control":{"type":"ephemeral"}`),
			want: posed(heard(`{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}`)),
		},
		{
			name: "a breakpoint behind a result", traits: "cache_breakpoints on", body: conversing(hi+`,{"role":"assistant","content":[`+usesF+`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"}]}`, `"cache_control":{"type":"ephemeral"}`),
			want: posed(itemHi + `,` + callItem + `,{"type":"function_call_output","call_id":"c1","output":""}`), losses: "cache_control hint",
		},
		{name: "sampling", body: conversing(hi, `"temperature":0.3,"top_p":0.5,"top_k":3`), want: posed(itemHi, `"temperature":0.3,"top_p":0.5`), losses: "top_k shaping"},
		{
			name: "R008 sampling beside reasoning", body: conversing(hi, `"temperature":0.3,"top_p":0.5,"output_config":{"effort":"high"}`),
			want: reasoned(`"effort":"high","summary":"auto"`), losses: "temperature shaping, top_p shaping",
		},
		{
			name: "sampling beside reasoning, where that is known to work", traits: "sampling all", body: conversing(hi, `"temperature":0.3,"output_config":{"effort":"high"}`),
			want: reasoned(`"effort":"high","summary":"auto"`, `"temperature":0.3`),
		},
		{name: "stops are left to the gateway", body: conversing(hi, `"stop_sequences":["</b>"]`), want: posed(itemHi)},
		{name: "user", body: conversing(hi, mail), want: posed(itemHi, `"user":"u"`)},
		{name: "user as a safety identifier", traits: "user_field safety_identifier", body: conversing(hi, mail), want: posed(itemHi, `"safety_identifier":"u"`)},
		{name: "user has no field", traits: "user_field none", body: conversing(hi, session("u", "s")), want: posed(itemHi), losses: "metadata.user_id hint"},
		{name: "R009 a user without a session", body: conversing(hi, `"metadata":{"user_id":"{\"user\":\"u\"}"}`), want: posed(itemHi, `"user":"{\"user\":\"u\"}"`)},
		{
			name: "R009 a user and a session", traits: "user_field safety_identifier", body: conversing(hi, session("u", "s1")),
			want: posed(itemHi, `"safety_identifier":"e28d453b0ae04629e31fa4ea3ac872623364b571f617dcf50c9ddbe6af35fd01","prompt_cache_key":"c08bc56d2fa2201ddd68f6e761025e98df92a3a60eb673bb37da87e316feb7cf"`),
		},
		{name: "a format", body: conversing(hi, `"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`), want: posed(itemHi, `"text":{"format":{"type":"json_schema","name":"response","schema":{"type":"object"},"strict":true}}`)},
		{name: "an extension", traits: "extensions min_p store reasoning", body: conversing(hi, `"min_p":0.1,"reasoning":{}`), want: strings.Replace(posed(itemHi), `false}`, `false,"min_p":0.1}`, 1), losses: "reasoning hint"},
	})
}

func TestThinkingTowardsResponses(t *testing.T) {
	adaptive, high := `"thinking":{"type":"adaptive"}`, `"output_config":{"effort":"high"}`
	runRenderCases(t, translate.Messages, translate.Responses, []renderCase{
		{name: "an effort", body: conversing(hi, adaptive, high), want: reasoned(`"effort":"high","summary":"auto"`)},
		{name: "an effort without summaries", traits: "reasoning_summary off", body: conversing(hi, high), want: reasoned(`"effort":"high"`)},
		{name: "an effort that is not told", body: conversing(hi, `"thinking":{"type":"adaptive","display":"omitted"}`, high), want: reasoned(`"effort":"high"`)},
		{name: "adaptive alone", body: conversing(hi, adaptive), want: reasoned(`"summary":"auto"`)},
		{name: "adaptive alone, of a provider that does not reason", traits: "reasoning_effort off", body: conversing(hi, adaptive), want: posed(itemHi)},
		{name: "off", body: conversing(hi, `"thinking":{"type":"disabled"}`), want: reasoned(`"effort":"none"`)},
		{name: "a budget", body: conversing(hi, `"thinking":{"type":"enabled","budget_tokens":9000}`), want: reasoned(`"effort":"high","summary":"auto"`)},
		{name: "an effort that the provider does not take", traits: "reasoning_effort low", body: conversing(hi, high), want: reasoned(`"effort":"low","summary":"auto"`), losses: "output_config.effort shaping"},
		{name: "no effort at all", traits: "reasoning_effort off", body: conversing(hi, high, `"temperature":0.5`), want: posed(itemHi, `"temperature":0.5`), losses: "output_config.effort shaping"},
	})
}

func TestMessagesTurnsTowardsResponses(t *testing.T) {
	request := func(messages string) string { return conversing(messages) }
	turns := func(blocks string) string {
		return request(hi + `,{"role":"assistant","content":[` + blocks + `]},` + hi)
	}
	want := func(items string) string { return posed(itemHi + `,` + items + `,` + itemHi) }
	run := func(result string) string {
		return request(hi + `,{"role":"assistant","content":[` + usesF + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"` + result + `}]}`)
	}
	ran := func(output string) string {
		return posed(itemHi + `,` + callItem + `,{"type":"function_call_output","call_id":"c1","output":` + output + `}`)
	}
	runRenderCases(t, translate.Messages, translate.Responses, []renderCase{
		{
			name: "an image and a file", body: request(`{"role":"user","content":[` + textBlock("a") + `,` + png + `},` + picture + `},` + document + `{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"d.pdf","context":"c"},` + document + `{"type":"url","url":"https://x/d.pdf"}}]}`),
			want: posed(heard(inputText("a") + `,{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"},{"type":"input_image","image_url":"https://x/i.png","detail":"auto"},` +
				inputText("c") + `,{"type":"input_file","filename":"d.pdf","file_data":"data:application/pdf;base64,AAAA"},{"type":"input_file","file_url":"https://x/d.pdf"}`)),
		},
		{
			name: "documents of texts", body: request(`{"role":"user","content":[` + memo + `,"title":"t"},` + document + `{"type":"content","content":[` + textBlock("b") + `,` + png + `}]},"title":"u"},{"type":"search_result","title":"v","source":"s","content":[` + textBlock("x") + `,` + textBlock("y") + `]}]}`),
			want: posed(heard(inputText(`t\nd`) + `,` + inputText("u") + `,` + inputText("b") + `,{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"},` + inputText(`v\ns\nx\ny`))),
		},
		{name: "a file that is left out", traits: "files drop", body: request(`{"role":"user","content":[` + document + `{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}`), want: posed(`{"type":"message","role":"user","content":"[document.pdf was left out: this model does not support PDF input]"}`), losses: "messages.*.content.*.type shaping"},
		{name: "texts of the assistant", body: turns(textBlock("a") + `,` + textBlock("b")), want: want(answering(outputText("a") + `,` + outputText("b")))},
		{
			name: "texts between calls keep their order", body: turns(textBlock("a") + `,` + usesF + `,` + textBlock("b") + `,` + strings.Replace(usesF, "c1", "c2", 1)),
			want: want(answering(outputText("a")) + `,` + callItem + `,` + answering(outputText("b")) + `,` + strings.Replace(callItem, "c1", "c2", 1)),
		},
		{name: "R006 a call has no id of its own", body: turns(`{"type":"tool_use","id":"gwid1_YTow","name":"f","input":{"a": 1}}`), want: want(`{"type":"function_call","call_id":"a:0","name":"f","arguments":"{\"a\":1}"}`)},
		{name: "a result", body: run(`,"content":"r"`), want: ran(`"r"`)},
		{name: "a result of texts", body: run(`,"content":[` + textBlock("a") + `,` + textBlock("b") + `]`), want: ran(`"a\nb"`)},
		{name: "a result with an image", body: run(`,"content":[` + textBlock("a") + `,` + png + `}]`), want: ran(`[` + inputText("a") + `,{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"}]`)},
		{name: "a result that is an error", body: run(`,"content":"r","is_error":true`), want: ran(`"Error: r"`)},
		{name: "a result that is an error with an image", body: run(`,"content":[` + png + `}],"is_error":true`), want: ran(`[` + inputText("Error:") + `,{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"}]`)},
		{name: "tools that were found", body: run(`,"content":[{"type":"tool_reference","tool_name":"g"}]`), want: ran(`"[tool available: g]"`)},
		{
			name: "a text before a result", body: request(hi + `,{"role":"assistant","content":[` + usesF + `]},{"role":"user","content":[` + textBlock("a") + `,{"type":"tool_result","tool_use_id":"c1"},` + textBlock("b") + `]}`),
			want: posed(itemHi + `,` + callItem + `,{"type":"message","role":"user","content":"a"},{"type":"function_call_output","call_id":"c1","output":""},{"type":"message","role":"user","content":"b"}`),
		},
		{name: "a late text of the system", body: request(hi + `,{"role":"system","content":"s"},` + hi), want: posed(itemHi + `,{"type":"message","role":"system","content":"s"},` + itemHi)},
		{name: "a late text of the system, hoisted", traits: "mid_system hoist", body: request(hi + `,{"role":"system","content":"s"},` + hi), want: instructed("s", itemHi+`,`+itemHi), losses: "messages.*.role shaping"},
		{name: "a late text of the system by the user", traits: "mid_system user", body: request(hi + `,{"role":"system","content":"s"},` + hi), want: posed(itemHi + `,{"type":"message","role":"user","content":"s"},` + itemHi), losses: "messages.*.role shaping"},
		{
			name: "a system text as one of the user", traits: "system_role user", body: conversing(hi, `"system":"s"`),
			want: posed(`{"type":"message","role":"user","content":"s"},` + itemHi), losses: "system shaping",
		},
		{name: "an empty turn", body: request(hi + `,{"role":"assistant","content":[]},` + hi), want: posed(itemHi + `,` + itemHi), losses: "messages.* hint"},
		{name: "a prefill", body: request(hi + `,{"role":"assistant","content":"a"}`), fault: "messages.1: an assistant message at the end, which asks to be continued," + notM1 + "responses): end with a user message"},
	})
}

func TestReasoningTowardsResponses(t *testing.T) {
	turns := func(blocks string) string {
		return conversing(hi + `,{"role":"assistant","content":[` + blocks + `]},` + hi)
	}
	want := func(items string) string {
		return strings.Replace(posed(itemHi+`,`+items+`,`+itemHi), `,"store"`, `,"include":["reasoning.encrypted_content"],"store"`, 1)
	}
	plain := func(items string) string { return posed(itemHi + `,` + items + `,` + itemHi) }
	encrypted := "responses_reasoning encrypted"
	inClear := func(text string) string {
		return `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"` + text + `"}]}`
	}
	lost := "messages.*.content.*.thinking hint"
	summary := func(texts string) string {
		return `{"type":"reasoning","summary":[` + texts + `],"encrypted_content":"gA.\"="}`
	}
	a, b := `{"type":"summary_text","text":"a\n"}`, `{"type":"summary_text","text":"é"}`
	two := thought(`a\n\n\n\u00e9`, sealedAs(`rs_1.2,2.gA."=`))
	runRenderCases(t, translate.Messages, translate.Responses, []renderCase{
		{name: "R010 an item before its call", traits: encrypted, body: turns(two + `,` + usesF), want: want(summary(a+`,`+b) + `,` + callItem)},
		{name: "R010 with its id", traits: encrypted + "; responses_item_ids on", body: turns(two + `,` + usesF), want: want(strings.Replace(summary(a+`,`+b), `"reasoning",`, `"reasoning","id":"rs_1",`, 1) + `,` + callItem)},
		{name: "R011 an item without a summary", traits: encrypted, body: turns(thought("", sealedAs(`rs_1..gA."=`)) + `,` + usesF), want: want(summary("") + `,` + callItem)},
		{name: "a text that a client changed", traits: encrypted, body: turns(thought("other", sealedAs(`rs_1.2,2.gA."=`)) + `,` + usesF), want: want(summary(`{"type":"summary_text","text":"other"}`) + `,` + callItem)},
		{
			name: "an item of texts that are no summary", traits: encrypted, body: turns(thought("ab", sealedAs(`.t2.gA."=`)) + `,` + textBlock("x")),
			want: want(`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"ab"}],"encrypted_content":"gA.\"="},` + answering(outputText("x"))),
		},
		{name: "R015 an item that led to nothing", traits: encrypted, body: turns(textBlock("x") + `,` + two), want: want(answering(outputText("x"))), losses: "messages.*.content hint"},
		{name: "R012 a signature of the vendor", traits: encrypted, body: turns(thought("t", "EqQB") + `,` + usesF), want: want(callItem), losses: lost},
		{name: "an item of another tenant", traits: encrypted, body: turns(thought("t", "gwrs1:AAAAAAAAAAAAAAAAAAAAAAAA.rs_1..x") + `,` + usesF), want: want(callItem), losses: lost},
		{name: "R016 thinking that nobody vouches for", traits: encrypted, body: turns(thought("t", "") + `,` + usesF), want: want(callItem), losses: lost},
		{name: "redacted thinking", traits: encrypted, body: turns(`{"type":"redacted_thinking","data":"d"},` + usesF), want: want(callItem), losses: "messages.*.content.*.data hint"},
		{name: "no reasoning goes back", body: turns(two + `,` + usesF), want: plain(callItem), losses: lost},
		{name: "in clear", traits: "responses_reasoning text", body: turns(thought(`t\n`, "EqQB") + `,` + textBlock("x")), want: plain(inClear(`t\n`) + `,` + answering(outputText("x")))},
		{ // the reasoning came again before every call, and was paid again in every later turn
			name: "in clear once in a turn", traits: "responses_reasoning text", body: turns(thought("t", "") + `,` + textBlock("x") + `,` + usesF + `,` + strings.Replace(usesF, "c1", "c2", 1)),
			want: plain(inClear("t") + `,` + answering(outputText("x")) + `,` + callItem + `,` + strings.Replace(callItem, "c1", "c2", 1)),
		},
		{
			name: "in clear, as a summary", traits: "responses_reasoning summary", body: turns(thought(`t\n`, "EqQB") + `,` + usesF),
			want: plain(`{"type":"reasoning","summary":[{"type":"summary_text","text":"t\n"}]},` + callItem),
		},
		{name: "in clear, what was encrypted", traits: "responses_reasoning text", body: turns(two + `,` + usesF), want: plain(inClear(`a\n\n\n\u00e9`) + `,` + callItem)},
	})
}

func TestToolsTowardsResponses(t *testing.T) {
	request := func(members ...string) string { return conversing(hi, members...) }
	long := strings.Repeat("n", 70)
	short := long[:55] + "_"
	runRenderCases(t, translate.Messages, translate.Responses, []renderCase{
		{name: "R004 a tool", body: request(oneTool), want: posed(itemHi, `"tools":[`+toolF+`]`)},
		{name: "a strict tool", body: request(`"tools":[{"name":"f","description":"d","input_schema":{"properties":{}},"strict":true}]`), want: posed(itemHi, `"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{}},"strict":true}]`)},
		{name: "R005 a deferred tool is sent", body: request(`"tools":[{"name":"f","input_schema":{"type":"object"},"defer_loading":true}]`), want: posed(itemHi, `"tools":[`+toolF+`]`), losses: "tools.*.defer_loading hint"},
		{name: "a tool of the vendor that is dropped", traits: "unsupported_tools drop", body: request(`"tools":[{"type":"web_search_20250305","name":"web_search"}]`), want: posed(itemHi), losses: "tools.*.type hint"},
		{name: "any tool", body: request(oneTool, `"tool_choice":{"type":"any","disable_parallel_tool_use":true}`), want: posed(itemHi, `"tools":[`+toolF+`],"tool_choice":"required","parallel_tool_calls":false`)},
		{name: "a tool by its name", body: request(oneTool, `"tool_choice":{"type":"tool","name":"f"}`), want: posed(itemHi, `"tools":[`+toolF+`],"tool_choice":{"type":"function","name":"f"}`)},
		{name: "no tool", body: request(oneTool, `"tool_choice":{"type":"none"}`), want: posed(itemHi, `"tools":[`+toolF+`],"tool_choice":"none"`)},
		{name: "a tool that is not there", body: request(oneTool, `"tool_choice":{"type":"tool","name":"g"}`), fault: "tool_choice.name:" + notM1 + "responses)"},
		{
			name: "a long name", body: request(`"tools":[{"name":"`+long+`","input_schema":{"type":"object"}}]`, `"tool_choice":{"type":"tool","name":"`+long+`"}`),
			want: posed(itemHi, strings.ReplaceAll(`"tools":[`+strings.Replace(toolF, `"f"`, `"@"`, 1)+`],"tool_choice":{"type":"function","name":"@"}`, "@", short+"85069ddf")),
		},
	})
}

// Agents send the same session with every request: what is cached is found again.
func TestSessionsHaveKeysOfTheirOwn(t *testing.T) {
	keys := make(map[string]bool)
	for _, c := range []struct{ tenant, user, session string }{{"a", "u", "1"}, {"a", "u", "2"}, {"b", "u", "1"}} {
		body := conversing(hi, `"metadata":{"user_id":"{\"session_id\":\"`+c.session+`\",\"user\":\"`+c.user+`\"}"}`)
		out, _ := renderCaseOf(t, translate.Messages, translate.Responses, renderCase{body: body})
		_, rest, _ := strings.Cut(string(out), `"prompt_cache_key":"`)
		key, _, _ := strings.Cut(rest, `"`)
		assert.Len(t, key, 64)
		keys[c.tenant+key] = true
	}
	assert.Len(t, keys, 3)
}

// The context contains the work that the gateway does because the provider cannot.
func TestTheWayBackFromResponsesKnowsWhatWasAsked(t *testing.T) {
	_, r := renderCaseOf(t, translate.Messages, translate.Responses, renderCase{body: conversing(hi, `"stop_sequences":["</b>","x"]`), traits: "responses_reasoning encrypted"})
	assert.Equal(t, []string{"</b>", "x"}, r.Answer.Cuts.Enforced)
	assert.Equal(t, sealer, r.Answer.Seals)
	_, r = renderCaseOf(t, translate.Messages, translate.Responses, renderCase{body: conversing(hi)})
	assert.Nil(t, r.Answer.Seals, "nothing to seal was asked for")
}
