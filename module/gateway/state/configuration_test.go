package state

import (
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
)

// The rules of a limit were a sentence, "5000 USD per month", which the console could only show
// as a comment: pasted into a Caddyfile, the limit had no rule.
func TestRulesOfLimitsAreReadBackAsTheyAre(t *testing.T) {
	budget, err := aigateway.ParseBudget("2.5/30d", "EUR", "soft")
	require.NoError(t, err)
	rules := aigateway.LimitRules{
		Requests: aigateway.Rate{Most: 60, Per: caddy.Duration(time.Minute)}, Tokens: aigateway.Rate{Most: 9, Per: caddy.Duration(36 * time.Hour)},
		Concurrent: 8, Budget: budget, AllowUnpriced: true,
	}
	shown := NewConfiguration(&debug.BuildInfo{})
	shown.Add(Blocks{Limits: []*limits.Limit{{Limit: aigateway.Limit{Name: "all", LimitRules: rules}}}})
	require.Len(t, shown.Limits[0].Rules, 5)
	requests, err := aigateway.ParseRate(strings.TrimPrefix(shown.Limits[0].Rules[0], "requests "))
	require.NoError(t, err)
	assert.Equal(t, rules.Requests, requests)
	tokens, err := aigateway.ParseRate(strings.TrimPrefix(shown.Limits[0].Rules[1], "tokens "))
	require.NoError(t, err)
	assert.Equal(t, rules.Tokens, tokens)
	assert.Equal(t, "concurrent 8", shown.Limits[0].Rules[2])
	read, err := aigateway.ParseBudget(strings.Fields(strings.TrimPrefix(shown.Limits[0].Rules[3], "budget "))...)
	require.NoError(t, err)
	assert.Equal(t, rules.Budget, read)
	assert.Equal(t, "unpriced allow", shown.Limits[0].Rules[4])
}
