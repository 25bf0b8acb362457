package demo_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// Ensures that a schema cannot make the engine work for ever.
func TestASchemaWithoutBoundsGivesBoundedArguments(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for name, schema := range map[string]string{
			"refers to itself": `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"required":["a","b"]}`,
			"circle":           `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`,
			"giant array":      `{"type":"object","properties":{"a":{"type":"array","minItems":1000000000}},"required":["a"]}`,
			"nested arrays":    `{"type":"object","properties":{"a":{"type":"array","minItems":99,"items":{"$ref":"#"}}},"required":["a"]}`,
			"giant string":     `{"type":"object","properties":{"a":{"type":"string","minLength":1000000000}},"required":["a"]}`,
			"dangling":         `{"type":"object","properties":{"a":{"$ref":"#/nowhere"}},"required":["a"]}`,
			"large":            `{"type":"object","description":"` + strings.Repeat("x", 200_000) + `"}`,
			"no object":        `{"type":"string"}`,
			"odd":              `{"type":7,"required":["a"]}`,
		} {
			m := c.message(ask(messagesPath, "use f", `,"tools":[{"name":"f","input_schema":`+withType(schema)+`}]`))
			require.Len(t, m.Blocks("tool_use"), 1, name)
			assert.Less(t, len(m.Blocks("tool_use")[0].Input), 100_000, name)
		}
	})
}

// withType adds the required type to a schema.
func withType(schema string) string {
	if strings.Contains(schema, `"type":"object"`) || strings.HasPrefix(schema, `{"type":"`) {
		return schema
	}
	return strings.Replace(strings.Replace(schema, `"type":7,`, "", 1), "{", `{"type":"object",`, 1)
}

// Ensures that a request can ask neither for an answer that fills the memory, nor for hours of reading.
func TestTheLengthOfAnAnswerIsBounded(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		c.body(http.StatusBadRequest, completionsPath, `{"model":"m","n":128,"prompt":[`+strings.Repeat(`"x",`, 9)+`"x"]}`)
		c.body(http.StatusBadRequest, completionsPath, `{"model":"m","prompt":[`+strings.Repeat(`"x",`, 1024)+`"x"]}`)
		c.body(http.StatusBadRequest, completionsPath, `{"model":"m","prompt":[`+strings.Repeat(`"x",`, 400)+`"`+strings.Repeat("x", 1<<20)+`"]}`)
		c.body(http.StatusBadRequest, chatPath, ask(chatPath, "[[words:1000]]", `,"n":128`))
		c.body(http.StatusBadRequest, chatPath, ask(chatPath, "[[words:100001]]", ""))
		c.body(http.StatusBadRequest, chatPath, ask(chatPath, "[[fault:slow-first=2h]]", ""))
	})
}

func TestABodyThatIsTooLargeIsRefused(t *testing.T) {
	engine := demo.New()
	r := httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(strings.Repeat("x", demo.MaxBody+1)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
}

// substitutes are values of every kind, which replace expected values.
var substitutes = []any{
	nil, true, 0.0, -1.0, 1.5, 1e18, "", "x", "[[think]]", []any{}, []any{"x"}, []any{map[string]any{}},
	map[string]any{}, map[string]any{"type": "text", "text": "x"},
}

// Ensures that no value at any place makes the engine panic, or answer against the rules of
// the format.
func TestNoValueInNoPlaceBreaksTheEngine(t *testing.T) {
	engine := demo.New(demo.WithPace(0))
	bodies := map[string][]string{
		messagesPath: {
			ask(messagesPath, "use f [[words:3]]", `,"tools":[{"name":"f","input_schema":{"type":"object","required":["a"]}}],"stream":true,"system":[{"type":"text","text":"s"}],
				"tool_choice":{"type":"auto"},"thinking":{"type":"enabled","budget_tokens":1024},"stop_sequences":["x"]`),
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"}}]},
				{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"t1","name":"f","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r"}]}]}]}`,
		},
		chatPath: {
			ask(chatPath, "use f", `,"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"stream":true,"n":2,"stop":["x"],"logprobs":true,"top_logprobs":1,
				"reasoning_effort":"low","stream_options":{"include_usage":true},"tool_choice":{"type":"function","function":{"name":"f"}}`),
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://x"}}]},
				{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"c","content":"r"}]}`,
		},
		responsesPath: {
			ask(responsesPath, "use f and g", `,"tools":[{"type":"function","name":"f","parameters":{}},{"type":"custom","name":"g"},
				{"type":"namespace","name":"n","tools":[{"type":"function","name":"h"}]},{"type":"web_search"}],"stream":true,
				"tool_choice":{"type":"function","name":"f"},"parallel_tool_calls":true,"reasoning":{"effort":"low","summary":"auto"},
				"text":{"format":{"type":"json_schema","name":"s","schema":{"type":"object","required":["a"]}},"verbosity":"low"},
				"include":["reasoning.encrypted_content","message.output_text.logprobs"],"top_logprobs":1,"stream_options":{"include_obfuscation":true}`),
			`{"model":"m","instructions":"s","input":[{"role":"user","content":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"http://x"}]},
				{"type":"reasoning","summary":[{"type":"summary_text","text":"r"}],"encrypted_content":"e"},
				{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"custom_tool_call","call_id":"d","name":"g","input":"i"},
				{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"o"}]},
				{"type":"custom_tool_call_output","call_id":"d","output":"o"},{"type":"additional_tools","role":"developer","tools":[]}]}`,
		},
		completionsPath: {ask(completionsPath, "hi", `,"stream":true,"n":2,"best_of":2,"echo":true,"logprobs":1,"stop":["x"],"max_tokens":3`)},
	}
	for path, list := range bodies {
		for _, body := range list {
			var root any
			require.NoError(t, json.Unmarshal([]byte(body), &root))
			substitute(root, func() {
				mutant, err := json.Marshal(root)
				require.NoError(t, err)
				w := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(mutant))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Anthropic-Version", "2023-06-01")
				engine.ServeHTTP(w, r)
				require.NoError(t, lawful(path, w), "%s", mutant)
			})
		}
	}
}

// substitute puts every substitute at every place in v, one at a time.
func substitute(v any, try func()) {
	each := func(old any, set func(any)) {
		for _, value := range substitutes {
			set(value)
			try()
		}
		set(old)
		substitute(old, try)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			each(v[name], func(value any) { v[name] = value })
		}
	case []any:
		for i := range v {
			each(v[i], func(value any) { v[i] = value })
		}
	}
}

// lawful checks the answer by the rules of its format.
func lawful(path string, w *httptest.ResponseRecorder) error {
	read := clients[path].Parse
	if w.Code != http.StatusOK {
		_, err := client.ParseFailure(w.Body.Bytes())
		return err
	}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		read = clients[path].Read
	}
	_, err := read(w.Body.Bytes())
	return err
}
