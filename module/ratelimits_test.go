package module_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// vendorLimits are headers about the operator's account at a provider.
var vendorLimits = map[string]string{
	"Anthropic-Ratelimit-Requests-Limit": "50", "Anthropic-Ratelimit-Tokens-Reset": "2026-01-01T00:00:00Z",
	"Anthropic-Ratelimit-Unified-5h-Status": "allowed", "X-Ratelimit-Remaining-Tokens": "149984", "X-Ratelimit-Reset-Requests": "6m0s",
}

// limited sets them on an answer, beside what must never be handed on.
func limited(answer gatewaytest.Step) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		for name, value := range vendorLimits {
			c.Header().Set(name, value)
		}
		for _, name := range []string{"Anthropic-Organization-Id", "Openai-Organization", "X-Ratelimited-By", "Set-Cookie", "X-Custom"} {
			c.Header().Set(name, "vendor")
		}
		c.Header().Set("X-Ratelimit-Key", "of "+c.Request.Header.Get("Authorization"))
		c.Header().Set("X-Ratelimit-Long", strings.Repeat("9", 257))
		c.Header()["X-Ratelimit-Twice"] = []string{"1", "2"}
		answer(c)
	}
}

// shownLimits are the rate limit headers of an answer to a client.
func shownLimits(answer reply) map[string]string {
	shown := make(map[string]string)
	for name, values := range answer.header {
		if strings.Contains(name, "Ratelimit") {
			shown[name] = strings.Join(values, "|")
		}
	}
	return shown
}

// Rate limits of the provider describe the operator's account (wire format E.5).
func TestRateLimitHeadersAreForwardedWhereTheTraitSaysSo(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", "sk-the-key-of-the-upstream")
	eachWay(t, func(t *testing.T, w way) {
		p, chat := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := startSite(t,
			w.provider("shown", p, "models shown", "api_key {env.UPSTREAM_KEY}", "forward_ratelimit_headers on"),
			w.provider("hidden", p, "models hidden", "api_key {env.UPSTREAM_KEY}"),
			w.provider("off", p, "models off", "api_key {env.UPSTREAM_KEY}", "forward_ratelimit_headers off"),
			w.provider("chat", chat, "models chat", "format chat", "forward_ratelimit_headers on"),
		)
		for _, path := range callPaths {
			for _, streaming := range []bool{false, true} {
				for name, answer := range map[string]gatewaytest.Step{
					"an answer": gatewaytest.Answer(), "a 429": gatewaytest.Status(429), "a 401": gatewaytest.Status(401),
					"a 200 that is none": gatewaytest.Body(200, "text/html", []byte("<html>")),
				} {
					t.Run(fmt.Sprintf("%s %s stream=%t", name, path, streaming), func(t *testing.T) {
						p.Always(limited(answer))
						shown := s.ask(path, bodyFor(path, "shown", "hello", streaming))
						assert.Equal(t, vendorLimits, shownLimits(shown))
						assert.NotContains(t, fmt.Sprint(shown.header), "vendor")
						assert.Empty(t, shownLimits(s.ask(path, bodyFor(path, "hidden", "hello", streaming))))
						assert.Empty(t, shownLimits(s.ask(path, bodyFor(path, "off", "hello", streaming))))
					})
				}
			}
		}
		chat.Always(limited(gatewaytest.Answer()))
		assert.Empty(t, shownLimits(s.ask(messagesPath, bodyFor(messagesPath, "chat", "hello", true))), "clients of another format read another family")
		assert.Equal(t, len(vendorLimits), len(shownLimits(s.ask(chatPath, bodyFor(chatPath, "chat", "hello", true))))-1, "without a credential nothing repeats it")
	})
}

func TestTheNumberOfForwardedRateLimitHeadersIsBounded(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "forward_ratelimit_headers on"))
		for i := range 100 {
			p.Header.Set(fmt.Sprintf("X-Ratelimit-Limit-%03d", i), "1")
		}
		assert.Len(t, shownLimits(s.ask(chatPath, bodyFor(chatPath, "m", "hello", false))), 32)
	})
}

// What tells a client when to come again is kept as it is: seconds or a date.
func TestRetryHeadersAreKept(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("byte", p, "models byte"), w.provider("chat", p, "models chat", "format chat"))
		for _, value := range []string{"7", "0", "Wed, 21 Oct 2026 07:28:00 GMT", "0.5"} {
			for _, path := range callPaths {
				for _, model := range []string{"byte", "chat"} {
					for _, streaming := range []bool{false, true} {
						for _, status := range []int{429, 503, 529} {
							p.Script(gatewaytest.Status(status, "Retry-After", value, "Retry-After-Ms", "70", "X-Should-Retry", "true"))
							answer := s.ask(path, bodyFor(path, model, "hello", streaming))
							require.GreaterOrEqual(t, answer.status, 400)
							assert.Equal(t, http.Header{"Retry-After": {value}, "Retry-After-Ms": {"70"}, "X-Should-Retry": {"true"}}, http.Header{
								"Retry-After": answer.header["Retry-After"], "Retry-After-Ms": answer.header["Retry-After-Ms"], "X-Should-Retry": answer.header["X-Should-Retry"],
							})
						}
					}
				}
			}
		}
	})
}
