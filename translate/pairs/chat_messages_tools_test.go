package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestToolsOfChatTowardsMessages(t *testing.T) {
	tool := func(name string) string { return `{"type":"function","function":{"name":"` + name + `"}}` }
	given := func(name string) string {
		return `{"name":"` + name + `","input_schema":{"type":"object","properties":{}}}`
	}
	request := func(members ...string) string { return talk(hi, members...) }
	want := func(members ...string) string { return messagesBody(userHi, members...) }
	both, bothGiven := `"tools":[`+tool("f")+`,`+tool("g")+`]`, `"tools":[`+given("f")+`,`+given("g")+`]`
	allow := func(mode, names string) string {
		return `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"` + mode + `","tools":[` + names + `]}}`
	}
	runRenderCases(t, translate.Chat, translate.Messages, []renderCase{
		{
			name: "a function", body: request(`"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type":"object","additionalProperties": false}}}]`),
			want: want(`"tools":[{"name":"f","description":"d","input_schema":{"type":"object","additionalProperties":false,"properties":{}},"strict":true}]`),
		},
		{name: "no parameters", body: request(`"tools":[` + tool("f") + `]`), want: want(`"tools":[` + given("f") + `]`)},
		{
			name: "G022 parameters without a type", body: request(`"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{}}}},{"type":"function","function":{"name":"g","parameters":{}}}]`),
			want: want(`"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}},{"name":"g","input_schema":{"type":"object","properties":{}}}]`),
		},
		{name: "parameters that are none", body: request(`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`), fault: "tools[0].function.parameters: must be an object"},
		{name: "no name", body: request(`"tools":[{"type":"function","function":{}}]`), fault: "tools[0].function.name: required"},
		{name: "no function", body: request(`"tools":[{"type":"function"}]`), fault: "tools[0].function.name: required"},
		{name: "no tools", body: request(`"tools":[]`), want: want()},
		{name: "G021 a custom tool", body: request(`"tools":[` + tool("f") + `,{"type":"custom","custom":{"name":"g"}}]`), fault: "tools[1].type: 'custom'" + notM1 + "messages)"},
		{name: "G021 a tool of the vendor", body: request(`"tools":[{"type":"web_search"}]`), fault: "tools[0].type: 'web_search'" + notM1 + "messages)"},
		{
			name: "G021 a custom tool that may be left out", traits: "unsupported_tools drop", body: request(`"tools":[{"type":"custom","custom":{"name":"g"}},`+tool("f")+`]`, `"tool_choice":"required"`),
			want: want(`"tools":[`+given("f")+`]`, `"tool_choice":{"type":"any"}`), losses: "tools[*].type hint",
		},
		{name: "other members", body: request(`"tools":[{"type":"function","x":1,"function":{"name":"f","y":2}}]`), want: want(`"tools":[` + given("f") + `]`), losses: "tools[*].x hint, tools[*].function.y hint"},

		{name: "auto", body: request(both, `"tool_choice":"auto"`), want: want(bothGiven, `"tool_choice":{"type":"auto"}`)},
		{name: "none", body: request(both, `"tool_choice":"none"`), want: want(bothGiven, `"tool_choice":{"type":"none"}`)},
		{name: "required", body: request(both, `"tool_choice":"required"`), want: want(bothGiven, `"tool_choice":{"type":"any"}`)},
		{name: "one", body: request(both, `"tool_choice":{"type":"function","function":{"name":"\u0067"}}`), want: want(bothGiven, `"tool_choice":{"type":"tool","name":"g"}`)},
		{name: "one that is not there", body: request(both, `"tool_choice":{"type":"function","function":{"name":"h"}}`), fault: "tool_choice.function.name:" + notM1 + "messages)"},
		{name: "one without a name", body: request(both, `"tool_choice":{"type":"function","function":{}}`), fault: "tool_choice.function.name: must be a string"},
		{name: "one that is no function", body: request(both, `"tool_choice":{"type":"custom","custom":{"name":"g"}}`), fault: "tool_choice.type: 'custom'" + notM1 + "messages)"},
		{name: "none without tools", body: request(`"tool_choice":"none"`), want: want()},
		{name: "a choice without tools", body: request(`"tool_choice":{"type":"function","function":{"name":"f"}}`, `"parallel_tool_calls":false`), want: want(), losses: "tool_choice shaping"},
		{name: "a choice without tools that demands none", body: request(`"tool_choice":"auto"`), want: want()},

		{name: "one by one", body: request(both, `"parallel_tool_calls":false`), want: want(bothGiven, `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`)},
		{name: "all at once", body: request(both, `"parallel_tool_calls":true`), want: want(bothGiven)},
		{name: "one of one by one", body: request(both, `"tool_choice":{"type":"function","function":{"name":"f"}}`, `"parallel_tool_calls":false`), want: want(bothGiven, `"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true}`)},
		{name: "none one by one", body: request(both, `"tool_choice":"none"`, `"parallel_tool_calls":false`), want: want(bothGiven, `"tool_choice":{"type":"none"}`)},

		{
			name: "G023 some of the tools, one by one", body: request(both, allow("auto", tool("g")), `"parallel_tool_calls":false`),
			want: want(`"tools":[`+given("g")+`]`, `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`),
		},
		{name: "some of the tools, which must be used", body: request(both, allow("required", tool("f")+`,`+tool("g"))), want: want(bothGiven, `"tool_choice":{"type":"any"}`)},
		{name: "a choice that stands before its tools", body: request(allow("required", tool("f")), both), want: want(`"tools":[`+given("f")+`]`, `"tool_choice":{"type":"any"}`)},
		{name: "none of the tools", body: request(both, allow("auto", "")), want: want()},
		{name: "some that are not there", body: request(both, allow("auto", tool("f")+`,`+tool("h"))), fault: "tool_choice.allowed_tools.tools[1].function.name:" + notM1 + "messages)"},
		{name: "one of none", body: request(both, allow("required", "")), fault: "tool_choice.allowed_tools.tools: must hold at least one tool where the mode is 'required'"},
		{name: "no list of them", body: request(both, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto"}}`), fault: "tool_choice.allowed_tools.tools: must be an array of objects"},
		{name: "nothing of them", body: request(both, `"tool_choice":{"type":"allowed_tools"}`), fault: "tool_choice.allowed_tools: must be an object"},
	})
}

// Every tool was once searched among all allowed tools, whose escaped names were decoded
// each time: a request of 300 KB took eight seconds. The test counts allocations instead
// of time.
func TestManyAllowedToolsCostNoMoreEach(t *testing.T) {
	steps := func(tools int) float64 {
		var all []string
		for i := range tools {
			all = append(all, fmt.Sprintf(`{"type":"function","function":{"name":"\u0066%d"}}`, i))
		}
		list := strings.Join(all, ",")
		body := talk(hi, `"tools":[`+list+`]`, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[`+list+`]}}`)
		return testing.AllocsPerRun(1, func() {
			renderCaseOf(t, translate.Chat, translate.Messages, renderCase{body: body})
		})
	}
	assert.Less(t, steps(400), 3*steps(200))
}
