package limits

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// typicalAnswer is the assumed length of an answer, in tokens, where targets are compared by their
// cost: clients allow far longer answers than models give.
const typicalAnswer = 1000

// leastCached is the length of the shortest prompts, in tokens, that services read from caches.
const leastCached = 1024

// TypicalCharge returns what determines the cost of a request at a target, to compare targets: the
// estimated tokens of its prompt, half of which is read from a cache if it is long enough, and answers
// of a typical length, or shorter if the request allows no more. Without a part from a cache, targets
// that differ in the price of caches alone would cost the same, although most tokens of agents are
// read from caches.
func TypicalCharge(ex *exchange.Exchange) func(*catalog.Target) prices.Charge {
	return func(t *catalog.Target) prices.Charge {
		v := volumeOf(ex, *t)
		answer := timesAtMost(timesAtMost(min(v.longest, typicalAnswer), ex.Request.View.Answers), ex.Request.View.Prompts)
		cached := int64(0)
		if v.prompt >= leastCached {
			cached = v.prompt / 2
		}
		return prices.Charge{Tokens: token.Counts{Fresh: v.prompt - cached, CacheRead: cached, Answer: answer}, Units: &v.units, Terms: v.terms}
	}
}

// exampleTokens is the length of the prompt, and that of the answer, of ExampleCharge.
const exampleTokens = 1000

// ExampleCharge is TypicalCharge for an example, which shows the order of targets.
func ExampleCharge(*catalog.Target) prices.Charge {
	return prices.Charge{Tokens: token.Counts{Fresh: exampleTokens, Answer: exampleTokens}}
}
