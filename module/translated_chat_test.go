package module_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
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

// A provider takes back only the thinking that it signed, beside the calls that
// it led to, so a loop of tools shows that nothing was changed on either way.
func TestAChatClientsToolLoopKeepsTheThinkingOfAStrictMessagesProvider(t *testing.T) {
	const (
		pixel = `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="}}`
		tools = `,"reasoning_effort":"medium","tools":[{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{}}}}],"max_completion_tokens":8000}`
	)
	eachWay(t, func(t *testing.T, w way) {
		provider := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("conversing", provider, "format messages", "thinking_style budget", "models 1"), "model m {\nto conversing\n}")
		asks := `{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"[[think]] call get_time"},` + pixel + `]}`
		first := s.ask(chatPath, `{"model":"m","messages":[`+asks+`]`+tools)
		require.Equal(t, http.StatusOK, first.status, first.body)
		message := chatMessage(t, first.body)
		assert.Contains(t, string(message), `"thinking_blocks":[{"type":"thinking","thinking":"`)
		_, id, _ := strings.Cut(string(message), `"tool_calls":[{"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		require.NotEmpty(t, id)

		second := s.ask(chatPath, `{"model":"m","messages":[`+asks+`,`+string(message)+`,{"role":"tool","tool_call_id":"`+id+`","content":"noon"}],"stream":true,"stream_options":{"include_usage":true}`+tools)
		require.Equal(t, http.StatusOK, second.status, second.body)
		added, err := translatetest.Chat([]byte(second.body), true)
		require.NoError(t, err, second.body)
		raw, err := json.Marshal(added)
		require.NoError(t, err)
		assert.Contains(t, string(chatMessage(t, string(raw))), `The tools answered: \"noon\"`)

		changed := strings.Replace(string(message), `"thinking":"`, `"thinking":"not `, 1)
		refused := s.ask(chatPath, `{"model":"m","messages":[`+asks+`,`+changed+`,{"role":"tool","tool_call_id":"`+id+`","content":"noon"}]`+tools)
		assert.Equal(t, http.StatusBadRequest, refused.status)
		assert.Contains(t, refused.body, "invalid signature")
		assert.Contains(t, refused.body, `"type":"invalid_request_error"`)
	})
}

// What a client asks for and a messages provider has no words for never reaches
// one, and is told in the words of the client's format.
func TestWhatMessagesProvidersHaveNoWordsForIsRefusedToChatClients(t *testing.T) {
	provider := gatewaytest.NewProvider(t)
	s := startSite(t, direct.provider("conversing", provider, "format messages", "models 1"), "model m {\nto conversing\n}")
	for path, member := range map[string]string{
		"logprobs": `"logprobs":true`, "audio": `"audio":{"voice":"v"}`, "tools[0].type": `"tools":[{"type":"custom","custom":{"name":"f"}}]`,
		"response_format.type": `"response_format":{"type":"grammar"}`,
	} {
		answer := s.ask(chatPath, `{"model":"m","messages":[{"role":"user","content":"hi"}],`+member+`}`)
		assert.Equal(t, http.StatusBadRequest, answer.status, path)
		assert.Contains(t, answer.body, `"param":"`+path+`","code":"unsupported_for_upstream"`)
	}
	assert.Zero(t, provider.Count())
}

// A messages provider gives one answer a call, so several are several calls.
func TestG034SeveralAnswersOfAMessagesProviderAreChoicesOfOne(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		provider := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("conversing", provider, "format messages", "models 1"), "model m {\nto conversing\n}")
		const body = `{"model":"m","messages":[{"role":"user","content":"hello"}],"n":2`
		plain := s.ask(chatPath, body+`}`)
		require.Equal(t, http.StatusOK, plain.status, plain.body)
		whole, err := translatetest.Decode([]byte(plain.body))
		require.NoError(t, err)
		stream := s.ask(chatPath, body+`,"stream":true,"stream_options":{"include_usage":true}}`)
		added, err := translatetest.Chat([]byte(stream.body), true)
		require.NoError(t, err, stream.body)
		assert.Len(t, whole["choices"], 2)
		assert.Equal(t, whole["choices"], added["choices"])
		assert.Equal(t, whole["usage"], added["usage"])
		require.Equal(t, 4, provider.Count())
		for _, request := range provider.Requests() {
			assert.NotContains(t, string(request.Body), `"n":`)
		}
	})
}
