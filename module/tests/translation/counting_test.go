package translation_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Tokens were estimated for every provider of another format, even for those that count
// them exactly. What only bounds or labels the answer is refused by their endpoints.
func TestProvidersOfOtherFormatsCountTokens(t *testing.T) {
	const tool = `"name":"f","description":"d"`
	for _, c := range []struct{ path, body, format, asked, sent, want string }{
		{
			site.ResponsesPath + "/input_tokens",
			`{"model":"m","instructions":"s","input":"hi","max_output_tokens":99,"temperature":0.5,"user":"u","stream":true,"tools":[{"type":"function",` + tool + `,"parameters":{"type":"object"}}]}`,
			"messages", site.CountPath,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"system":[{"type":"text","text":"s"}],"tools":[{` + tool + `,"input_schema":{"type":"object","properties":{}}}]}`,
			`{"object":"response.input_tokens","input_tokens":42}`,
		},
		{
			site.CountPath,
			`{"model":"m","system":"s","messages":[{"role":"user","content":"hi"}],"max_tokens":99,"temperature":0.5,"stop_sequences":["x"],"metadata":{"user_id":"u"},"stream":true,"tools":[{` + tool + `,"input_schema":{"type":"object"}}]}`,
			"responses", site.ResponsesPath + "/input_tokens",
			`{"model":"m","instructions":"s","input":[{"type":"message","role":"user","content":"hi"}],"tools":[{"type":"function",` + tool + `,"parameters":{"type":"object","properties":{}},"strict":false}]}`,
			`{"input_tokens":42}`,
		},
	} {
		site.EitherWay(t, func(t *testing.T, w site.Way) {
			p := gatewaytest.NewProvider(t)
			s := site.Start(t, w.Provider("p", p, "format "+c.format))
			p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"object":"response.input_tokens","input_tokens":42}`)))
			answer := s.Ask(c.path, c.body)
			requireAnswered(t, answer)
			assert.JSONEq(t, c.want, answer.Body)
			assert.Empty(t, answer.Header.Get("X-Gateway-Estimate"))
			assert.Equal(t, c.asked, p.Requests()[0].Path)
			assert.JSONEq(t, c.sent, string(p.Requests()[0].Body))
			assert.Empty(t, answer.Header.Get("X-Gateway-Dropped"), "what is not counted is no loss")

			p.Script(gatewaytest.Status(http.StatusNotFound))
			for range 2 {
				estimate := s.Ask(c.path, c.body)
				requireAnswered(t, estimate)
				assert.Equal(t, "true", estimate.Header.Get("X-Gateway-Estimate"))
			}
			assert.Equal(t, 2, p.Count(), "a provider without the endpoint is not asked again")
		})
	}
}
