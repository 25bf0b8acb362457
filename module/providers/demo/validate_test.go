package demo_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// The strict pass of each format has tests of its own.
func TestBadRequestsAreRefusedByTheFieldAtFault(t *testing.T) {
	cases := []struct{ name, path, body, message string }{
		{"no JSON", messagesPath, `{`, "request body: not valid JSON at byte 1"},
		{"no model", messagesPath, `{"max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, "model: required"},
		{"no messages", chatPath, `{"model":"m"}`, "messages: required"},
		{"no prompt", completionsPath, `{"model":"m","prompt":null}`, "prompt: required"},
		{"stream type", responsesPath, `{"model":"m","stream":"yes","input":"hi"}`, "stream: must be a boolean, got string"},
		{"no dimension", embeddingsPath, `{"model":"m","input":"x","dimensions":0}`, "dimensions: must be an integer of at least 1"},
		{"unknown directive", chatPath, ask(chatPath, "[[fault:nothing]]", ""), "unknown directive: [[fault:nothing]]"},
		{"odd status", chatPath, ask(chatPath, "[[fault:200]]", ""), "unknown directive: [[fault:200]]"},
		{"odd wait", chatPath, ask(chatPath, "[[fault:429 retry-after=soon]]", ""), "unknown directive: [[fault:429 retry-after=soon]]"},
		{"strict: unknown", chatPath, ask(chatPath, "x", `,"thinking":{}`), "thinking: unknown member"},
		{"strict: the first of them", chatPath, ask(chatPath, "x", `,"zz":1,"aa":2`), "zz: unknown member"},
		{"strict: foreign field", messagesPath, ask(messagesPath, "x", `,"n":2`), "n: unknown member"},
		{"strict: foreign encryption", responsesPath, `{"model":"m","input":[{"role":"user","content":"x"},{"type":"reasoning","summary":[],"encrypted_content":"x"},{"role":"user","content":"x"}]}`,
			"the signature of the reasoning could not be verified"},
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

// After this error, a client sends the whole conversation. Without the error, the second
// turn would be answered without the first.
func TestThreadsAreRefusedInAWayThatClientsUnderstand(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for _, thread := range []string{`{"type":"create"}`, `{"type":"continue","previous_message_id":"msg_1"}`} {
			var body struct {
				Error struct{ Details json.RawMessage }
			}
			raw := c.body(http.StatusBadRequest, messagesPath, ask(messagesPath, "x", `,"thread":`+thread))
			require.NoError(t, json.Unmarshal(raw, &body))
			assert.JSONEq(t, `{"error_code":"thread_unsupported_request","unsupported":["thread"]}`, string(body.Error.Details))
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

// Equal texts have equal vectors, in both encodings, so that a search over them can be tried.
func TestVectorsDependOnTheirTextAlone(t *testing.T) {
	ask := func(body string) (answer struct {
		Data []struct{ Embedding any }
	}) {
		request := httptest.NewRequest(http.MethodPost, embeddingsPath, strings.NewReader(body))
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
