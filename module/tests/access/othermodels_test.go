package access_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The tools of completions clients were not checked: a tool of the provider used models that
// the key may not use.
func TestToolsOfCompletionsClientsCannotNameModelsThatAKeyMayNotUse(t *testing.T) {
	site.SetKeys(t)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, "format completions"), "key alice {env.KEY_ALICE} {\nmodels pub-*\n}")
	plain := site.BodyFor(site.CompletionsPath, "pub-m", "hello", false)
	ask := func(body string, headers ...string) site.Reply {
		return s.Ask(site.CompletionsPath, body, append(headers, "Authorization", "Bearer "+site.AliceKey)...)
	}
	for _, tools := range []string{
		`"tools":[{"type":"openrouter:advisor","parameters":{"model":"secret-m"}}]`,
		`"t\u006fols":[{"typ\u0065":"openrouter\u003aadvisor","parameters":{"model":"secret-m"}}]`,
	} {
		body := strings.Replace(plain, "{", "{"+tools+",", 1)
		for coding, sent := range map[string]string{"identity": body, "gzip": site.Encoded(t, "gzip", body)} {
			answer := ask(sent, "Content-Encoding", coding)
			assert.Equal(t, http.StatusForbidden, answer.Status, "%s %s", coding, tools)
			assert.Equal(t, "tools[0]: must not be sent with this key, because it lets the provider use other models", answer.Failure(t).Message)
		}
	}
	require.Zero(t, p.Count(), "no provider gets what is refused")
	ask(strings.Replace(plain, "{", `{"tools":[{"type":"function","function":{"name":"f","parameters":{"model":"secret-m"}}}],`, 1))
	assert.Equal(t, 1, p.Count(), "tools of the client name no models, and reach the provider")
}
