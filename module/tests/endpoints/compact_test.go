package endpoints_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const compactPath = "/v1/responses/compact"

// The endpoint was answered 404, so that clients could not shorten a conversation.
func TestR041AConversationIsShortenedAndGoesOn(t *testing.T) {
	const items = `[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}, {"type":"compaction","id":"cmp_1","encrypted_content":"opaque=="}]`
	const whole = `{"id":"resp_first","object":"response","status":"completed","model":"gpt","output":[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}`
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		answers := func(body string) { p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(body))) }
		s := site.Start(t, w.Provider("up", p, "format responses", "responses_state sealed", "models gpt"), "model short {\nto up/gpt\n}")

		answers(`{"id":"resp_short","object":"response.compaction","created_at":1,"output":` + items + `,"usage":{"input_tokens":9,"output_tokens":3,"total_tokens":12}}`)
		shortened := s.Ask(compactPath, `{"model":"short", "input":[{"role":"user","content":"hi"}]}`)
		require.Equal(t, http.StatusOK, shortened.Status, shortened.Body)
		assert.Equal(t, compactPath, lastOf(p).Path)
		assert.Equal(t, `{"model":"gpt", "input":[{"role":"user","content":"hi"}]}`, string(lastOf(p).Body))
		assert.Contains(t, shortened.Body, items)
		assert.NotContains(t, shortened.Body, "resp_short", "ids are sealed")
		record := recordOf(t, s, shortened.ID())
		assert.Equal(t, "compaction", record.Operation)
		assert.Equal(t, []int64{9, 3}, []int64{record.Calls[0].Input, record.Calls[0].Output})

		answers(whole)
		next := `{"model":"gpt","input":` + items + `}`
		answer := s.Ask(site.ResponsesPath, next)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, next, string(lastOf(p).Body), "the provider gets its own item")

		answers(`{"id":"resp_other","object":"response.compaction","output":` + items + `}`)
		require.Equal(t, http.StatusOK, s.Ask(compactPath, `{"model":"gpt","previous_response_id":"`+idOf(t, answer.Body)+`"}`).Status)
		assert.Equal(t, `{"model":"gpt","previous_response_id":"resp_first"}`, string(lastOf(p).Body))
	})
}

// A request that another endpoint or another format would answer otherwise is refused.
func TestOnlyAProviderOfTheFormatShortensAConversation(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p, "format chat", "models talk"), site.Direct.Provider("own", p, "format responses", "models gpt"), site.DemoProvider)
	for body, want := range map[string]string{
		`{"model":"talk","input":"hi"}`:                  "model: 'talk' is not available at /v1/responses/compact",
		`{"model":"demo","input":"hi"}`:                  "model: 'demo' is not available at /v1/responses/compact",
		`{"model":"gpt","input":"hi","stream":true}`:     "stream: must be false here",
		`{"model":"gpt","input":"hi","background":true}`: "background: must be false here",
		`{"model":"gpt"}`:                                "input: required",
	} {
		answer := s.Ask(compactPath, body)
		assert.Contains(t, []int{http.StatusNotFound, http.StatusBadRequest}, answer.Status, body)
		assert.Contains(t, answer.Body, want)
	}
	assert.Zero(t, p.Count())
}
