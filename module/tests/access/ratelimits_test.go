package access_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Rate limits of the provider describe the operator's account (wire format E.5).
func TestRateLimitHeadersAreForwardedWithTheTrait(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", "sk-the-key-of-the-upstream")
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, chat := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t,
			w.Provider("shown", p, "models shown", "api_key {env.UPSTREAM_KEY}", "forward_ratelimit_headers on"),
			w.Provider("hidden", p, "models hidden", "api_key {env.UPSTREAM_KEY}"),
			w.Provider("off", p, "models off", "api_key {env.UPSTREAM_KEY}", "forward_ratelimit_headers off"),
			w.Provider("chat", chat, "models chat", "format chat", "forward_ratelimit_headers on"),
		)
		for _, path := range site.ClientPaths {
			for _, streaming := range []bool{false, true} {
				for name, answer := range map[string]gatewaytest.Step{
					"an answer": gatewaytest.Answer(), "a 429": gatewaytest.Status(429), "a 401": gatewaytest.Status(401),
					"a 200 that is none": gatewaytest.Body(200, "text/html", []byte("<html>")),
				} {
					t.Run(fmt.Sprintf("%s %s stream=%t", name, path, streaming), func(t *testing.T) {
						p.Always(limited(answer))
						shown := s.Ask(path, site.BodyFor(path, "shown", "hello", streaming))
						assert.Equal(t, vendorLimits, shown.RateLimits())
						assert.NotContains(t, fmt.Sprint(shown.Header), "vendor")
						assert.Empty(t, s.Ask(path, site.BodyFor(path, "hidden", "hello", streaming)).RateLimits())
						assert.Empty(t, s.Ask(path, site.BodyFor(path, "off", "hello", streaming)).RateLimits())
					})
				}
			}
		}
		chat.Always(limited(gatewaytest.Answer()))
		assert.Empty(t, s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "chat", "hello", true)).RateLimits(), "clients of another format read another family")
		assert.Equal(t, len(vendorLimits), len(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "chat", "hello", true)).RateLimits())-1, "without a credential nothing repeats it")
	})
}

func TestTheNumberOfForwardedRateLimitHeadersIsBounded(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "forward_ratelimit_headers on"))
		for i := range 100 {
			p.Header.Set(fmt.Sprintf("X-Ratelimit-Limit-%03d", i), "1")
		}
		assert.Len(t, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).RateLimits(), 32)
	})
}

// The value of retry-after is forwarded unchanged: seconds or a date.
func TestRetryHeadersAreKept(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, site.Steady, w.Provider("byte", p, "models byte"), w.Provider("chat", p, "models chat", "format chat"))
		for _, value := range []string{"7", "0", "Wed, 21 Oct 2026 07:28:00 GMT", "0.5"} {
			for _, path := range site.ClientPaths {
				for _, model := range []string{"byte", "chat"} {
					for _, streaming := range []bool{false, true} {
						for _, status := range []int{429, 503, 529} {
							p.Script(gatewaytest.Status(status, "Retry-After", value, "Retry-After-Ms", "70", "X-Should-Retry", "true"))
							answer := s.Ask(path, site.BodyFor(path, model, "hello", streaming))
							require.GreaterOrEqual(t, answer.Status, 400)
							assert.Equal(t, http.Header{"Retry-After": {value}, "Retry-After-Ms": {"70"}, "X-Should-Retry": {"true"}}, http.Header{
								"Retry-After": answer.Header["Retry-After"], "Retry-After-Ms": answer.Header["Retry-After-Ms"], "X-Should-Retry": answer.Header["X-Should-Retry"],
							})
						}
					}
				}
			}
		}
	})
}
