package usage_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// further is a field that names further models, for each path.
var further = map[string]string{
	site.MessagesPath:    `"fallbacks":[{"model":"dear"}]`,
	site.ChatPath:        `"models":["m","dear"]`,
	site.CompletionsPath: `"models":["m","dear"]`,
	site.ResponsesPath:   `"models":["m","dear"]`,
}

// Providers that fall back got the lists of models of requests byte for byte, whatever the
// key might use, and the cost was that of the model which the request named first.
func TestFurtherModelsNeedAKeyWithoutRestrictionsAndBudget(t *testing.T) {
	site.SetKeys(t)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, dollars),
		"key alice {env.KEY_ALICE} {\nmodels m\n}",
		"limit pocket {\nbudget 1000000/month\n}",
		"key bob {env.KEY_BOB} {\nlimit pocket\n}")...)
	for path, members := range further {
		plain := site.BodyFor(path, "m", "hello", false)
		body := strings.Replace(plain, "{", "{"+members+",", 1)
		field, _, _ := strings.Cut(members[1:], `"`)
		asked := p.Count()
		for _, key := range []string{site.AliceKey, site.BobKey} {
			answer := s.Ask(path, body, "Authorization", "Bearer "+key)
			assert.Equal(t, http.StatusForbidden, answer.Status, path)
			assert.Equal(t, field+": must not be sent with this key, because it lets the provider use other models", answer.Failure(t).Message, path)
			require.Equal(t, asked, p.Count(), "no provider gets what is refused")
			assert.Equal(t, http.StatusOK, s.Ask(path, plain, "Authorization", "Bearer "+key).Status, path)
			asked++
		}
		s.Ask(path, body)
		require.Equal(t, asked+1, p.Count(), path)
		assert.Equal(t, body, string(p.Requests()[asked].Body), "requests with other keys pass byte for byte")
	}
}

// A provider acknowledges a request in the background before it generates the answer, and
// never reports its usage: the answer cost a budget nothing.
func TestAnswersInTheBackgroundNeedAKeyWithoutBudget(t *testing.T) {
	site.SetKeys(t)
	p := gatewaytest.NewProvider(t)
	p.Always(gatewaytest.Body(200, "application/json", []byte(`{"id":"r","object":"response","status":"queued","model":"m","background":true,"error":null,"output":[],"usage":null}`)))
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, dollars, "format responses", "responses_state passthrough"),
		"limit pocket {\nbudget 1000000/month\n}",
		"key alice {env.KEY_ALICE} {\nlimit pocket\n}",
		"key bob {env.KEY_BOB}")...)
	body := strings.Replace(site.BodyFor(site.ResponsesPath, "m", "hello", false), "{", `{"background":true,`, 1)
	refused := s.Ask(site.ResponsesPath, body, "Authorization", "Bearer "+site.AliceKey)
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Equal(t, "background: must not be sent with this key, because the cost of the answer remains unknown", refused.Failure(t).Message)
	assert.Zero(t, p.Count())
	assert.Equal(t, http.StatusOK, s.Ask(site.ResponsesPath, body, "Authorization", "Bearer "+site.BobKey).Status)
	body = strings.Replace(body, `"background":true`, `"background":false`, 1)
	assert.NotEqual(t, http.StatusForbidden, s.Ask(site.ResponsesPath, body, "Authorization", "Bearer "+site.AliceKey).Status)
}
