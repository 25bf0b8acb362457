package request_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	chat "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/converse/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	messages "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
	responses "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// The models of the tests, by their vendors.
const (
	nova    = "us.amazon.nova-2-lite-v1:0"
	llama   = "us.meta.llama4-maverick-17b-instruct-v1:0"
	mistral = "mistral.mistral-large-3-675b-instruct"
	open    = "openai.gpt-oss-120b-1:0"
	claude  = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-6"
	profile = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abcdefgh"
)

// write translates a request for a model, with traits as in a configuration.
func write(t testing.TB, from *core.Source, model, body string, traits ...string) (string, core.Rendered, *fault.Fault) {
	t.Helper()
	var set trait.Traits
	for i := 0; i < len(traits); i += 2 {
		require.NoError(t, set.Set(traits[i], traits[i+1]))
	}
	info := &core.RequestInfo{Model: "m1", Upstream: model, Operation: translate.Generate, Traits: &set}
	out, r, f := core.Render(nil, []byte(body), info, from, &request.Target)
	return string(out), r, f
}

// written returns the request for a model, which a strict service accepts.
func written(t *testing.T, from *core.Source, model, body string, traits ...string) (string, core.Rendered) {
	t.Helper()
	out, r, f := write(t, from, model, body, traits...)
	require.Nil(t, f, body)
	require.Empty(t, translatetest.StrictConverse([]byte(out)), out)
	return out, r
}

// asked is a messages request with members, whose conversation is one text; talk is one with
// messages, and chatted a chat request with messages.
func asked(members string) string {
	return `{"model":"m1","max_tokens":10,"messages":[{"role":"user","content":"hi"}]` + members + `}`
}

func talk(messages string) string {
	return `{"model":"m1","max_tokens":10,"messages":[` + messages + `]}`
}
func chatted(messages string) string { return `{"model":"m1","messages":[` + messages + `]}` }

const (
	hi       = `{"messages":[{"role":"user","content":[{"text":"hi"}]}]`
	question = `{"role":"user","content":"q"}`
	look     = `"tools":[{"name":"look","input_schema":{"type":"object"}}]`
	lookSpec = `{"toolSpec":{"name":"look","inputSchema":{"json":{"type":"object","properties":{}}}}}`
)

func model(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
func user(blocks string) string  { return `{"role":"user","content":[` + blocks + `]}` }
func used(id string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"f","input":{"a":1}}`
}

func returned(ids ...string) string {
	var blocks []string
	for _, id := range ids {
		blocks = append(blocks, `{"type":"tool_result","tool_use_id":"`+id+`","content":"r"}`)
	}
	return user(strings.Join(blocks, ","))
}

func TestTheBodyHasNoModelAndNoStream(t *testing.T) {
	out, r := written(t, &messages.Source, nova, asked(`,"stream":true,"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`))
	assert.Equal(t, hi+`,"system":[{"text":"a"},{"text":"b"}],"inferenceConfig":{"maxTokens":10}}`, out)
	assert.True(t, r.Answer.Stream)
}

func TestK063AHistoryWithCallsHasTheirTools(t *testing.T) {
	calls := question + "," + model(used("t1")+","+used("t2")) + "," + returned("t1", "t2")
	out, _ := written(t, &messages.Source, nova, talk(calls))
	const synthesized = `"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object","properties":{}}}}}]}`
	assert.Contains(t, out, synthesized)

	out, r := written(t, &messages.Source, nova, strings.TrimSuffix(talk(calls), "}")+`,`+look+`,"tool_choice":{"type":"none"}}`)
	assert.Contains(t, out, synthesized, "the service refuses a request without them")
	assert.Equal(t, "tools", r.Losses.String())
}

func TestK066WithoutCallsNoToolsAreDeclaredThatMustNotBeUsed(t *testing.T) {
	out, _ := written(t, &messages.Source, nova, asked(`,`+look+`,"tool_choice":{"type":"none"}`))
	assert.NotContains(t, out, "toolConfig")
	out, _ = written(t, &chat.Source, nova, `{"model":"m1","messages":[`+question+`],"tools":[{"type":"function","function":{"name":"look"}}],"tool_choice":"none"}`)
	assert.NotContains(t, out, "toolConfig")
}

func TestChoicesAmongTools(t *testing.T) {
	for choice, want := range map[string]string{
		`{"type":"auto"}`:               `"toolConfig":{"tools":[` + lookSpec + `]}`,
		`{"type":"any"}`:                `"toolConfig":{"tools":[` + lookSpec + `],"toolChoice":{"any":{}}}`,
		`{"type":"tool","name":"look"}`: `"toolConfig":{"tools":[` + lookSpec + `],"toolChoice":{"tool":{"name":"look"}}}`,
	} {
		out, r := written(t, &messages.Source, nova, asked(`,`+look+`,"tool_choice":`+choice))
		assert.Contains(t, out, want)
		assert.Empty(t, r.Losses)
	}
}

func TestNamesAndDescriptionsOfToolsAreThoseOfTheService(t *testing.T) {
	out, r := written(t, &chat.Source, open, `{"model":"m1","messages":[`+question+`],"tools":[`+
		`{"type":"function","function":{"name":"a.b","description":"","strict":true,"parameters":{"properties":{}}}}]}`)
	assert.Contains(t, out, `{"toolSpec":{"name":"ab_`)
	assert.Contains(t, out, `"inputSchema":{"json":{"type":"object","properties":{},"additionalProperties":false}},"strict":true}`)
	assert.NotContains(t, out, "description")
	assert.Len(t, r.Answer.Tools.Shortened, 1)

	out, r = written(t, &chat.Source, llama, `{"model":"m1","messages":[`+question+`],"tools":[{"type":"function","function":{"name":"f","strict":true}}]}`)
	assert.NotContains(t, out, "strict", "the model does not have it")
	assert.Equal(t, "tools[*].function.strict", r.Losses.String())
}

func TestK065UnsignedThinkingIsLeftOutWithItsMessage(t *testing.T) {
	thinking := `{"role":"assistant","content":null,"reasoning_content":"x"}`
	out, r := written(t, &chat.Source, claude, chatted(question+","+thinking+","+question))
	assert.Equal(t, `{"messages":[{"role":"user","content":[{"text":"q"},{"text":"q"}]}]}`, out)
	assert.NotEmpty(t, r.Losses)
	out, r = written(t, &messages.Source, claude, talk(question+","+model(`{"type":"thinking","thinking":"x"}`)+","+question))
	assert.Equal(t, `{"messages":[{"role":"user","content":[{"text":"q"},{"text":"q"}]}],"inferenceConfig":{"maxTokens":10}}`, out)
	require.NotEmpty(t, r.Losses)
	assert.Equal(t, translate.Hint, r.Losses[0].Class)
}

func TestSignedReasoningIsReturned(t *testing.T) {
	out, r := written(t, &messages.Source, claude, talk(question+","+
		model(`{"type":"thinking","thinking":"x","signature":"EqQB"},{"type":"redacted_thinking","data":"c2Vj"},{"type":"text","text":"a"}`)+","+question))
	assert.Contains(t, out, `[{"reasoningContent":{"reasoningText":{"text":"x","signature":"EqQB"}}},{"reasoningContent":{"redactedContent":"c2Vj"}},{"text":"a"}]`)
	assert.Empty(t, r.Losses)
	out, r = written(t, &messages.Source, claude, talk(question+","+model(`{"type":"redacted_thinking","data":"?"},{"type":"text","text":"a"}`)+","+question))
	assert.NotContains(t, out, "redacted", "the service accepts only base64")
	assert.Len(t, r.Losses, 1)
}

// The service refuses blank texts, which clients keep of earlier answers.
func TestBlankTextsAreLeftOut(t *testing.T) {
	out, r := written(t, &messages.Source, nova, talk(user(`{"type":"text","text":" \n\t"},{"type":"text","text":"q"}`)+","+
		model(`{"type":"text","text":"\r\n"}`)+","+question))
	assert.Equal(t, `{"messages":[{"role":"user","content":[{"text":"q"},{"text":"q"}]}],"inferenceConfig":{"maxTokens":10}}`, out)
	assert.Contains(t, r.Losses.String(), "messages.*.content")
}

func TestResultsComeFirst(t *testing.T) {
	out, r := written(t, &messages.Source, nova, talk(question+","+model(used("t1"))+","+
		user(`{"type":"text","text":"before"},{"type":"tool_result","tool_use_id":"t1","is_error":true}`)))
	assert.Contains(t, out, `[{"toolResult":{"toolUseId":"t1","content":[{"text":"[no output]"}],"status":"error"}},{"text":"before"}]`)
	require.Len(t, r.Losses, 1)
	assert.Equal(t, translate.Shaping, r.Losses[0].Class)
	out, _ = written(t, &messages.Source, llama, talk(question+","+model(used("t1"))+","+
		user(`{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}`)))
	assert.Contains(t, out, `"content":[{"text":"Error: no"}]}}`, "results of this model have no status")
}

func TestAConversationThatOpensWithTheAssistantGetsABeginning(t *testing.T) {
	out, _ := written(t, &chat.Source, nova, chatted(`{"role":"assistant","content":"a"},`+question))
	assert.True(t, strings.HasPrefix(out, `{"messages":[{"role":"user","content":[{"text":"[The beginning`), out)
}

func TestIDsOfCallsAreThoseOfTheModel(t *testing.T) {
	body := func(id string) string {
		return chatted(question + `,{"role":"assistant","tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"f","arguments":""}}]},` +
			`{"role":"tool","tool_call_id":"` + id + `","content":"r"}`)
	}
	long := strings.Repeat("x", 70)
	for _, tt := range []struct{ model, id, want string }{
		{nova, "tooluse_a-1", `tooluse_a-1`},
		{nova, "call.1", `gwid1_Y2FsbC4x`},
		{mistral, "abcDEF123", "abcDEF123"},
		{mistral, "tooluse_1", "a7ee5cd24"},
		{nova, long, ""},
	} {
		out, _ := written(t, &chat.Source, tt.model, body(tt.id))
		if tt.want == "" {
			assert.NotContains(t, out, long)
			continue
		}
		assert.Equal(t, 2, strings.Count(out, `"toolUseId":"`+tt.want+`"`), out)
	}
}

func TestMediaHaveFormats(t *testing.T) {
	out, _ := written(t, &messages.Source, nova, talk(user(
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},`+
			`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}}`)))
	assert.Contains(t, out, `[{"image":{"format":"png","source":{"bytes":"aGk="}}},{"document":{"format":"pdf","name":"document-1","source":{"bytes":"aGk="}}},{"text":"[document]"}]`)
	out, _ = written(t, &messages.Source, nova, talk(user(
		`{"type":"document","title":"A: \"b\"","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}},`+
			`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}}`)))
	assert.Contains(t, out, `[{"text":"A: \"b\""},{"document":{"format":"pdf","name":"document-1","source":{"bytes":"aGk="}}},{"text":"plain"}]`)
	_, _, f := write(t, &messages.Source, nova, talk(user(`{"type":"image","source":{"type":"url","url":"https://x/i.png"}}`)))
	require.NotNil(t, f)
	assert.Equal(t, "messages.0.content.0.source.type", f.Param)
}

func TestBreakpointsOfTheCacheAreElements(t *testing.T) {
	const point = `{"cachePoint":{"type":"default"}}`
	marked := func(text string) string {
		return `{"type":"text","text":"` + text + `","cache_control":{"type":"ephemeral","ttl":"1h"}}`
	}
	body := strings.TrimSuffix(talk(question+","+model(used("t1"))+","+
		user(`{"type":"tool_result","tool_use_id":"t1","content":"r","cache_control":{"type":"ephemeral"}},`+marked("c"))), "}") + `,"system":[` + marked("a") + `,{"type":"text","text":"b"}]}`
	out, r := written(t, &messages.Source, nova, body, "cache_breakpoints", "true")
	assert.Contains(t, out, `{"toolResult":{"toolUseId":"t1","content":[{"text":"r"}]}},`+point+`,{"text":"c"},`+point+`]}]`)
	assert.Contains(t, out, `"system":[{"text":"a"},`+point+`,{"text":"b"}]`)
	assert.Equal(t, "messages.*.content.*.cache_control.ttl,system.*.cache_control.ttl", r.Losses.String())
	out, r = written(t, &messages.Source, llama, body)
	assert.NotContains(t, out, "cachePoint", "the model has no cache")
	assert.Contains(t, r.Losses.String(), "cache_control")

	var turns []string
	for range 3 {
		turns = append(turns, user(marked("u")), model(marked("m")))
	}
	out, r = written(t, &chat.Source, nova, chatted(strings.ReplaceAll(strings.Join(append(turns, question), ","), `,"ttl":"1h"`, "")), "cache_breakpoints", "true")
	assert.LessOrEqual(t, strings.Count(out, point), 4)
	assert.NotEmpty(t, r.Losses)
}

func TestOptionsOfVendors(t *testing.T) {
	tests := []struct {
		name, model, members, want, losses string
	}{
		{"top_k of Claude", claude, `,"top_k":5`, `"additionalModelRequestFields":{"top_k":5}`, ""},
		{"top_k of Nova", nova, `,"top_k":5`, `"additionalModelRequestFields":{"inferenceConfig":{"topK":5}}`, ""},
		{"top_k of Cohere", "cohere.command-r-v1:0", `,"top_k":5`, `"additionalModelRequestFields":{"k":5}`, ""},
		{"top_k of Llama", llama, `,"top_k":5`, `"maxTokens":10}}`, "top_k"},
		{"an effort of Claude", claude, `,"output_config":{"effort":"high"},"temperature":0.5`, `"outputConfig":{"effort":"high"},"additionalModelRequestFields":{"thinking":{"type":"adaptive"}}`, "temperature"},
		{"an effort of Nova", nova, `,"output_config":{"effort":"medium"}`, `"additionalModelRequestFields":{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"medium"}}`, ""},
		{"no thinking of Nova", nova, `,"thinking":{"type":"disabled"}`, `"additionalModelRequestFields":{"reasoningConfig":{"type":"disabled"}}`, ""},
		{"an effort of gpt-oss", open, `,"output_config":{"effort":"low"}`, `"additionalModelRequestFields":{"reasoning_effort":"low"}`, ""},
		{"a higher effort of gpt-oss", open, `,"output_config":{"effort":"max"}`, `"additionalModelRequestFields":{"reasoning_effort":"high"}`, "output_config.effort"},
		{"an effort of Llama", llama, `,"output_config":{"effort":"low"}`, `"maxTokens":10}}`, "output_config.effort"},
		{"an effort of an unknown model", profile, `,"output_config":{"effort":"low"}`, `"maxTokens":10}}`, "output_config.effort"},
		{"a schema", nova, `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`, `"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\",\"additionalProperties\":false}"}}}}`, "output_config.format.schema.additionalProperties"},
		{"a tier", nova, `,"service_tier":"standard_only"`, `"serviceTier":{"type":"default"}`, ""},
		{"stops", nova, `,"stop_sequences":["a"," "]`, `"stopSequences":["a"]},"additionalModelResponseFieldPaths":["/stop_sequence","/delta/stop_sequence"]`, ""},
		{"stops of a model without them", llama, `,"stop_sequences":["a"]`, `"maxTokens":10}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, r := written(t, &messages.Source, tt.model, asked(tt.members))
			assert.Contains(t, out, tt.want)
			assert.Equal(t, tt.losses, r.Losses.String())
		})
	}
	_, r := written(t, &messages.Source, llama, asked(`,"stop_sequences":["a"]`))
	assert.Equal(t, []string{"a"}, r.Answer.Cuts.Enforced, "the gateway itself looks for them")
}

func TestABudgetOfClaude(t *testing.T) {
	body := strings.Replace(asked(`,"thinking":{"type":"enabled","budget_tokens":20000}`), `"max_tokens":10`, `"max_tokens":30000`, 1)
	out, _ := written(t, &messages.Source, claude, body, "thinking_style", "budget")
	assert.Contains(t, out, `"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":16384}}`)
	out, r := written(t, &messages.Source, claude, asked(`,"thinking":{"type":"enabled","budget_tokens":20000}`), "thinking_style", "budget")
	assert.NotContains(t, out, "thinking", "the bound of the answer leaves no room")
	assert.Equal(t, "thinking", r.Losses.String())
}

func TestThinkingThatCannotBeSwitchedOff(t *testing.T) {
	out, r := written(t, &messages.Source, claude, asked(`,"thinking":{"type":"disabled"}`), "thinking_style", "always")
	assert.NotContains(t, out, "thinking")
	assert.Equal(t, "thinking", r.Losses.String())
	out, r = written(t, &messages.Source, claude, asked(`,"output_config":{"effort":"low"}`), "thinking_style", "always")
	assert.Contains(t, out, `"outputConfig":{"effort":"low"},"additionalModelRequestFields":{"thinking":{"type":"adaptive"}}`)
	assert.Empty(t, r.Losses)
}

func TestTraitsStateTheEffortsOfModels(t *testing.T) {
	out, r := written(t, &messages.Source, open, asked(`,"output_config":{"effort":"max"}`), "reasoning_effort", "none low xhigh")
	assert.Contains(t, out, `"reasoning_effort":"xhigh"`)
	assert.Equal(t, "output_config.effort", r.Losses.String())
	out, _ = written(t, &messages.Source, open, asked(`,"thinking":{"type":"disabled"}`), "reasoning_effort", "none low xhigh")
	assert.Contains(t, out, `"reasoning_effort":"none"`)
	out, _ = written(t, &messages.Source, nova, asked(`,"output_config":{"effort":"high"}`), "reasoning_effort", "low medium high")
	assert.Contains(t, out, `"maxReasoningEffort":"medium"`, "beside the bound of the answer")
}

// A client of the chat format passes fields of the model in its own extensions.
func TestExtensionsJoinTheFieldsOfTheModel(t *testing.T) {
	out, r := written(t, &chat.Source, nova, `{"model":"m1","messages":[`+question+`],"additionalModelRequestFields":{"a":1},"x":2}`,
		"extensions", "additionalModelRequestFields")
	assert.Equal(t, `{"messages":[{"role":"user","content":[{"text":"q"}]}],"additionalModelRequestFields":{"a":1}}`, out)
	assert.Equal(t, "x", r.Losses.String())
}

func TestCountsOfTokensHaveOnlyWhatTheyDependOn(t *testing.T) {
	info := &core.RequestInfo{Model: "m1", Upstream: claude, Operation: translate.CountTokens}
	out, _, f := core.Render(nil, []byte(`{"model":"m1","messages":[`+question+`],"system":"s",`+look+`,"output_config":{"effort":"low"}}`), info, &messages.Source, &request.Target)
	require.Nil(t, f)
	assert.Equal(t, `{"input":{"converse":{"messages":[{"role":"user","content":[{"text":"q"}]}],"system":[{"text":"s"}],"toolConfig":{"tools":[`+lookSpec+`]},`+
		`"additionalModelRequestFields":{"thinking":{"type":"adaptive"}}}}}`, string(out))
}

func TestResponsesClientsAskForTheSame(t *testing.T) {
	out, _ := written(t, &responses.Source, nova, `{"model":"m1","instructions":"s","input":[{"role":"user","content":"q"},`+
		`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"r"}]}`)
	assert.Contains(t, out, `{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"r"}]}}]}`)
}

// ofClients are refusals of what only the client can mend: results that are missing or too many,
// data that are no base64, tools without a name, and schemas that are not those of an object.
var ofClients = regexp.MustCompile("result|illegal base64|invalid name $|a schema without a type|cannot unmarshal")

func FuzzWrite(f *testing.F) {
	f.Add(talk(question+","+model(used("t1"))+","+returned("t1")), byte(0))
	f.Add(asked(`,`+look+`,"tool_choice":{"type":"any"},"top_k":3,"stop_sequences":["a"]`), byte(1))
	f.Add(chatted(question+`,{"role":"assistant","content":" "},`+question), byte(2))
	f.Fuzz(func(t *testing.T, body string, n byte) {
		model := []string{nova, llama, mistral, claude, profile}[n%5]
		check := func(from *core.Source) {
			out, _, f := write(t, from, model, body, "prefill", "native", "cache_breakpoints", "true")
			if why := translatetest.StrictConverse([]byte(out)); f == nil && why != "" && !ofClients.MatchString(why) {
				t.Fatal(why, out)
			}
		}
		if _, refused := messages.Inspect([]byte(body), translate.Generate); refused == nil {
			check(&messages.Source)
		}
		if _, refused := chat.Inspect([]byte(body), translate.Generate); refused == nil {
			check(&chat.Source)
		}
	})
}

// A model without system texts gets them in front of the parts of its first turn, also what the
// gateway itself asks for in words.
func TestSystemTextsOfTheUser(t *testing.T) {
	const answers = `{"role":"assistant","content":[{"text":"a"}]},{"role":"user","content":[{"text":"b"}]}`
	for body, want := range map[string]string{
		`{"role":"system","content":"s"},{"role":"user","content":"h"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}`: `"messages":[{"role":"user","content":[{"text":"s"},{"text":"Answer with one JSON object and nothing else."},{"text":"h"}]},` + answers + `]`,
		`{"role":"user","content":"h"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}`:                                 `"messages":[{"role":"user","content":[{"text":"Answer with one JSON object and nothing else."},{"text":"h"}]},` + answers + `]`,
	} {
		out, _ := written(t, &chat.Source, "amazon.titan-text-express-v1", `{"model":"m1","response_format":{"type":"json_object"},"messages":[`+body+`]}`, "system_role", "user")
		assert.Contains(t, out, want)
		assert.NotContains(t, out, `"system"`)
	}
	point := `,"cache_control":{"type":"ephemeral"}`
	out, _ := written(t, &messages.Source, claude, `{"model":"m1","max_tokens":10,"system":[{"type":"text","text":"s"`+point+`}],"messages":[{"role":"user","content":[{"type":"text","text":"h"`+point+`},{"type":"text","text":"i"}]}]}`,
		"system_role", "user", "cache_breakpoints", "true")
	assert.Contains(t, out, `"messages":[{"role":"user","content":[{"text":"s"},{"text":"h"},{"cachePoint":{"type":"default"}},{"text":"i"}]}]`, "points keep their places")
}
