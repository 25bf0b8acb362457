package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

const (
	longName  = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
	shortName = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn_4d940755"
	dotName   = "web.search/x"
	plainName = "websearchx_70215b81"
)

func TestToolsTowardsChat(t *testing.T) {
	request := func(tools string, more ...string) string {
		return conversation(hi, append([]string{`"tools":[` + tools + `]`}, more...)...)
	}
	sent := func(tools string, more ...string) string {
		return asked(hi, append([]string{`"tools":[` + tools + `]`}, more...)...)
	}
	f := `{"name":"f","input_schema":{"type":"object"}}`
	function := `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}`
	search := `{"type":"web_search_20250305","name":"web_search"}`
	runRenderCases(t, translate.Messages, translate.Chat, []renderCase{
		{
			name: "a tool", body: request(`{"name":"f","description":"d\n","input_schema":{"$schema":"s","type":"object","properties":{"type":{"const":1.50}, "b":{}}},"strict":true}`),
			want: sent(`{"type":"function","function":{"name":"f","description":"d\n","parameters":{"$schema":"s","type":"object","properties":{"type":{"const":1.50}, "b":{}}},"strict":true}}`),
		},
		{name: "type custom", body: request(`{"type":"custom","name":"f","input_schema":{"type":"object"}}`), want: sent(function)},
		{name: "type null", body: request(`{"type":null,"name":"f","input_schema":{"type":"object"}}`), want: sent(function)},
		{name: "type empty", body: request(`{"type":"","name":"f","input_schema":{"type":"object"},"description":null,"strict":null}`), want: sent(function)},
		{
			name: "a schema without a type", body: request(`{"name":"f","input_schema":{"properties":{"type":{}}}},{"name":"g","input_schema":{ }}`),
			want: sent(`{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"type":{}}}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}`),
		},
		{name: "a schema with a member twice", body: request(`{"name":"f","input_schema":{"a":1,"a":2,"type":"object"}}`), want: sent(`{"type":"function","function":{"name":"f","parameters":{"a":1,"a":2,"type":"object","properties":{}}}}`)},
		{name: "no schema", body: request(`{"name":"f"}`), want: sent(`{"type":"function","function":{"name":"f"}}`)},
		{
			name: "what a provider may not see", body: request(`{"name":"f","input_schema":{"type":"object"},"defer_loading":true,"input_examples":[{}],"eager_input_streaming":true,"cache_control":{"type":"ephemeral"}}`),
			want: sent(function), losses: "tools.*.defer_loading hint, tools.*.input_examples hint, tools.*.eager_input_streaming hint, tools.*.cache_control hint",
		},
		{name: "callers", body: request(`{"name":"f","input_schema":{"type":"object"},"allowed_callers":["code_execution_20250825","direct"]}`), want: sent(function)},
		{name: "a vendor's client tool", body: request(f + `,{"type":"bash_20250124","name":"bash"}`), fault: "tools.1.type: 'bash_20250124'" + notM1 + "chat)"},
		{name: "a server tool dropped", traits: "unsupported_tools drop", body: request(search + `,` + f), want: sent(function), losses: "tools.*.type hint"},
		{name: "all tools dropped", traits: "unsupported_tools drop", body: request(search, `"tool_choice":{"type":"tool","name":"web_search"}`), want: asked(hi), losses: "tools.*.type hint, tool_choice shaping"},
		{
			name: "the chosen tool dropped", traits: "unsupported_tools drop", body: request(search+`,`+f, `"tool_choice":{"type":"tool","name":"web_search"}`),
			fault: "tool_choice.name:" + notM1 + "chat)",
		},
		{name: "no tools", body: request(``), want: asked(hi)},
		{name: "a choice without tools", body: request(``, `"tool_choice":{"type":"any","disable_parallel_tool_use":true}`), want: asked(hi), losses: "tool_choice shaping"},
		{name: "a choice without tools that demands none", body: request(``, `"tool_choice":{"type":"auto"}`), want: asked(hi)},
		{name: "a tool without a name", body: request(`{"input_schema":{}}`), fault: "tools.0.name: required"},
		{name: "choice auto", body: request(f, `"tool_choice":{"type":"auto"}`), want: sent(function, `"tool_choice":"auto"`)},
		{name: "choice any", body: request(f, `"tool_choice":{"type":"any","disable_parallel_tool_use":true}`), want: sent(function, `"tool_choice":"required"`, `"parallel_tool_calls":false`)},
		{name: "choice none", body: request(f, `"tool_choice":{"type":"none"}`), want: sent(function, `"tool_choice":"none"`)},
		{
			name: "choice of a tool", body: request(f, `"tool_choice":{"type":"tool","name":"\u0066","disable_parallel_tool_use":false,"odd":1}`),
			want: sent(function, `"tool_choice":{"type":"function","function":{"name":"f"}}`), losses: "tool_choice.odd hint",
		},
		{name: "choice of an unknown tool", body: request(f, `"tool_choice":{"type":"tool","name":"g"}`), fault: "tool_choice.name:" + notM1 + "chat)"},
		{
			name: "names that chat providers refuse",
			body: `{"model":"m1","max_tokens":10,"tool_choice":{"type":"tool","name":"` + longName + `"},"tools":[{"name":"` + longName + `"},{"name":"web.search\/x"}],"messages":[` + hi +
				`,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"` + dotName + `","input":{}}]},` + result + `]}`,
			want: asked(hi+`,{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"`+plainName+`","arguments":"{}"}}]},`+resulted,
				`"tools":[{"type":"function","function":{"name":"`+shortName+`"}},{"type":"function","function":{"name":"`+plainName+`"}}]`,
				`"tool_choice":{"type":"function","function":{"name":"`+shortName+`"}}`),
		},
	})
}

func TestShortenedNamesAreRememberedForTheWayBack(t *testing.T) {
	c := renderCase{body: conversation(hi, `"tools":[{"name":"f"},{"name":"`+longName+`"},{"name":"web.search\/x"}]`)}
	_, r := renderCaseOf(t, translate.Messages, translate.Chat, c)
	assert.Equal(t, map[string]string{shortName: longName, plainName: dotName}, r.Answer.Tools.Shortened)
	c.body = conversation(hi, `"tools":[{"name":"f"}]`)
	_, r = renderCaseOf(t, translate.Messages, translate.Chat, c)
	assert.Nil(t, r.Answer.Tools.Shortened)
}

// A tool whose name was what another one's becomes for the provider was once
// sent beside it, and a call of the one reached the client as a call of the
// other. The name can be foretold, so somebody could do that on purpose.
func TestAToolCannotTakeTheShortenedNameOfAnother(t *testing.T) {
	for _, tools := range []string{
		`{"type":"web_search_1","name":"dropped"},{"name":"web.search\/x"},{"name":"` + plainName + `"}`,
		`{"type":"web_search_1","name":"dropped"},{"name":"` + longName + `"},{"name":"` + shortName + `"}`,
	} {
		renderCaseOf(t, translate.Messages, translate.Chat, renderCase{
			body: conversation(hi, `"tools":[`+tools+`]`), traits: "unsupported_tools drop",
			fault: "tools.2.name: is what the name of another tool becomes for the provider",
		})
	}
	renderCaseOf(t, translate.Messages, translate.Chat, renderCase{body: conversation(hi, `"tools":[{"name":"`+plainName+`"}]`)})
}

// A server of tools has names that begin with a digit. Moonshot refuses each request with one, as Gemini
// does, for which they had a "_" in front already.
func TestNamesOfToolsBeginWithALetterForServicesThatDemandIt(t *testing.T) {
	body := conversation(hi+`,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"21st","input":{}}]},`+result,
		`"tools":[{"name":"21st","input_schema":{"type":"object"}},{"name":"a1","input_schema":{"type":"object"}}]`, `"tool_choice":{"type":"tool","name":"21st"}`)
	out, r, refused := renderOf(t, translate.Messages, translate.Chat, body)
	require.Nil(t, refused)
	assert.Equal(t, 3, strings.Count(out, `"name":"21st"`), out)
	assert.Empty(t, r.Answer.Tools.Shortened)

	_, r = renderCaseOf(t, translate.Messages, translate.Chat, renderCase{traits: "tool_names letter", body: body})
	assert.Equal(t, map[string]string{"_21st": "21st"}, r.Answer.Tools.Shortened)
	out, _, _ = rendered(t, translate.Messages, translate.Chat, body, "tool_names letter")
	assert.Equal(t, 3, strings.Count(out, `"name":"_21st"`), out)
	assert.Contains(t, out, `"name":"a1"`)
}
