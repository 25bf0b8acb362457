package limits

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// After a process was killed, what it had reserved counted at every provider with a budget, also at those
// that the model does not have: 81 dollars at a provider that could not be asked.
func TestReservedMoneyCountsWhereItMayHaveBeenSpent(t *testing.T) {
	s := &callSpending{provider: "p", upstream: "x",
		reaches: func(model string) bool { return model != "elsewhere" }, limits: func(model string) bool { return model == "m" }}
	provider, target := &aigateway.Limit{Per: aigateway.PerProvider}, &aigateway.Limit{Per: aigateway.PerTarget}
	for _, c := range []struct {
		sum                accounting.Usage
		provider, ofTarget bool
	}{
		{accounting.Usage{Model: "m", Provider: "p", Upstream: "x"}, true, true},
		{accounting.Usage{Model: "m", Provider: "p", Upstream: "y"}, true, false},
		{accounting.Usage{Model: "m", Provider: "q", Upstream: "x"}, false, false},
		{accounting.Usage{Model: "m"}, true, true},
		{accounting.Usage{Model: "other"}, true, false},
		{accounting.Usage{Model: "elsewhere"}, false, false},
	} {
		assert.Equal(t, c.provider, s.counts(provider, &c.sum), c.sum)
		assert.Equal(t, c.ofTarget, s.counts(target, &c.sum), c.sum)
	}
}
