package demo_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// refusal sends a request with a method, and returns the status of the refusal.
func (c *caller) refusal(method, path, body string) (status int) {
	c.t.Helper()
	response, err := c.transport.RoundTrip(c.request(c.t.Context(), method, path, body))
	require.NoError(c.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	_, err = client.ParseFailure(raw)
	require.NoError(c.t, err, "%s", raw)
	return response.StatusCode
}

// The answers to requests that refer to earlier ones would be about nothing.
func TestNoResponseIsKept(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		r := c.response(ask(responsesPath, "hi", `,"store":true`))
		assert.False(t, *r.Store)
		for _, more := range []string{`"previous_response_id":"` + r.ID + `"`, `"conversation":"c"`, `"background":true`} {
			assert.Equal(t, http.StatusBadRequest, c.refusal(http.MethodPost, responsesPath, ask(responsesPath, "hi", ","+more)), more)
		}
		assert.Equal(t, http.StatusNotFound, c.refusal(http.MethodGet, responsesPath+"/"+r.ID, ""))
	})
}

func TestTheMethodOfAPathIsNamed(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		response, err := c.transport.RoundTrip(c.request(t.Context(), http.MethodPut, responsesPath, ""))
		require.NoError(t, err)
		defer response.Body.Close()
		assert.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)
		assert.Equal(t, "POST", response.Header.Get("Allow"))
	})
}

// An agent sends the output of a turn back unchanged, followed by the outputs of its tools.
func TestATurnOfAnAgentContinues(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		const more = `,"reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,
			"tools":[{"type":"custom","name":"apply_patch"},{"type":"function","name":"clock"}]`
		var turn struct{ Output []json.RawMessage }
		body := ask(responsesPath, "call apply_patch and clock", more)
		require.NoError(t, json.Unmarshal(c.body(http.StatusOK, responsesPath, body), &turn))
		first := c.response(body)
		var input strings.Builder
		input.WriteString(`{"role":"user","content":"call apply_patch and clock"}`)
		for _, item := range turn.Output {
			input.WriteString("," + string(item))
		}
		input.WriteString(`,{"type":"custom_tool_call_output","call_id":"` + first.Items("custom_tool_call")[0].CallID + `","output":"patched"}`)
		input.WriteString(`,{"type":"function_call_output","call_id":"` + first.Items("function_call")[0].CallID + `","output":"noon"}`)
		repeated := c.response(`{"model":"m1","stream":true,"input":[` + input.String() + `]` + more + `}`)
		assert.Equal(t, `The tools answered: "patched", "noon".`, repeated.Text())
	}, demo.WithStrict(true))
}
