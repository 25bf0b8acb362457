package messages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// The values are those of the protocol of gateways in Claude Code 2.1.332.
func TestTheUseOfABudgetIsShownAsClaudeCodeReadsIt(t *testing.T) {
	renews := time.Date(2026, 8, 8, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		share  float64
		period string
		ended  bool
		want   map[string]string
	}{
		"little": {0.1234, "month", false, map[string]string{"Status": "allowed", "Overage-Status": "allowed", "Overage-Utilization": "0.12"}},
		"most": {0.82, "month", false, map[string]string{
			"Status": "allowed_warning", "Overage-Status": "allowed_warning", "Overage-Utilization": "0.82", "Overage-Surpassed-Threshold": "0.75",
		}},
		"nearly all, while a request is admitted": {1.2, "day", false, map[string]string{
			"Status": "allowed_warning", "Overage-Status": "allowed_warning", "Overage-Utilization": "0.99", "Overage-Surpassed-Threshold": "0.95",
		}},
		"all": {1, "day", true, map[string]string{
			"Status": "rejected", "Overage-Utilization": "1", "Overage-Surpassed-Threshold": "1", "Overage-Period": "daily",
			"Overage-Disabled-Reason": "org_spend_cap_reached",
		}},
		"all of a sliding hour": {1.5, "1h", true, map[string]string{
			"Status": "rejected", "Overage-Utilization": "1.5", "Overage-Surpassed-Threshold": "1", "Overage-Disabled-Reason": "org_spend_cap_reached",
		}},
	} {
		c.want["Reset"], c.want["Overage-Reset"] = "1786147200", "1786147200"
		if !c.ended {
			c.want["Representative-Claim"] = "overage"
		}
		got := make(map[string]string)
		headers := budgetHeaders(format.BudgetUse{Share: c.share, Period: c.period, Renews: renews, Ended: c.ended})
		for i := 0; i < len(headers); i += 2 {
			got[headers[i][len("Anthropic-Ratelimit-Unified-"):]] = headers[i+1]
		}
		assert.Equal(t, c.want, got, name)
	}
	// Claude Code put "not your usage limit" in front of a refusal by a budget with less left than a request may cost.
	assert.Equal(t, []string{"Anthropic-Ratelimit-Unified-Overage-Disabled-Reason", "org_spend_cap_reached"}, budgetHeaders(format.BudgetUse{Ended: true}))
}
