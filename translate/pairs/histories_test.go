package pairs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// spokenTurn is a turn of a conversation, in the words of no format.
type spokenTurn struct {
	role    string // "system", "user" or "assistant"
	texts   []string
	calls   []madeCall
	results []madeCall // with the text of the result in place of the arguments
}

// madeCall is the call of a tool. Its texts are not escaped.
type madeCall struct{ id, name, arguments string }

func system(texts ...string) spokenTurn    { return spokenTurn{role: "system", texts: texts} }
func asks(texts ...string) spokenTurn      { return spokenTurn{role: "user", texts: texts} }
func answers(texts ...string) spokenTurn   { return spokenTurn{role: "assistant", texts: texts} }
func calls(calls ...madeCall) spokenTurn   { return spokenTurn{role: "assistant", calls: calls} }
func returns(calls ...madeCall) spokenTurn { return spokenTurn{role: "user", results: calls} }

// histories write a conversation with tools as clients of each format that has turns do.
var histories = map[translate.Format]func(tools []string, turns []spokenTurn) string{
	translate.Messages: func(tools []string, turns []spokenTurn) string {
		var system, messages, declared []string
		for _, turn := range turns {
			var blocks []string
			for _, r := range turn.results {
				blocks = append(blocks, `{"type":"tool_result","tool_use_id":`+quoted(r.id)+`,"content":`+quoted(r.arguments)+`}`)
			}
			for _, text := range turn.texts {
				blocks = append(blocks, `{"type":"text","text":`+quoted(text)+`}`)
			}
			for _, c := range turn.calls {
				blocks = append(blocks, `{"type":"tool_use","id":`+quoted(c.id)+`,"name":`+quoted(c.name)+`,"input":`+c.arguments+`}`)
			}
			if turn.role == "system" {
				system = append(system, blocks...)
			} else {
				messages = append(messages, `{"role":"`+turn.role+`","content":[`+strings.Join(blocks, ",")+`]}`)
			}
		}
		for _, name := range tools {
			declared = append(declared, `{"name":`+quoted(name)+`,"input_schema":{"type":"object"}}`)
		}
		return requestOf(`"max_tokens":9`, list("system", system), list("messages", messages), list("tools", declared))
	},
	translate.Chat: func(tools []string, turns []spokenTurn) string {
		var messages, declared []string
		for _, turn := range turns {
			for _, r := range turn.results {
				messages = append(messages, `{"role":"tool","tool_call_id":`+quoted(r.id)+`,"content":`+quoted(r.arguments)+`}`)
			}
			var parts, calls []string
			for _, text := range turn.texts {
				parts = append(parts, `{"type":"text","text":`+quoted(text)+`}`)
			}
			for _, c := range turn.calls {
				calls = append(calls, `{"id":`+quoted(c.id)+`,"type":"function","function":{"name":`+quoted(c.name)+`,"arguments":`+quoted(c.arguments)+`}}`)
			}
			if len(parts)+len(calls) > 0 {
				messages = append(messages, requestOf(`"role":"`+turn.role+`"`, list("content", parts), list("tool_calls", calls)))
			}
		}
		for _, name := range tools {
			declared = append(declared, `{"type":"function","function":{"name":`+quoted(name)+`}}`)
		}
		return requestOf(`"model":"m1"`, list("messages", messages), list("tools", declared))
	},
	translate.Responses: func(tools []string, turns []spokenTurn) string {
		var items, declared []string
		for _, turn := range turns {
			for _, r := range turn.results {
				items = append(items, `{"type":"function_call_output","call_id":`+quoted(r.id)+`,"output":`+quoted(r.arguments)+`}`)
			}
			var parts []string
			kind := "input_text"
			if turn.role == "assistant" {
				kind = "output_text"
			}
			for _, text := range turn.texts {
				parts = append(parts, `{"type":"`+kind+`","text":`+quoted(text)+`}`)
			}
			if len(parts) > 0 {
				items = append(items, `{"type":"message","role":"`+turn.role+`","content":[`+strings.Join(parts, ",")+`]}`)
			}
			for _, c := range turn.calls {
				items = append(items, `{"type":"function_call","call_id":`+quoted(c.id)+`,"name":`+quoted(c.name)+`,"arguments":`+quoted(c.arguments)+`}`)
			}
		}
		for _, name := range tools {
			declared = append(declared, `{"type":"function","name":`+quoted(name)+`,"parameters":{"type":"object","properties":{}}}`)
		}
		return requestOf(`"model":"m1"`, list("input", items), list("tools", declared))
	},
	translate.Gemini: func(tools []string, turns []spokenTurn) string {
		var system, contents, declared []string
		for _, turn := range turns {
			var parts []string
			for _, r := range turn.results {
				parts = append(parts, `{"functionResponse":{"id":`+quoted(r.id)+`,"name":`+quoted(r.name)+`,"response":{"output":`+quoted(r.arguments)+`}}}`)
			}
			for _, text := range turn.texts {
				parts = append(parts, `{"text":`+quoted(text)+`}`)
			}
			for _, c := range turn.calls {
				parts = append(parts, `{"functionCall":{"id":`+quoted(c.id)+`,"name":`+quoted(c.name)+`,"args":`+c.arguments+`}}`)
			}
			if turn.role == "system" {
				system = append(system, parts...)
			} else {
				role := map[string]string{"user": "user", "assistant": "model"}[turn.role]
				contents = append(contents, `{"role":"`+role+`","parts":[`+strings.Join(parts, ",")+`]}`)
			}
		}
		for _, name := range tools {
			declared = append(declared, `{"name":`+quoted(name)+`}`)
		}
		members := []string{list("contents", contents)}
		if system != nil {
			members = append(members, `"systemInstruction":{`+list("parts", system)+`}`)
		}
		if declared != nil {
			members = append(members, `"tools":[{`+list("functionDeclarations", declared)+`}]`)
		}
		return requestOf(members...)
	},
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // a string is always valid
	return string(raw)
}

// list returns a member that is a list, "" for an empty one.
func list(name string, elements []string) string {
	if len(elements) == 0 {
		return ""
	}
	return `"` + name + `":[` + strings.Join(elements, ",") + `]`
}

// requestOf returns the object with those of the members that are not "".
func requestOf(members ...string) string {
	var all []string
	for _, m := range members {
		if m != "" {
			all = append(all, m)
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

// renderHistory translates a conversation on a way, with traits and the provider's name of the
// model, "" for the usual one.
func renderHistory(t *testing.T, w way, traits, upstream string, tools []string, turns ...spokenTurn) (string, core.Rendered, *fault.Fault) {
	t.Helper()
	body := []byte(histories[w.source](tools, turns))
	if w.source == translate.Messages {
		body = append([]byte(`{"model":"m1",`), body[1:]...)
	}
	_, refused := formats.Of(w.source).Requests.Inspect(body, translate.Generate)
	require.Nil(t, refused, string(body))
	if upstream == "" {
		upstream = upstreamName(w.target)
	}
	info := &core.RequestInfo{Model: "m1", Upstream: upstream, Traits: traitsOf(t, traits), Seals: sealer}
	out, r, refused := pairs.Render(nil, w.source, w.target, body, info)
	if refused == nil {
		requireRight(t, w.target, out)
	}
	return string(out), r, refused
}
