package transport

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// sentBody returns the body of an attempt at the request, under the provider's own
// name for the model.
func sentBody(t *testing.T, format translate.Format, body, upstream string, change ...func(*trait.Traits)) string {
	t.Helper()
	ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(format), Body: []byte(body)}}
	view, fault := formats.Of(format).Requests.Inspect(ex.Request.Body, translate.Generate)
	require.Nil(t, fault, body)
	ex.Request.View = view
	a := &exchange.Attempt{Exchange: ex, Format: formats.Of(format), Model: upstream, Traits: new(trait.Traits)}
	for _, set := range change {
		set(a.Traits)
	}
	prepared, fault := prepare(a, 0, new(Transport), unchanged)
	require.Nil(t, fault)
	p := prepared.payload
	reader, length := p.Open(), p.Length()
	sent, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	assert.EqualValues(t, len(sent), length, "the Content-Length")
	assert.Equal(t, body, string(ex.Request.Body), "the client's own bytes are never changed")
	return string(sent)
}

func withoutUsage(t *trait.Traits) { t.WithoutUsage = true }

func withFIM(t *trait.Traits) { t.FIMTemplate = "<P>{prefix}<S>{suffix}<M>" }

func TestTheByteLaneFillsInTheMiddle(t *testing.T) {
	for body, want := range map[string]string{
		`{"suffix":"b" , "model":"m","prompt":"a","n":1}`:                `{"model":"x","prompt":"<P>a<S>b<M>","n":1}`,
		`{ "stream":true,"model":"m","prompt":["a"] ,"suffix":"\u00e9"}`: `{ "stream":true,"model":"x","prompt":"<P>a<S>\u00e9<M>","stream_options":{"include_usage":true}}`,
		`{"model":"m","prompt":"a"}`:                                     `{"model":"x","prompt":"a"}`,
		`{"model":"m","suffix":null,"prompt":[1,2]}`:                     `{"model":"x","suffix":null,"prompt":[1,2]}`,
	} {
		assert.Equal(t, want, sentBody(t, translate.Completions, body, "x", withFIM))
	}
}

func TestTheByteLaneEditsNothingButModelAndUsage(t *testing.T) {
	const messages = `"messages":[{"role":"user","content":"model"}]`
	for _, test := range []struct {
		name           string
		format         translate.Format
		body, upstream string
		want           string
		change         []func(*trait.Traits)
	}{
		{
			name: "the same name", format: translate.Chat, upstream: "m",
			body: ` { "model" : "m", ` + messages + ` } `,
			want: ` { "model" : "m", ` + messages + ` } `,
		}, {
			name: "another name", format: translate.Chat, upstream: "vendor/x",
			body: `{` + messages + `, "model" : "m" ,"x":[1.50,1e3,"é"]}`,
			want: `{` + messages + `, "model" : "vendor/x" ,"x":[1.50,1e3,"é"]}`,
		}, {
			name: "a name that needs escapes", format: translate.Chat, upstream: "a\"b\\c\u00e9",
			body: `{"model":"m",` + messages + `}`,
			want: `{"model":"a\"b\\cé",` + messages + `}`,
		}, {
			name: "a name written with escapes", format: translate.Chat, upstream: "m",
			body: `{"model":"\u006d",` + messages + `}`,
			want: `{"model":"\u006d",` + messages + `}`,
		}, {
			name: "a shorter and an empty text around it", format: translate.Completions, upstream: "y",
			body: `{"prompt":"","model":"a-long-name"}`,
			want: `{"prompt":"","model":"y"}`,
		}, {
			name: "usage, without options", format: translate.Chat, upstream: "m",
			body: `{"model":"m",` + messages + `,"stream":true}`,
			want: `{"model":"m",` + messages + `,"stream":true,"stream_options":{"include_usage":true}}`,
		}, {
			name: "usage, with spaces at the end", format: translate.Chat, upstream: "m",
			body: "{\"model\":\"m\"," + messages + ",\"stream\":true\n}\n",
			want: "{\"model\":\"m\"," + messages + ",\"stream\":true\n,\"stream_options\":{\"include_usage\":true}}\n",
		}, {
			name: "usage, null options", format: translate.Chat, upstream: "m",
			body: `{"model":"m","stream_options": null ,` + messages + `,"stream":true}`,
			want: `{"model":"m","stream_options": {"include_usage":true} ,` + messages + `,"stream":true}`,
		}, {
			name: "usage, empty options", format: translate.Completions, upstream: "m",
			body: `{"model":"m","stream_options":{ },"prompt":"x","stream":true}`,
			want: `{"model":"m","stream_options":{"include_usage":true},"prompt":"x","stream":true}`,
		}, {
			name: "usage, other options", format: translate.Chat, upstream: "m",
			body: `{"model":"m","stream_options":{ "include_obfuscation":false},` + messages + `,"stream":true}`,
			want: `{"model":"m","stream_options":{"include_usage":true, "include_obfuscation":false},` + messages + `,"stream":true}`,
		}, {
			name: "usage, declined", format: translate.Chat, upstream: "m",
			body: `{"model":"m","stream_options":{"include_usage":false,"x":1},` + messages + `,"stream":true}`,
			want: `{"model":"m","stream_options":{"include_usage":true,"x":1},` + messages + `,"stream":true}`,
		}, {
			name: "usage, null", format: translate.Chat, upstream: "m",
			body: `{"model":"m","stream_options":{"include_usage":null},` + messages + `,"stream":true}`,
			want: `{"model":"m","stream_options":{"include_usage":true},` + messages + `,"stream":true}`,
		}, {
			name: "usage, asked for", format: translate.Chat, upstream: "m",
			body: `{"model":"m","stream_options":{"include_usage":true},` + messages + `,"stream":true}`,
			want: `{"model":"m","stream_options":{"include_usage":true},` + messages + `,"stream":true}`,
		}, {
			name: "usage, of an answer that is no stream", format: translate.Chat, upstream: "m",
			body: `{"model":"m",` + messages + `,"stream":false}`,
			want: `{"model":"m",` + messages + `,"stream":false}`,
		}, {
			name: "usage, switched off", format: translate.Chat, upstream: "m", change: []func(*trait.Traits){withoutUsage},
			body: `{"model":"m",` + messages + `,"stream":true}`,
			want: `{"model":"m",` + messages + `,"stream":true}`,
		}, {
			name: "usage, of messages, which always have it", format: translate.Messages, upstream: "m",
			body: `{"model":"m","max_tokens":1,` + messages + `,"stream":true}`,
			want: `{"model":"m","max_tokens":1,` + messages + `,"stream":true}`,
		}, {
			name: "name and usage, the name last", format: translate.Chat, upstream: "other",
			body: `{"stream":true,"stream_options":{},` + messages + `,"model":"m"}`,
			want: `{"stream":true,"stream_options":{"include_usage":true},` + messages + `,"model":"other"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := sentBody(t, test.format, test.body, test.upstream, test.change...)
			assert.Equal(t, test.want, got)
			view, fault := formats.Of(test.format).Requests.Inspect([]byte(got), translate.Generate)
			require.Nil(t, fault, "the edits broke the JSON")
			assert.Equal(t, test.upstream, view.Model)
		})
	}
}

// A model refuses some members whatever their value. They leave the bytes of the client, and are
// reported; the values of other members are forwarded.
func TestMembersThatAModelRefusesLeaveTheByteLane(t *testing.T) {
	const chat, responses = `{"model":"m","messages":[{"role":"user","content":"temperature"}],`, `{"model":"m","input":"a",`
	const messages, gemini = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],`, `{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":`
	for _, c := range []struct {
		traits     map[string]string
		format     translate.Format
		body, sent string
		lost       string
		accepted   bool
	}{
		{map[string]string{"sampling": "none"}, translate.Chat, chat + `"temperature":0.5,"top_p":0.9,"stop":"a","logprobs":true}`, chat + `"stop":"a"}`, "temperature,top_p,logprobs", false},
		// Many clients send the default: what leaves it out loses nothing.
		{map[string]string{"sampling": "none"}, translate.Chat, chat + `"temperature":1,"top_p":1.0,"n":1}`, chat + `"n":1}`, "temperature,top_p", true},
		{map[string]string{"sampling": "none"}, translate.Messages, `{"top_k":5,"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`, "top_k", false},
		{map[string]string{"sampling": "one"}, translate.Chat, chat + `"temperature":0.5,"top_p":0.9}`, chat + `"temperature":0.5}`, "top_p", false},
		{map[string]string{"sampling": "one"}, translate.Chat, chat + `"top_p":0.9}`, chat + `"top_p":0.9}`, "", true},
		{map[string]string{"sampling": "without_effort"}, translate.Chat, chat + `"temperature":0.5,"reasoning_effort":"low"}`, chat + `"reasoning_effort":"low"}`, "temperature", false},
		{map[string]string{"sampling": "without_effort"}, translate.Chat, chat + `"temperature":0.5,"reasoning_effort":"none"}`, chat + `"temperature":0.5,"reasoning_effort":"none"}`, "", true},
		{map[string]string{"sampling": "without_effort"}, translate.Responses, " " + responses + `"top_p":0.5,"reasoning":{"effort":"high"}}`, " " + responses + `"reasoning":{"effort":"high"}}`, "top_p", false},
		{map[string]string{"sampling": "without_effort"}, translate.Responses, responses + `"top_p":0.5,"reasoning":{"summary":"auto"}}`, responses + `"top_p":0.5,"reasoning":{"summary":"auto"}}`, "", true},
		{map[string]string{"sampling": "effort_none"}, translate.Chat, chat + `"temperature":0.5,"n":1}`, chat + `"n":1}`, "temperature", false},
		{map[string]string{"sampling": "effort_none"}, translate.Chat, chat + `"temperature":0.5,"reasoning_effort":null,"n":1}`, chat + `"reasoning_effort":null,"n":1}`, "temperature", false},
		{map[string]string{"sampling": "effort_none"}, translate.Chat, chat + `"temperature":0.5,"reasoning_effort":"none"}`, chat + `"temperature":0.5,"reasoning_effort":"none"}`, "", true},
		{map[string]string{"sampling": "effort_none"}, translate.Responses, responses + `"top_p":0.5,"reasoning":{"summary":"auto"}}`, responses + `"reasoning":{"summary":"auto"}}`, "top_p", false},
		// Members inside others were forwarded, and refused by the model.
		{map[string]string{"sampling": "none"}, translate.Gemini, gemini + `{"temperature":0.5,"topP":0.9,"seed":1}}`, gemini + `{"seed":1}}`, "generationConfig.temperature,generationConfig.topP", false},
		{map[string]string{"sampling": "one"}, translate.Gemini, gemini + `{"temperature":0.5,"topP":0.9}}`, gemini + `{"temperature":0.5}}`, "generationConfig.topP", false},
		{map[string]string{"sampling": "without_effort"}, translate.Gemini, gemini + `{"temperature":0.5,"thinkingConfig":{"thinkingLevel":"HIGH"}}}`, gemini + `{"thinkingConfig":{"thinkingLevel":"HIGH"}}}`, "generationConfig.temperature", false},
		// Some clients send penalties of 0 with every request, and xAI refuses even those.
		{map[string]string{"penalties": "false"}, translate.Chat, chat + `"presence_penalty":0,"frequency_penalty":0.0,"logit_bias":{},"n":1}`, chat + `"n":1}`, "presence_penalty,frequency_penalty,logit_bias", true},
		{map[string]string{"penalties": "false"}, translate.Chat, chat + `"presence_penalty":0.5,"n":1}`, chat + `"n":1}`, "presence_penalty", false},
		{map[string]string{"penalties": "false"}, translate.Gemini, gemini + `{"frequencyPenalty":0.5,"seed":1}}`, gemini + `{"seed":1}}`, "generationConfig.frequencyPenalty", false},
		{map[string]string{"max_stops": "0"}, translate.Gemini, gemini + `{"stopSequences":["a"],"seed":1}}`, gemini + `{"seed":1}}`, "generationConfig.stopSequences", false},
		{map[string]string{"reasoning_effort": "false"}, translate.Responses, responses + `"reasoning":{"effort":"low","summary":"auto"}}`, responses + `"reasoning":{"summary":"auto"}}`, "reasoning.effort", false},
		{map[string]string{"reasoning_effort": "false"}, translate.Messages, messages + `"output_config":{"effort":"low"}}`, messages + `"output_config":{}}`, "output_config.effort", false},
		{map[string]string{"max_stops": "0"}, translate.Chat, chat + `"stop":["a"]}`, chat[:len(chat)-1] + `}`, "stop", false},
		{map[string]string{"parallel_tool_calls": "false"}, translate.Chat, chat + `"parallel_tool_calls":true,"n":1}`, chat + `"n":1}`, "parallel_tool_calls", true},
		{map[string]string{"reasoning_effort": "false"}, translate.Chat, chat + `"n":1,"reasoning_effort":"low"}`, chat + `"n":1}`, "reasoning_effort", false},
		{map[string]string{"sampling": "none", "max_stops": "0", "parallel_tool_calls": "false"}, translate.Chat, chat + `"n":1}`, chat + `"n":1}`, "", true},
	} {
		checkAccepted(t, c.traits, c.format, c.body, c.sent, c.lost, c.accepted)
	}
}

// Values that a model refuses were forwarded: adaptive thinking to models with budgets, and budgets to
// the others; efforts that the model lacks; answers longer than its longest.
func TestValuesThatAModelRefusesLeaveTheByteLane(t *testing.T) {
	const chat, responses = `{"model":"m","messages":[{"role":"user","content":"a"}],`, `{"model":"m","input":"a",`
	const messages, gemini = `{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"a"}],`, `{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":`
	for _, c := range []struct {
		traits     string
		format     translate.Format
		body, sent string
		lost       string
	}{
		{"thinking_style budget", translate.Messages, messages + `"thinking":{"type":"adaptive","display":"summarized"},"top_k":1}`, messages + `"top_k":1}`, "thinking"},
		{"thinking_style budget", translate.Messages, messages + `"output_config":{"effort":"high"},"top_k":1}`, messages + `"output_config":{},"top_k":1}`, "output_config.effort"},
		{"thinking_style budget;reasoning_effort low medium high", translate.Messages, messages + `"output_config":{"effort":"xhigh"}}`, messages + `"output_config":{"effort":"high"}}`, "output_config.effort"},
		{"thinking_style budget", translate.Messages, messages + `"thinking":{"type":"enabled","budget_tokens":2000}}`, messages + `"thinking":{"type":"enabled","budget_tokens":2000}}`, ""},
		{"thinking_style budget", translate.Messages, messages + `"thinking":{"type":"disabled"}}`, messages + `"thinking":{"type":"disabled"}}`, ""},
		{"thinking_style none", translate.Messages, messages + `"thinking":{"type":"enabled","budget_tokens":2000},"top_k":1}`, messages + `"top_k":1}`, "thinking"},
		{"thinking_style adaptive", translate.Messages, messages + `"thinking":{"type":"enabled","budget_tokens":2000,"display":"omitted"}}`, messages + `"thinking":{"type":"adaptive","display":"omitted"}}`, "thinking.budget_tokens,thinking.type"},
		{"thinking_style adaptive", translate.Messages, messages + `"thinking":{"type":"disabled"}}`, messages + `"thinking":{"type":"disabled"}}`, ""},
		{"thinking_style both", translate.Messages, messages + `"thinking":{"type":"enabled","budget_tokens":2000}}`, messages + `"thinking":{"type":"enabled","budget_tokens":2000}}`, ""},
		{"thinking_style always", translate.Messages, messages + `"thinking":{"type":"disabled"},"top_k":1}`, messages + `"top_k":1}`, "thinking"},
		{"thinking_style always", translate.Messages, messages + `"thinking":{"budget_tokens":2000,"type":"enabled"}}`, messages + `"thinking":{"type":"adaptive"}}`, "thinking.budget_tokens,thinking.type"},
		{"max_output_tokens 8000", translate.Messages, messages + `"thinking":{"type":"enabled","budget_tokens":8500}}`, strings.Replace(messages, "9000", "8000", 1) + `"thinking":{"type":"enabled","budget_tokens":6976}}`, "thinking.budget_tokens,max_tokens"},
		{"reasoning_effort low high", translate.Messages, messages + `"output_config":{"effort":"minimal"}}`, messages + `"output_config":{"effort":"low"}}`, "output_config.effort"},
		{"tool_choice auto", translate.Messages, messages + `"tool_choice":{"type":"any","disable_parallel_tool_use":true}}`, messages + `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`, "tool_choice.type"},
		{"tool_choice auto", translate.Messages, messages + `"tool_choice":{"type":"tool","name":"f"}}`, messages + `"tool_choice":{"type":"auto"}}`, "tool_choice.name,tool_choice.type"},
		{"tool_choice auto", translate.Messages, messages + `"tool_choice":{"type":"none"}}`, messages + `"tool_choice":{"type":"none"}}`, ""},

		{"reasoning_effort none low medium", translate.Chat, chat + `"reasoning_effort":"xhigh"}`, chat + `"reasoning_effort":"medium"}`, "reasoning_effort"},
		{"reasoning_effort low medium", translate.Chat, chat + `"reasoning_effort":"none","n":1}`, chat + `"n":1}`, "reasoning_effort"},
		{"reasoning_effort low medium", translate.Chat, chat + `"reasoning_effort":"of-a-newer-version"}`, chat + `"reasoning_effort":"of-a-newer-version"}`, ""},
		{"reasoning_effort low medium", translate.Chat, chat + `"reasoning_effort":null}`, chat + `"reasoning_effort":null}`, ""},
		{"reasoning_effort none", translate.Chat, chat + `"reasoning_effort":"low"}`, chat + `"reasoning_effort":"low"}`, ""}, // only some models of a server think
		{"thinking_style budget", translate.Chat, chat + `"reasoning_effort":"low"}`, chat + `"reasoning_effort":"low"}`, ""},
		{"tool_choice auto", translate.Chat, chat + `"tool_choice":"required"}`, chat + `"tool_choice":"auto"}`, "tool_choice"},
		{"tool_choice auto", translate.Chat, chat + `"tool_choice":{"type":"function","function":{"name":"f"}}}`, chat + `"tool_choice":"auto"}`, "tool_choice.type"},
		{"tool_choice auto", translate.Chat, chat + `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[]}}}`, chat + `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}}`, "tool_choice.allowed_tools.mode"},
		{"max_output_tokens 100", translate.Chat, chat + `"max_completion_tokens":101}`, chat + `"max_completion_tokens":100}`, "max_completion_tokens"},
		{"max_output_tokens 100", translate.Chat, chat + `"max_tokens":100}`, chat + `"max_tokens":100}`, ""},
		{"max_tokens_field max_completion_tokens;max_output_tokens 100;reasoning_effort low", translate.Chat, chat + `"max_tokens" : 101}`, chat + `"max_completion_tokens" : 100}`, "max_tokens"},
		{"max_tokens_field max_completion_tokens;reasoning_effort low", translate.Chat, chat + `"max_tokens":5}`, chat + `"max_completion_tokens":5}`, ""},
		{"max_tokens_field max_completion_tokens", translate.Chat, chat + `"max_tokens":5}`, chat + `"max_tokens":5}`, ""},

		{"reasoning_effort medium", translate.Responses, responses + `"reasoning":{"effort":"high","summary":"auto"}}`, responses + `"reasoning":{"effort":"medium","summary":"auto"}}`, "reasoning.effort"},
		{"tool_choice auto", translate.Responses, responses + `"tool_choice":{"type":"function","name":"f"}}`, responses + `"tool_choice":"auto"}`, "tool_choice.type"},
		{"max_output_tokens 100", translate.Responses, responses + `"max_output_tokens":1000}`, responses + `"max_output_tokens":100}`, "max_output_tokens"},

		{"reasoning_effort low high", translate.Gemini, gemini + `{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}}`, gemini + `{"thinkingConfig":{"thinkingLevel":"LOW"}}}`, "generationConfig.thinkingConfig.thinkingLevel"},
		{"thinking_style budget;thinking_budget 128-1000", translate.Gemini, gemini + `{"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true}}}`, gemini + `{"thinkingConfig":{"includeThoughts":true}}}`, "generationConfig.thinkingConfig.thinkingLevel"},
		{"thinking_style budget;thinking_budget 128-1000", translate.Gemini, gemini + `{"thinkingConfig":{"thinkingBudget":5000}}}`, gemini + `{"thinkingConfig":{"thinkingBudget":1000}}}`, "generationConfig.thinkingConfig.thinkingBudget"},
		{"thinking_style budget;thinking_budget 128-1000", translate.Gemini, gemini + `{"thinkingConfig":{"thinkingBudget":-1}}}`, gemini + `{"thinkingConfig":{"thinkingBudget":-1}}}`, ""},
		{"thinking_style always", translate.Gemini, gemini + `{"thinkingConfig":{"thinkingBudget":5000,"includeThoughts":true}}}`, gemini + `{"thinkingConfig":{"includeThoughts":true}}}`, "generationConfig.thinkingConfig.thinkingBudget"},
		{"thinking_style both", translate.Gemini, gemini + `{"thinkingConfig":{"thinkingBudget":5000}}}`, gemini + `{"thinkingConfig":{"thinkingBudget":5000}}}`, ""},
		// Clients of Google write members in snake case, too.
		{"max_output_tokens 100;penalties false", translate.Gemini, `{"contents":[{"parts":[{"text":"a"}]}],"generation_config":{"max_output_tokens":101,"presence_penalty":0.5}}`, `{"contents":[{"parts":[{"text":"a"}]}],"generation_config":{"max_output_tokens":100}}`, "generationConfig.presencePenalty,generationConfig.maxOutputTokens"},
		{"tool_choice auto", translate.Gemini, `{"contents":[{"parts":[{"text":"a"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}}`, `{"contents":[{"parts":[{"text":"a"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}`, "toolConfig.functionCallingConfig.allowedFunctionNames,toolConfig.functionCallingConfig.mode"},
	} {
		traits := make(map[string]string)
		for line := range strings.SplitSeq(c.traits, ";") {
			name, value, _ := strings.Cut(line, " ")
			traits[name] = value
		}
		checkAccepted(t, traits, c.format, c.body, c.sent, c.lost, c.lost == "")
	}
}

// checkAccepted checks what an attempt with traits sends and reports, and whether on_loss reject
// accepts the request.
func checkAccepted(t *testing.T, set map[string]string, format translate.Format, body, want, lost string, accepted bool) {
	t.Helper()
	ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(format), Body: []byte(body)}}
	view, fault := ex.Request.Format.Requests.Inspect(ex.Request.Body, translate.Generate)
	require.Nil(t, fault, body)
	ex.Request.View = view
	traits := new(trait.Traits)
	require.NoError(t, traits.SetAll(set))
	a := &exchange.Attempt{Exchange: ex, Format: ex.Request.Format, Model: view.Model, Traits: traits}
	prepared, fault := prepare(a, 0, new(Transport), unchanged)
	require.Nil(t, fault)
	sent, err := io.ReadAll(prepared.payload.Open())
	require.NoError(t, err)
	assert.Equal(t, want, string(sent), set)
	assert.Equal(t, lost, prepared.losses.String(), set)
	assert.Empty(t, unchanged.Body.Unsupported, "the call of all providers without a protocol")

	traits.RejectLosses = true
	_, fault = prepare(a, 0, new(Transport), unchanged)
	assert.Equal(t, accepted, fault == nil, set)
}

// Each of the edits was compared with all that are left out: of a request of 60 MB, that took seconds.
func TestEditsInWhatIsLeftOutAreNone(t *testing.T) {
	at := func(spans ...int) (edits []edit.Edit) {
		for i := 0; i < len(spans); i += 2 {
			edits = append(edits, edit.Edit{Span: translate.Span{Start: spans[i], End: spans[i+1]}})
		}
		return edits
	}
	for _, test := range []struct{ demanded, others, want []edit.Edit }{
		{nil, at(1, 2), at(1, 2)},
		{at(1, 2), nil, at(1, 2)},
		{at(0, 0), at(0, 1, 4, 5), at(0, 0, 0, 1, 4, 5)},
		{at(1, 1, 1, 9, 20, 22), at(0, 1, 1, 2, 8, 9, 9, 10, 20, 22, 22, 23, 30, 31), at(0, 1, 1, 1, 1, 9, 9, 10, 20, 22, 22, 23, 30, 31)},
		{at(5, 6, 7, 8), at(1, 2), at(1, 2, 5, 6, 7, 8)},
	} {
		assert.Equal(t, test.want, merged(test.demanded, test.others))
	}
}
