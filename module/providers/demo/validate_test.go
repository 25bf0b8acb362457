package demo_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/client"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
)

func TestBadRequestsAreRefusedByTheFieldAtFault(t *testing.T) {
	user := `{"role":"user","content":"hi"}`
	called := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}`
	chatCalled := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	cases := []struct{ name, path, body, message string }{
		{"no JSON", messagesPath, `{`, "request body: must be a JSON object"},
		{"no object", chatPath, `[]`, "request body: must be a JSON object"},
		{"no model", messagesPath, `{"max_tokens":1,"messages":[` + user + `]}`, "model: required"},
		{"no messages", chatPath, `{"model":"m"}`, "messages: must hold at least one message"},
		{"no prompt", completionsPath, `{"model":"m","prompt":null}`, "prompt: required"},
		{"mixed prompt", completionsPath, `{"model":"m","prompt":["a",1]}`, "prompt: must be a string, an array of strings, or arrays of token ids"},
		{"no max_tokens", messagesPath, `{"model":"m","messages":[` + user + `]}`, "max_tokens: required"},
		{"zero max_tokens", messagesPath, `{"model":"m","max_tokens":0,"messages":[` + user + `]}`, "max_tokens: must be an integer of at least 1"},
		{"fraction", chatPath, `{"model":"m","max_tokens":1.5,"messages":[` + user + `]}`, "max_tokens: must be an integer of at least 1"},
		{"both limits", chatPath, `{"model":"m","max_tokens":1,"max_completion_tokens":1,"messages":[` + user + `]}`, "max_tokens: cannot be used together with max_completion_tokens"},
		{"temperature", messagesPath, `{"model":"m","max_tokens":1,"temperature":1.1,"messages":[` + user + `]}`, "temperature: must be between 0 and 1"},
		{"stream type", chatPath, `{"model":"m","stream":"yes","messages":[` + user + `]}`, "stream: must be a boolean"},
		{"stream options alone", chatPath, `{"model":"m","stream_options":{},"messages":[` + user + `]}`, "stream_options: only allowed when stream is true"},
		{"role", messagesPath, `{"model":"m","max_tokens":1,"messages":[{"role":"tool","content":"x"}]}`, `messages.0.role: must be one of ["user" "assistant" "system"]`},
		{"empty text", messagesPath, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`, "messages.0.content.0.text: must be a non-empty string"},
		{"image without source", messagesPath, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image"}]}]}`, "messages.0.content.0.source: required"},
		{"blank stop", messagesPath, `{"model":"m","max_tokens":1,"stop_sequences":[" "],"messages":[` + user + `]}`, "stop_sequences: each stop sequence must contain non-whitespace"},
		{"tool without schema", messagesPath, `{"model":"m","max_tokens":1,"tools":[{"name":"f"}],"messages":[` + user + `]}`, "tools.0.input_schema.type: required"},
		{"no such tool", messagesPath, `{"model":"m","max_tokens":1,"tool_choice":{"type":"any"},"messages":[` + user + `]}`, "tool_choice: no such tool is offered"},
		{"budget", messagesPath, `{"model":"m","max_tokens":1024,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[` + user + `]}`, "max_tokens: must be greater than thinking.budget_tokens"},
		{"call without result", messagesPath, `{"model":"m","max_tokens":1,"messages":[` + user + `,` + called + `,` + user + `]}`, "messages.2: tool_use ids were found without tool_result blocks immediately after"},
		{"call at the end", messagesPath, `{"model":"m","max_tokens":1,"messages":[` + user + `,` + called + `]}`, "messages: tool_use ids were found without tool_result blocks immediately after"},
		{"text before result", messagesPath, `{"model":"m","max_tokens":1,"messages":[` + user + `,` + called + `,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t1"}]}]}`, "messages.2.content.0: tool_use ids were found without tool_result blocks immediately after"},
		{"result without call", messagesPath, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9"}]}]}`, "messages.0.content.0.tool_use_id: unexpected tool_use_id found in tool_result blocks"},
		{"tool id", messagesPath, `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"f:0","name":"f","input":{}}]}]}`, "messages.0.content.0.id: must match ^[a-zA-Z0-9_-]+$"},
		{"chat call without result", chatPath, `{"model":"m","messages":[` + user + `,` + chatCalled + `,` + user + `]}`, "messages[2]: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"},
		{"chat result without call", chatPath, `{"model":"m","messages":[{"role":"tool","tool_call_id":"x","content":"y"}]}`, "messages[0].tool_call_id: must answer a call of the assistant message before"},
		{"chat content null", chatPath, `{"model":"m","messages":[{"role":"user","content":null}]}`, "messages[0].content: required"},
		{"chat no tools", chatPath, `{"model":"m","tools":[],"messages":[` + user + `]}`, "tools: must hold at least one tool"},
		{"chat tool name", chatPath, `{"model":"m","tools":[{"type":"function","function":{"name":"a b"}}],"messages":[` + user + `]}`, "tools[0].function.name: must match ^[a-zA-Z0-9_-]{1,64}$"},
		{"chat parallel", chatPath, `{"model":"m","parallel_tool_calls":true,"messages":[` + user + `]}`, "parallel_tool_calls: only allowed when tools are given"},
		{"chat part", chatPath, `{"model":"m","messages":[{"role":"user","content":[{"type":"tool_use"}]}]}`, "messages[0].content[0].type: this part is not allowed here"},
		{"five stops", completionsPath, `{"model":"m","prompt":"x","stop":["1","2","3","4","5"]}`, "stop: must hold at most 4 strings"},
		{"unknown directive", chatPath, ask(chatPath, "[[fault:nothing]]", ""), "unknown directive: [[fault:nothing]]"},
		{"odd status", chatPath, ask(chatPath, "[[fault:200]]", ""), "unknown directive: [[fault:200]]"},
		{"strict: unknown", chatPath, ask(chatPath, "x", `,"cache_control":{}`), "cache_control: unknown parameter"},
		{"strict: unknown in message", chatPath, `{"model":"m","messages":[{"role":"user","content":"x","cache_control":{}}]}`, "messages[0].cache_control: unknown parameter"},
		{"strict: unknown in part", chatPath, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{}}]}]}`, "messages[0].content[0].cache_control: unknown parameter"},
		{"strict: unknown in tool", chatPath, ask(chatPath, "x", `,"tools":[{"type":"function","defer_loading":true,"function":{"name":"f"}}]`), "tools[0].defer_loading: unknown parameter"},
		{"strict: foreign field", messagesPath, ask(messagesPath, "x", `,"n":2`), "n: unknown parameter"},
		{"strict: vendor field", completionsPath, ask(completionsPath, "x", `,"top_k":2`), "top_k: unknown parameter"},
	}
	ways(t, func(t *testing.T, c *caller) {
		for _, tc := range cases {
			t.Run(tc.name, func(t *testing.T) {
				raw := c.body(http.StatusBadRequest, tc.path, tc.body)
				f, err := client.ParseFailure(raw)
				require.NoError(t, err)
				assert.Equal(t, tc.message, f.Message)
				assert.Equal(t, "invalid_request_error", f.Type)
			})
		}
	}, demo.WithStrict(true))
}

func TestUnknownFieldsPassUnlessStrict(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for _, path := range paths {
			c.body(http.StatusOK, path, ask(path, "x", `,"unheard_of":1`))
		}
	})
}

func TestErrorBodiesHaveTheShapeOfTheirFormat(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		var messages map[string]any
		response := c.send(messagesPath, ask(messagesPath, "[[fault:529]]", ""))
		require.Equal(t, 529, response.StatusCode)
		require.NoError(t, json.NewDecoder(response.Body).Decode(&messages))
		assert.Equal(t, "error", messages["type"])
		assert.Equal(t, "overloaded_error", messages["error"].(map[string]any)["type"])
		assert.Equal(t, response.Header.Get("Request-Id"), messages["request_id"])

		raw := c.body(http.StatusTooManyRequests, chatPath, ask(chatPath, "[[fault:429 code=insufficient_quota]]", ""))
		assert.JSONEq(t, `{"error":{"message":"this error was asked for by the prompt","type":"rate_limit_error","param":null,"code":"insufficient_quota"}}`, string(raw))
	})
}

// After this error, a client sends the whole conversation. Without the error, the second
// turn would be answered without the first.
func TestThreadsAreRefusedInAWayThatClientsUnderstand(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for _, thread := range []string{`{"type":"create"}`, `{"type":"continue","previous_message_id":"msg_1"}`} {
			var body struct{ Error json.RawMessage }
			raw := c.body(http.StatusBadRequest, messagesPath, ask(messagesPath, "x", `,"thread":`+thread))
			require.NoError(t, json.Unmarshal(raw, &body))
			assert.JSONEq(t, `{"type":"invalid_request_error","message":"thread: is not supported",
				"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}}`, string(body.Error))
		}
		c.body(http.StatusOK, messagesPath, ask(messagesPath, "x", `,"thread":null`))
	})
}

func TestCredentialsAreChecked(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		status := func(path, header, value string) int {
			r := c.request(t.Context(), http.MethodPost, path, ask(path, "x", ""))
			r.Header.Set(header, value)
			response, err := c.transport.RoundTrip(r)
			require.NoError(t, err)
			_ = response.Body.Close()
			return response.StatusCode
		}
		assert.Equal(t, http.StatusOK, status(messagesPath, "Authorization", "Bearer secret"))
		assert.Equal(t, http.StatusOK, status(messagesPath, "X-Api-Key", "secret"))
		assert.Equal(t, http.StatusUnauthorized, status(messagesPath, "X-Api-Key", "wrong"))
		assert.Equal(t, http.StatusOK, status(chatPath, "Authorization", "Bearer secret"))
		assert.Equal(t, http.StatusUnauthorized, status(chatPath, "X-Api-Key", "secret"))
		assert.Equal(t, http.StatusUnauthorized, status(completionsPath, "X-Other", "secret"))
	}, demo.WithKey("secret"))
}

func TestHeadersAndPathsAreChecked(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		status := func(method, path string, change func(http.Header)) int {
			r := c.request(t.Context(), method, path, ask(messagesPath, "x", ""))
			change(r.Header)
			response, err := c.transport.RoundTrip(r)
			require.NoError(t, err)
			_ = response.Body.Close()
			return response.StatusCode
		}
		same := func(http.Header) {}
		assert.Equal(t, http.StatusOK, status(http.MethodPost, messagesPath, same))
		assert.Equal(t, http.StatusMethodNotAllowed, status(http.MethodGet, messagesPath, same))
		assert.Equal(t, http.StatusNotFound, status(http.MethodPost, "/v1/batches", same))
		assert.Equal(t, http.StatusBadRequest, status(http.MethodPost, messagesPath, func(h http.Header) { h.Del("Anthropic-Version") }))
		assert.Equal(t, http.StatusUnsupportedMediaType, status(http.MethodPost, messagesPath, func(h http.Header) { h.Set("Content-Type", "text/plain") }))
		assert.Equal(t, http.StatusBadRequest, status(http.MethodPost, messagesPath, func(h http.Header) { h.Set("Content-Encoding", "gzip") }))
	})
}

func TestOnlyKnownModelsAnswerWhenTheyAreNamed(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		c.body(http.StatusOK, chatPath, ask(chatPath, "x", ""))
		raw := c.body(http.StatusNotFound, chatPath, `{"model":"m9","messages":[{"role":"user","content":"x"}]}`)
		f, err := client.ParseFailure(raw)
		require.NoError(t, err)
		assert.Equal(t, "model_not_found", f.Code)
	}, demo.WithModels("m0", "m1"))
}

// The first unknown field depended on the random order of a map, so the same request got
// different answers.
func TestOfSeveralUnknownFieldsTheFirstByNameIsRefused(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for range 20 {
			f, err := client.ParseFailure(c.body(http.StatusBadRequest, chatPath, ask(chatPath, "x", `,"zz":1,"aa":2,"mm":3`)))
			require.NoError(t, err)
			assert.Equal(t, "aa: unknown parameter", f.Message)
		}
	}, demo.WithStrict(true))
}

// Equal texts have equal vectors, in both encodings, so that a search over them can be tried.
func TestVectorsDependOnTheirTextAlone(t *testing.T) {
	ask := func(body string) (answer struct {
		Data []struct{ Embedding any }
	}) {
		request := httptest.NewRequest(http.MethodPost, "/v1/embeddings", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		r, err := demo.New().RoundTrip(request)
		require.NoError(t, err)
		defer r.Body.Close()
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.NoError(t, json.NewDecoder(r.Body).Decode(&answer))
		return answer
	}
	two := ask(`{"model":"demo","input":["a","b"],"dimensions":3}`)
	require.Len(t, two.Data, 2)
	assert.Len(t, two.Data[0].Embedding, 3)
	assert.NotEqual(t, two.Data[0], two.Data[1])
	assert.Equal(t, two.Data[1], ask(`{"model":"demo","input":["b"],"dimensions":3}`).Data[0])
	assert.Equal(t, ask(`{"model":"demo","input":"a","encoding_format":"base64"}`), ask(`{"model":"demo","input":["a"],"encoding_format":"base64"}`))
}
