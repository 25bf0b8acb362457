package meter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// A call that cost 0.0123 USD, as OpenRouter stated, was recorded with the 0.0012 of its tokens.
func TestAStatedCostHoldsUnlessAnOperatorHasAPrice(t *testing.T) {
	stated := token.StatedCost{Nanos: 12_300_000, Known: true}
	compacted := []token.Run{{Usage: token.Usage{Counts: token.Counts{Fresh: 50}, Known: true}}}
	for name, c := range map[string]struct {
		provider, model string // those of the table have a price
		own             bool   // the operator has a price
		ignored         bool
		usage           token.Usage
		cut             bool
		costing         accounting.Costing
		nanos           int64
		source          accounting.Source
	}{
		"no price":              {"p", "m", false, false, token.Usage{Stated: stated}, false, accounting.CostingStated, 12_300_000, accounting.SourceProvider},
		"a price of the table":  {"xai", "grok-4.3", false, false, token.Usage{Stated: stated}, false, accounting.CostingStated, 12_300_000, accounting.SourceProvider},
		"an operator's price":   {"p", "m", true, false, token.Usage{Stated: stated}, false, accounting.CostingPrice, 1000, accounting.SourceProvider},
		"free of charge":        {"p", "m", false, false, token.Usage{Stated: token.StatedCost{Known: true}}, false, accounting.CostingStated, 0, accounting.SourceProvider},
		"without the trait":     {"p", "m", false, true, token.Usage{Stated: stated}, false, accounting.CostingUnknown, 0, accounting.SourceProvider},
		"an absurd amount":      {"p", "m", false, false, token.Usage{Stated: token.StatedCost{Doubtful: true}}, false, accounting.CostingUnknown, 0, accounting.SourcePartial},
		"absurd, not asked for": {"p", "m", false, true, token.Usage{Stated: token.StatedCost{Doubtful: true}}, false, accounting.CostingUnknown, 0, accounting.SourceProvider},
		"searches included":     {"p", "m", false, false, token.Usage{Counts: token.Counts{Searches: 3}, Stated: stated}, false, accounting.CostingStated, 12_300_000, accounting.SourceProvider},
		"a tier":                {"xai", "grok-4.3", false, false, token.Usage{Terms: token.OtherTier, Stated: stated}, false, accounting.CostingStated, 12_300_000, accounting.SourceProvider},
		"runs of models":        {"p", "m", false, false, token.Usage{Stated: stated, Beside: compacted}, false, accounting.CostingStated, 12_300_000, accounting.SourceProvider},
		"an answer that broke":  {"p", "m", false, false, token.Usage{Stated: stated}, true, accounting.CostingUnknown, 0, accounting.SourcePartial},
	} {
		l := new(pages)
		var price Pricer = list{prices.Builtin()}
		if c.own {
			price = priceOf(t, map[string]string{"input": "1", "output": "1"})
		}
		ex, _ := begun(t, l, price)
		ex.Course.Attempt.Provider, ex.Course.Attempt.Model, ex.Course.Attempt.Traits = c.provider, c.model, &trait.Traits{StatedCost: !c.ignored}
		entry := NewEntry(price, ex, Bound{})
		require.NoError(t, entry.Begin(l))
		held := new(settlement)
		m := New(Estimate{Prompt: 1, Reserved: 5, Cost: aigateway.Cost{Currency: "USD"}}, held, entry)
		c.usage.Fresh, c.usage.Known = 1, true
		ex.Course.Result = &exchange.Result{State: exchange.Finished, Usage: c.usage, Status: 200, Sent: true}
		if c.cut {
			ex.Course.Result.State, ex.Course.Result.Times.Began = exchange.Content, ex.Start
		}
		m.Settle(ex, exchange.Answered)
		call := l.ended[0].Calls[0]
		assert.Equal(t, c.costing, call.Costing(), name)
		assert.Equal(t, c.nanos, call.Cost.Nanos, name)
		assert.Equal(t, c.source, call.Source, name)
		assert.Equal(t, c.nanos, held.used[0].Nanos, "%s: the budget", name)
		for _, run := range l.ended[0].Calls[1:] {
			assert.Equal(t, accounting.CostingStated, run.Costing(), name)
			assert.Zero(t, run.Cost.Nanos, name)
		}
	}
}
