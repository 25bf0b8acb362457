package usage_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The first target takes requests with tools, the second those of at most 1,000 tokens, and the last one
// the rest. The record has the targets that were left out in front of the one that was asked.
func TestTargetsTakeTheRequestsThatMeetTheirConditions(t *testing.T) {
	var providers []*gatewaytest.Provider
	var lines []string
	for _, name := range []string{"tools", "short", "rest"} {
		p := gatewaytest.NewProvider(t)
		p.Always(twenty)
		providers = append(providers, p)
		lines = append(lines, site.Direct.Provider(name, p, "models off", "format chat"))
	}
	lines = append(lines, "model m {\nto tools {\nif \"{request.tools} > 0\"\n}\nto short {\nif \"{request.max_tokens} <= 1000 && {request.format} == 'chat'\"\n}\nto rest\n}")
	s := site.Start(t, withLedger(t, lines...)...)
	for _, step := range []struct {
		body  string
		want  [3]int
		unmet []string
	}{
		{`{"model":"m","max_tokens":5,"tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"hi"}]}`, [3]int{1, 0, 0}, nil},
		{asking(5), [3]int{1, 1, 0}, []string{"tools"}},
		{asking(5000), [3]int{1, 1, 1}, []string{"tools", "short"}},
	} {
		answer := s.Ask(site.ChatPath, step.body)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, step.want, [3]int{providers[0].Count(), providers[1].Count(), providers[2].Count()})
		var unmet []string
		for _, target := range attempts(t, s, answer.ID()) {
			if target.End == "unmet" {
				unmet = append(unmet, target.Provider)
			}
		}
		assert.Equal(t, step.unmet, unmet)
	}
}

func TestNoTargetMayTakeARequest(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "models off", "format chat"), "model m {\nto p {\nif \"{request.images} > 0\"\n}\n}")...)
	answer := s.Ask(site.ChatPath, asking(5))
	assert.Equal(t, http.StatusBadRequest, answer.Status)
	assert.Contains(t, answer.Body, "has no target that takes this request")
	assert.Zero(t, p.Count())
}
