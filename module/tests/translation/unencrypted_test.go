package translation_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// noEncryption is how OpenAI refuses to encrypt the reasoning of a model without any.
const noEncryption = `{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}`

// demand is how a request asks for encrypted reasoning.
const demand = `"include":["reasoning.encrypted_content"]`

// demandsEncryption reports whether each of the requests to a provider asks for encrypted
// reasoning.
func demandsEncryption(t *testing.T, p *gatewaytest.Provider) (demands []bool) {
	for _, r := range p.Requests() {
		assert.Equal(t, site.ResponsesPath, r.Path)
		demands = append(demands, strings.Contains(string(r.Body), demand))
	}
	return demands
}

// withoutEncryption refuses every request that asks for encrypted reasoning.
func withoutEncryption(c *gatewaytest.Call) {
	body, err := io.ReadAll(c.Request.Body)
	switch {
	case err != nil:
		panic(http.ErrAbortHandler)
	case strings.Contains(string(body), demand):
		refuse(http.StatusBadRequest, noEncryption)(c)
	default:
		gatewaytest.Body(http.StatusOK, "application/json", []byte(encryptedAnswer))(c)
	}
}

// plainAnswer is an answer of MiniMax, whose reasoning is in plain text.
const plainAnswer = `{"id":"resp_1","object":"response","status":"completed","model":"x","output":[` +
	`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"let me see"}],"content":[{"type":"reasoning_text","text":"let me see"}]},` +
	`{"id":"fc_1","type":"function_call","call_id":"call_1","name":"look","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`

// MiniMax asks for the reasoning of each turn between calls of tools. It did not get it: Claude Code had
// the reasoning, and gave it back, but the gateway left it out.
func TestReasoningOfMiniMaxComesBackBetweenCalls(t *testing.T) {
	t.Setenv("PROVIDER_KEY", "sk-provider")
	p := gatewaytest.NewProvider(t)
	p.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(plainAnswer)))
	s := site.Start(t, "provider p minimax {\nbase_url "+p.URL+"\napi_key {env.PROVIDER_KEY}\nmodels m\n}")
	const tool = `"tools":[{"name":"look","input_schema":{"type":"object"}}],`
	first := s.Ask(site.MessagesPath, `{"model":"m","max_tokens":2000,`+tool+`"messages":[{"role":"user","content":"a"}]}`)
	requireAnswered(t, first)
	var answer struct{ Content json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(first.Body), &answer))
	assert.Equal(t, 1, strings.Count(first.Body, "let me see"), first.Body)
	second := s.Ask(site.MessagesPath, `{"model":"m","max_tokens":2000,`+tool+`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":`+string(answer.Content)+
		`},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"b"}]}]}`)
	requireAnswered(t, second)
	assert.Contains(t, string(p.Requests()[1].Body), `{"type":"reasoning","summary":[{"type":"summary_text","text":"let me see"}]},{"type":"function_call"`)
	assert.Empty(t, second.Header.Get("X-Gateway-Dropped"))
}

// No preset asked for the reasoning of the models: Claude Code on these services lost it
// with every call of a tool.
func TestPresetsOfServicesThatEncryptReasoningAskForIt(t *testing.T) {
	t.Setenv("PROVIDER_KEY", "sk-provider")
	for _, preset := range []string{"openai", "xai"} {
		t.Run(preset, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			p.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(encryptedAnswer)))
			s := site.Start(t, "provider p "+preset+" {\nbase_url "+p.URL+"\napi_key {env.PROVIDER_KEY}\nmodels m\n}")
			c := continued{Site: s, provider: p, path: site.MessagesPath}
			first := s.Ask(site.MessagesPath, c.request())
			requireAnswered(t, first)
			second := s.Ask(site.MessagesPath, c.request(sealedTurn(t, site.MessagesPath, first.Body), `{"role":"user","content":"go on"}`))
			requireAnswered(t, second)
			assert.Equal(t, []bool{true, true}, demandsEncryption(t, p))
			assert.Contains(t, string(p.Requests()[1].Body), `"encrypted_content":"gAAAAAB"`, "the reasoning comes back")
			assert.Empty(t, second.Header.Get("X-Gateway-Dropped"))
		})
	}
}

// Every request for a model without reasoning would be refused.
func TestAModelWithoutEncryptedReasoningIsAskedAgainOnce(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		p.Always(withoutEncryption)
		lines := w.Provider("p", p, "format responses", "responses_reasoning encrypted")
		s := site.Start(t, lines)
		answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", false))
		requireAnswered(t, answer)
		assert.Equal(t, 1.0, s.Record(answer.ID())["attempts"], "it is one target")
		requireAnswered(t, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)))
		require.NoError(t, s.Reload(site.Block("", lines, "commit_after 1s")))
		requireAnswered(t, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)))
		assert.Equal(t, []bool{true, false, false, false}, demandsEncryption(t, p), "the model is remembered")
		requireAnswered(t, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "other", "hello", false)))
		assert.Equal(t, []bool{true, false}, demandsEncryption(t, p)[4:], "each model for itself")
	})
}

// A client whose words a refusal quotes would otherwise take the reasoning from the
// conversations of all clients of the model.
func TestNoClientTakesTheReasoningFromOthers(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(encryptedAnswer)))
	s := site.Start(t, site.Direct.Provider("p", p, "format responses", "responses_reasoning encrypted"))
	for _, text := range []string{"Encrypted content is not supported", "do not include ENCRYPTED_content"} {
		p.Script(refuse(http.StatusBadRequest, noEncryption))
		requireAnswered(t, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", text, false)))
	}
	p.Script(refuse(http.StatusBadRequest, noEncryption), refuse(http.StatusBadRequest, noEncryption))
	assert.Equal(t, http.StatusBadRequest, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status, "the call is repeated once")
	requireAnswered(t, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)))
	assert.Equal(t, []bool{true, false, true, false, true, false, true}, demandsEncryption(t, p))
}
