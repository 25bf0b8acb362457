package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// named returns an entry of tool_calls with an index and a part of a name.
func named(index int, name string) string {
	return fmt.Sprintf(`{"index":%d,"function":{"name":%q}}`, index, name)
}

// argued returns an entry with a fragment of the arguments.
func argued(index int, args string) string {
	return fmt.Sprintf(`{"index":%d,"function":{"arguments":%q}}`, index, args)
}

// A bug was here: a name that came in fragments was cut to the first, so that the
// client saw a call of a tool that it never named.
func TestFragmentsOfANameAreJoined(t *testing.T) {
	const start = `tool 0 "" "get_weather"`
	get, weather := calls(named(0, "get_")), calls(named(0, "weather"))
	for name, tt := range map[string]struct {
		events []string
		want   []string
	}{
		"until the arguments":             {[]string{get, weather, calls(argued(0, "{}"))}, []string{start, `args 0 "{}"`}},
		"until arguments that are empty":  {[]string{get, weather, calls(argued(0, "")), tools}, []string{start, "finish tools"}},
		"beside the first arguments":      {[]string{get, calls(`{"index":0,"function":{"name":"weather","arguments":"{}"}}`)}, []string{start, `args 0 "{}"`}},
		"until a text":                    {[]string{get, weather, deltaChunk(`{"content":"a"}`)}, []string{start, `text "a"`}},
		"until reasoning":                 {[]string{get, weather, deltaChunk(`{"reasoning":"a"}`)}, []string{start, `reasoning "a"`}},
		"until another call":              {[]string{get, weather, calls(named(1, "f")), calls(argued(0, "{}"))}, []string{start, `tool 1 "" "f"`, `args 0 "{}"`}},
		"until the finish":                {[]string{get, weather, tools}, []string{start, "finish tools"}},
		"until a finish without a delta":  {[]string{get, weather, `{"choices":[{"index":0,"finish_reason":"tool_calls"}]}`}, []string{start, "finish tools"}},
		"until the end":                   {[]string{get, weather}, []string{start}},
		"across empty deltas":             {[]string{get, deltaChunk(`{"content":""}`), deltaChunk(`{}`), weather}, []string{start}},
		"with an id that comes late":      {[]string{get, calls(`{"index":0,"id":"a","function":{"name":"weather"}}`)}, []string{`tool 0 "a" "get_weather"`}},
		"of a function_call":              {[]string{deltaChunk(`{"function_call":{"name":"get_"}}`), deltaChunk(`{"function_call":{"name":"weather"}}`)}, []string{start}},
		"of a custom call":                {[]string{calls(`{"index":0,"custom":{"name":"get_"}}`), calls(`{"index":0,"custom":{"name":"weather","input":"x"}}`)}, []string{start + " custom", `args 0 "x"`}},
		"of one id":                       {[]string{calls(`{"id":"a","function":{"name":"get_"}}`), calls(`{"id":"a","function":{"name":"weather"}}`)}, []string{`tool 0 "a" "get_weather"`}},
		"not of two ids":                  {[]string{calls(`{"index":0,"id":"a","function":{"name":"get_"}}`), calls(`{"index":0,"id":"b","function":{"name":"weather"}}`)}, []string{`tool 0 "a" "get_"`, `tool 1 "b" "weather"`}},
		"not where nothing ties them":     {[]string{calls(`{"function":{"name":"get_"}}`), calls(`{"function":{"name":"weather"}}`)}, []string{`tool 0 "" "get_"`, `tool 1 "" "weather"`}},
		"not where the name is repeated":  {[]string{weather, weather, calls(`{"index":0,"function":{"name":"weather","arguments":"{}"}}`)}, []string{`tool 0 "" "weather"`, `args 0 "{}"`}},
		"nor where all of it is repeated": {[]string{get, weather, calls(named(0, "get_weather"))}, []string{start}},
		"nor behind waiting arguments":    {[]string{calls(argued(0, "{")), get, weather}, []string{`tool 0 "" "get_"`, `args 0 "{"`}},
	} {
		t.Run(name, func(t *testing.T) {
			want := append(append([]string{begin}, tt.want...), "end")
			assert.Equal(t, want, parse(append(tt.events, done), true))
		})
	}
}

// Most servers name a call beside empty arguments: it begins there and then.
func TestACallThatHasArgumentsBeginsAtOnce(t *testing.T) {
	for args, begins := range map[string]bool{`,"arguments":""`: true, `,"arguments":{}`: true, `,"arguments":null`: false, ``: false} {
		var r translatetest.Transcript
		p := answer.NewParser(&r)
		p.Event(sse.Event{Data: []byte(calls(`{"index":0,"id":"a","function":{"name":"f"` + args + `}}`))})
		assert.Equal(t, begins, strings.Contains(strings.Join(r.Lines, "\n"), `tool 0 "a" "f"`), args)
	}
}

func TestANameBehindTheBeginningOfItsCallIsReported(t *testing.T) {
	for later, want := range map[string]string{"g": "choices[*].message.tool_calls[*].function.name", "f": "", "": ""} {
		var r translatetest.Transcript
		p := answer.NewParser(&r)
		for _, args := range []string{`"name":"f","arguments":"{"`, `"arguments":"}","name":"` + later + `"`} {
			p.Event(sse.Event{Data: []byte(calls(`{"index":0,"function":{` + args + `}}`))})
		}
		assert.Equal(t, []string{begin, `tool 0 "" "f"`, `args 0 "{"`, `args 0 "}"`}, r.Lines)
		assert.Equal(t, want, p.Losses().String())
	}
}

// A chunk that also has a name must not become the template, although the name makes no
// event of its own.
func TestANameThatWaitsIsNoPartOfAShape(t *testing.T) {
	both := calls(argued(1, "1") + "," + named(0, "f"))
	assert.Equal(t, []string{
		begin, `tool 0 "" "g"`, `args 0 "1"`, `tool 1 "" "f"`, `args 0 "1"`, "end",
	}, parse([]string{calls(`{"index":1,"function":{"name":"g","arguments":""}}`), both, both, done}, true))
}
