package usage_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A request for a tier or a speed without a known factor passed a budget at the price of
// others, and its cost was unknown.
func TestTermsWithoutAPriceAreRefusedByABudget(t *testing.T) {
	for name, words := range map[string][]string{"refused": {"budget 50/month"}, "allowed": {"budget 50/month", "unpriced allow"}, "soft": {"budget 50/month soft"}} {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			p.Always(gatewaytest.Answer())
			s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "format messages chat", "price m input 1 output 1 priority 2"),
				"limit all {\nper gateway\n"+strings.Join(words, "\n")+"\n}")...)
			for _, c := range []struct {
				path, member string
				known        bool
			}{
				{site.ChatPath, `"service_tier":"priority"`, true},
				{site.ChatPath, `"service_tier":"auto"`, true},
				{site.ChatPath, `"service_tier":"flex"`, false},
				{site.MessagesPath, `"speed":"fast"`, false},
				{site.MessagesPath, `"speed":"standard","service_tier":"auto"`, true},
			} {
				answer := s.Ask(c.path, strings.Replace(site.BodyFor(c.path, "m", "hello", false), "{", "{"+c.member+",", 1))
				if c.known || name != "refused" {
					assert.Equal(t, http.StatusOK, answer.Status, c.member)
					continue
				}
				assert.Equal(t, http.StatusForbidden, answer.Status, c.member)
				assert.Contains(t, answer.Failure(t).Message, "its price for 'm' is unknown", c.member)
			}
		})
	}
}

// A tier of an unknown name in an answer was charged the price of the standard tier, and a
// count below 0 was recorded as reported.
func TestOddAnswersAreMarked(t *testing.T) {
	const chat = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"service_tier":"%s","usage":{"prompt_tokens":%d,"completion_tokens":20}}`
	for name, c := range map[string]struct {
		tier   string
		prompt int
		want   sum
	}{
		"the standard tier": {"default", 10, sum{Model: "m", Requests: 1, Calls: 1, Input: 10, Output: 20, Cost: 330, Currency: "USD"}},
		"a tier":            {"scale", 10, sum{Model: "m", Requests: 1, Calls: 1, Input: 10, Output: 20, Currency: "USD", Unpriced: 1, Floor: true}},
		"another spelling":  {"Priority", 10, sum{Model: "m", Requests: 1, Calls: 1, Input: 10, Output: 20, Currency: "USD", Unpriced: 1, Floor: true}},
		"a count below 0":   {"default", -1000, sum{Model: "m", Requests: 1, Calls: 1, Input: 16, Output: 20, Cost: 348, Currency: "USD", Estimated: 1}}, // estimated
	} {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			p.Always(gatewaytest.Body(200, "application/json", fmt.Appendf(nil, chat, c.tier, c.prompt)))
			s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "format chat", "price m input 3 output 15 priority 2"))...)
			assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
			got := settled(t, s, "model", 1)[0]
			assert.Equal(t, c.want, got)
		})
	}
}
