package demo_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// weather is a schema that requires a member of every kind.
const weather = `{"type":"object","properties":{
	"city":{"type":"string"},"days":{"type":"integer","minimum":2},"above":{"type":"number","exclusiveMinimum":3},
	"metric":{"type":"boolean"},"units":{"type":"string","enum":["c","f"]},"kind":{"const":"k"},
	"tags":{"type":"array","items":{"type":"string"},"minItems":2},
	"place":{"$ref":"#/$defs/place"},"maybe":{"type":["null","string"]},"either":{"anyOf":[{"type":"integer"},{"type":"string"}]},
	"day":{"type":"string","format":"date"},"free":{},"unneeded":{"type":"string"}},
	"required":["city","days","above","metric","units","kind","tags","place","maybe","either","day","free"],
	"$defs":{"place":{"type":"object","properties":{"lat":{"type":"number"}},"required":["lat"]}}}`

const weatherArguments = `{"city":"demo city","days":2,"above":4,"metric":true,"units":"c","kind":"k",` +
	`"tags":["demo tags","demo tags"],"place":{"lat":1},"maybe":"demo maybe","either":1,"day":"2026-01-31","free":"demo free"}`

const messagesTools = `,"tools":[{"name":"get_weather","input_schema":` + weather + `},
	{"name":"clock","input_schema":{"type":"object"}}]`

const chatTools = `,"tools":[{"type":"function","function":{"name":"get_weather","parameters":` + weather + `}},
	{"type":"function","function":{"name":"clock"}}]`

func TestAToolNamedInThePromptIsCalledWithWhatItsSchemaRequires(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for _, m := range []*client.Message{
			c.message(ask(messagesPath, "please use get_weather", messagesTools)),
			c.message(ask(messagesPath, "please use get_weather", messagesTools+`,"stream":true`)),
		} {
			calls := m.Blocks("tool_use")
			require.Len(t, calls, 1)
			assert.Equal(t, "get_weather", calls[0].Name)
			assert.JSONEq(t, weatherArguments, string(calls[0].Input))
			assert.Equal(t, "tool_use", m.StopReason)
			assert.Equal(t, "I call get_weather.", m.Text())
		}
		for _, answer := range []*client.Completion{
			c.completion(chatPath, ask(chatPath, "please use get_weather", chatTools)),
			c.completion(chatPath, ask(chatPath, "please use get_weather", chatTools+`,"stream":true`)),
		} {
			calls := answer.Choices[0].Message.ToolCalls
			require.Len(t, calls, 1)
			assert.Equal(t, "get_weather", calls[0].Function.Name)
			assert.Equal(t, weatherArguments, calls[0].Function.Arguments)
			assert.Equal(t, "tool_calls", answer.Choices[0].Finish)
		}
	}, demo.WithStrict(true))
}

func TestTwoNamedToolsAreCalledInParallelUnlessForbidden(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		prompt := "call get_weather and clock"
		assert.Len(t, c.message(ask(messagesPath, prompt, messagesTools+`,"stream":true`)).Blocks("tool_use"), 2)
		assert.Len(t, c.message(ask(messagesPath, prompt,
			messagesTools+`,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`)).Blocks("tool_use"), 1)
		answer := c.completion(chatPath, ask(chatPath, prompt, chatTools+`,"stream":true`))
		assert.Len(t, answer.Choices[0].Message.ToolCalls, 2)
		answer = c.completion(chatPath, ask(chatPath, prompt, chatTools+`,"parallel_tool_calls":false`))
		assert.Len(t, answer.Choices[0].Message.ToolCalls, 1)
	})
}

func TestToolChoiceRules(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		assert.Empty(t, c.message(ask(messagesPath, "use clock", messagesTools+`,"tool_choice":{"type":"none"}`)).Blocks("tool_use"))
		forced := c.message(ask(messagesPath, "hello", messagesTools+`,"tool_choice":{"type":"tool","name":"clock"}`))
		require.Len(t, forced.Content, 1)
		assert.Equal(t, "clock", forced.Content[0].Name)
		assert.JSONEq(t, `{}`, string(forced.Content[0].Input))

		answer := c.completion(chatPath, ask(chatPath, "hello", chatTools+`,"tool_choice":"required"`))
		assert.Nil(t, answer.Choices[0].Message.Content, "a pure call has null content")
		assert.Equal(t, "get_weather", answer.Choices[0].Message.ToolCalls[0].Function.Name)
		answer = c.completion(chatPath, ask(chatPath, "hello", chatTools+`,"tool_choice":{"type":"function","function":{"name":"clock"}}`))
		assert.Equal(t, "clock", answer.Choices[0].Message.ToolCalls[0].Function.Name)
	})
}

func TestADirectiveSpellsOutACall(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		prompt := `[[tool clock {"n":12345678901234567890,"zone":["a","b"]}]] [[tool unknown]] [[tool clock]]`
		calls := c.message(ask(messagesPath, prompt, messagesTools+`,"stream":true`)).Blocks("tool_use")
		require.Len(t, calls, 2)
		assert.Equal(t, `{"n":12345678901234567890,"zone":["a","b"]}`, string(calls[0].Input))
		assert.NotEqual(t, calls[0].ID, calls[1].ID)
	})
}

func TestACustomToolGetsText(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		tools := `,"tools":[{"type":"custom","custom":{"name":"note"}}]`
		for _, answer := range []*client.Completion{
			c.completion(chatPath, ask(chatPath, "use note", tools)),
			c.completion(chatPath, ask(chatPath, "use note", tools+`,"stream":true`)),
		} {
			call := answer.Choices[0].Message.ToolCalls[0]
			assert.Equal(t, "custom", call.Type)
			assert.Equal(t, "note", call.Custom.Name)
			assert.Equal(t, "Input for note.", call.Custom.Input)
		}
	})
}

// The directive passed the JSON of its arguments to custom tools, so no prompt could specify
// a patch.
func TestADirectiveSpellsOutTheTextOfACustomTool(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		const prompt = `[[tool note {"input":"one\ntwo three"}]]`
		chat := c.completion(chatPath, ask(chatPath, prompt, `,"tools":[{"type":"custom","custom":{"name":"note"}}]`))
		assert.Equal(t, "one\ntwo three", chat.Choices[0].Message.ToolCalls[0].Custom.Input)
		response := c.response(ask(responsesPath, prompt, `,"tools":[{"type":"custom","name":"note"}]`))
		assert.Equal(t, "one\ntwo three", response.Items("custom_tool_call")[0].Input)
	})
}

// The directive called a custom tool as if it was a function.
func TestADirectiveCallsACustomToolWithText(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		answer := c.completion(chatPath, ask(chatPath, `[[tool note {"a":1}]]`, `,"tools":[{"type":"custom","custom":{"name":"note"}}]`))
		call := answer.Choices[0].Message.ToolCalls[0]
		assert.Equal(t, "custom", call.Type)
		assert.Equal(t, `{"a":1}`, call.Custom.Input)
	})
}

func TestServerToolsAreNeverCalled(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		m := c.message(ask(messagesPath, "use web_search", `,"tools":[{"type":"web_search_20250305","name":"web_search"}]`))
		assert.Equal(t, "end_turn", m.StopReason)
	})
}

func TestToolResultsAreQuoted(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		m := c.message(`{"model":"m1","max_tokens":99` + messagesTools + `,"messages":[
			{"role":"user","content":"use clock"},
			{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}},{"type":"tool_use","id":"t2","name":"clock","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"noon"},
				{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"broken"}]}]}]}`)
		assert.Equal(t, `The tools answered: "noon", "broken".`, m.Text())
		assert.Equal(t, "end_turn", m.StopReason)
		answer := c.completion(chatPath, `{"model":"m1"`+chatTools+`,"messages":[
			{"role":"user","content":"use clock"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"clock","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"noon"}]}`)
		assert.Equal(t, `The tools answered: "noon".`, answer.Choices[0].Text)
	})
}

// A conversation repeats its history. A directive in it must not be carried out again,
// otherwise an agent would call its tool for ever.
func TestADirectiveIsObeyedOnce(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		m := c.message(`{"model":"m1","max_tokens":99` + messagesTools + `,"messages":[
			{"role":"user","content":"[[tool clock]] [[fault:503]]"},
			{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"clock","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"use clock [[fault:503]]"}]}]}`)
		assert.Equal(t, "end_turn", m.StopReason)
		answer := c.completion(chatPath, `{"model":"m1"`+chatTools+`,"messages":[
			{"role":"user","content":"[[tool clock]] [[fault:503]]"},
			{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"clock","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"noon"}]}`)
		assert.Equal(t, "stop", answer.Choices[0].Finish)
	})
}

func TestArgumentsAreCutByMaxTokens(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		body := strings.Replace(ask(messagesPath, "use get_weather", messagesTools), "1000", "5", 1)
		m := c.message(body)
		assert.Equal(t, "max_tokens", m.StopReason)
		assert.JSONEq(t, `{}`, string(m.Blocks("tool_use")[0].Input))
		answer := c.completion(chatPath, ask(chatPath, "use get_weather", chatTools+`,"max_tokens":5`))
		assert.Equal(t, "length", answer.Choices[0].Finish)
		assert.False(t, json.Valid([]byte(answer.Choices[0].Message.ToolCalls[0].Function.Arguments)))
	})
}

func TestReasoningComesWhenAskedFor(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		thinking := `,"thinking":{"type":"adaptive"}`
		whole := c.message(ask(messagesPath, "hi", thinking))
		streamed := c.message(ask(messagesPath, "hi", thinking+`,"stream":true`))
		for _, m := range []*client.Message{whole, streamed} {
			require.Len(t, m.Content, 2)
			assert.Equal(t, "thinking", m.Content[0].Type)
			assert.Contains(t, m.Content[0].Thinking, "wrote 1 word.")
			assert.NotEmpty(t, m.Content[0].Signature)
			require.NotNil(t, m.Usage.OutputDetails)
			assert.Equal(t, len(strings.Fields(m.Content[0].Thinking)), m.Usage.OutputDetails.Thinking)
		}
		assert.Len(t, c.message(ask(messagesPath, "hi", `,"thinking":{"type":"disabled"}`)).Content, 1)

		for _, answer := range []*client.Completion{
			c.completion(chatPath, ask(chatPath, "hi", `,"reasoning_effort":"low"`)),
			c.completion(chatPath, ask(chatPath, "hi", `,"reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}`)),
			c.completion(chatPath, ask(chatPath, "hi [[think]]", "")),
		} {
			assert.Contains(t, answer.Choices[0].Message.Reasoning, "wrote 1 word.")
			assert.Positive(t, answer.Usage.CompletionDetails.Reasoning)
		}
		assert.Empty(t, c.completion(chatPath, ask(chatPath, "hi", `,"reasoning_effort":"none"`)).Choices[0].Message.Reasoning)
	})
}

func TestOmittedThinkingIsSignedAndEmpty(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		more := `,"thinking":{"type":"adaptive","display":"omitted"}`
		for _, m := range []*client.Message{
			c.message(ask(messagesPath, "hi", more)),
			c.message(ask(messagesPath, "hi", more+`,"stream":true`)),
		} {
			assert.Empty(t, m.Content[0].Thinking)
			assert.NotEmpty(t, m.Content[0].Signature)
		}
	})
}

// A client must send thinking back unchanged, also without its text.
func TestAChangedThinkingBlockIsRefusedWhenStrict(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for _, display := range []string{"summarized", "omitted"} {
			m := c.message(ask(messagesPath, "hi", `,"thinking":{"type":"adaptive","display":"`+display+`"}`))
			statusOf := func(thinking, signature string) int {
				response := c.send(messagesPath, `{"model":"m1","max_tokens":9,"messages":[{"role":"user","content":"hi"},
					{"role":"assistant","content":[{"type":"thinking","thinking":`+quote(thinking)+`,"signature":`+quote(signature)+`}]},
					{"role":"user","content":"more"}]}`)
				return response.StatusCode
			}
			block := m.Content[0]
			assert.Equal(t, http.StatusOK, statusOf(block.Thinking, block.Signature), display)
			assert.Equal(t, http.StatusBadRequest, statusOf(block.Thinking+".", block.Signature), display)
			assert.Equal(t, http.StatusBadRequest, statusOf("I think.", "gwts1:AAAA"), display)
			assert.Equal(t, http.StatusBadRequest, statusOf("I think.", ""), display)
		}
	}, demo.WithStrict(true))
}

// In the chat and messages formats, the answer to a request with a schema was plain text, so
// no client could read it as a structured answer.
func TestAStructuredAnswerFollowsItsSchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`
	const want = `{"city":"demo city"}`
	ways(t, func(t *testing.T, c *caller) {
		chat := c.completion(chatPath, ask(chatPath, "Where?", `,"response_format":{"type":"json_schema","json_schema":{"name":"place","schema":`+schema+`}}`))
		assert.JSONEq(t, want, *chat.Choices[0].Message.Content)
		message := c.message(ask(messagesPath, "Where?", `,"output_config":{"format":{"type":"json_schema","schema":`+schema+`}}`))
		assert.JSONEq(t, want, message.Content[0].Text)
		response := c.response(ask(responsesPath, "Where?", `,"text":{"format":{"type":"json_schema","name":"place","schema":`+schema+`}}`))
		assert.JSONEq(t, want, response.Text())
	}, demo.WithStrict(true))
}
