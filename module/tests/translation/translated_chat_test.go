package translation_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// chatMessage is the message of the only choice of a chat answer.
func chatMessage(t *testing.T, body string) json.RawMessage {
	t.Helper()
	var answer struct {
		Choices []struct{ Message json.RawMessage }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer), body)
	require.Len(t, answer.Choices, 1)
	return answer.Choices[0].Message
}

// A provider accepts only thinking that it signed, together with the tool calls after it. A
// loop of tool calls therefore shows that neither direction changes the thinking.
func TestAChatClientsToolLoopKeepsTheThinkingOfAStrictMessagesProvider(t *testing.T) {
	const (
		pixel = `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="}}`
		tools = `,"reasoning_effort":"medium","tools":[{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{}}}}],"max_completion_tokens":8000}`
	)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		provider := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("conversing", provider, "format messages", "thinking_style budget", "models 1"), "model m {\nto conversing\n}")
		asks := `{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"[[think]] call get_time"},` + pixel + `]}`
		first := s.Ask(site.ChatPath, `{"model":"m","messages":[`+asks+`]`+tools)
		require.Equal(t, http.StatusOK, first.Status, first.Body)
		message := chatMessage(t, first.Body)
		assert.Contains(t, string(message), `"thinking_blocks":[{"type":"thinking","thinking":"`)
		_, id, _ := strings.Cut(string(message), `"tool_calls":[{"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		require.NotEmpty(t, id)

		second := s.Ask(site.ChatPath, `{"model":"m","messages":[`+asks+`,`+string(message)+`,{"role":"tool","tool_call_id":"`+id+`","content":"noon"}],"stream":true,"stream_options":{"include_usage":true}`+tools)
		require.Equal(t, http.StatusOK, second.Status, second.Body)
		added, err := client.Chat.Emitted([]byte(second.Body))
		require.NoError(t, err, second.Body)
		raw, err := json.Marshal(added)
		require.NoError(t, err)
		assert.Contains(t, string(chatMessage(t, string(raw))), `The tools answered: \"noon\"`)

		changed := strings.Replace(string(message), `"thinking":"`, `"thinking":"not `, 1)
		refused := s.Ask(site.ChatPath, `{"model":"m","messages":[`+asks+`,`+changed+`,{"role":"tool","tool_call_id":"`+id+`","content":"noon"}]`+tools)
		assert.Equal(t, http.StatusBadRequest, refused.Status)
		assert.Contains(t, refused.Body, "the signature of the reasoning could not be verified")
		assert.Contains(t, refused.Body, `"type":"invalid_request_error"`)
	})
}

// A field without a counterpart in messages never reaches the provider. The refusal
// names it as the client's format does.
func TestWhatMessagesProvidersHaveNoWordsForIsRefusedToChatClients(t *testing.T) {
	provider := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("conversing", provider, "format messages", "models 1"), "model m {\nto conversing\n}")
	for path, member := range map[string]string{
		"logprobs": `"logprobs":true`, "audio": `"audio":{"voice":"v"}`, "tools[0].type": `"tools":[{"type":"custom","custom":{"name":"f"}}]`,
		"response_format.type": `"response_format":{"type":"grammar"}`,
	} {
		answer := s.Ask(site.ChatPath, `{"model":"m","messages":[{"role":"user","content":"hi"}],`+member+`}`)
		assert.Equal(t, http.StatusBadRequest, answer.Status, path)
		assert.Contains(t, answer.Body, `"param":"`+path+`","code":"unsupported_for_upstream"`)
	}
	assert.Zero(t, provider.Count())
}

// A messages provider returns one answer per call, so several answers need several calls.
func TestG034SeveralAnswersOfAMessagesProviderAreChoicesOfOne(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		provider := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("conversing", provider, "format messages", "models 1"), "model m {\nto conversing\n}")
		const body = `{"model":"m","messages":[{"role":"user","content":"hello"}],"n":2`
		plain := s.Ask(site.ChatPath, body+`}`)
		require.Equal(t, http.StatusOK, plain.Status, plain.Body)
		whole, err := client.Decode([]byte(plain.Body))
		require.NoError(t, err)
		stream := s.Ask(site.ChatPath, body+`,"stream":true,"stream_options":{"include_usage":true}}`)
		added, err := client.Chat.Emitted([]byte(stream.Body))
		require.NoError(t, err, stream.Body)
		assert.Len(t, whole["choices"], 2)
		assert.Equal(t, whole["choices"], added["choices"])
		assert.Equal(t, whole["usage"], added["usage"])
		require.Equal(t, 4, provider.Count())
		for _, request := range provider.Requests() {
			assert.NotContains(t, string(request.Body), `"n":`)
		}
	})
}
