package limiting

import (
	"cmp"
	"math"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Expect estimates the usage of a request: the tokens of its prompt, once for each call,
// and of the longest answers that it allows. If the chain has a budget, the estimate
// includes the highest possible cost. A request that counts tokens uses nothing. The
// fault refuses a model without a price if a budget needs the price, and a request whose
// cost has no bound.
func (c *Chain) Expect(ex *exchange.Exchange, m *catalog.Model, pricer meter.Pricer) (e meter.Estimate, refused *fault.Fault) {
	e.Cost.Currency = c.currency
	if ex.Operation == translate.CountTokens {
		return e, nil
	}
	first := volumeOf(ex, m.Targets[0])
	e.Prompt = first.prompt
	if ex.View.MaxTokens == 0 {
		e.Assumed = fault.Assumed{Tokens: first.longest, Field: ex.Format.Requests.Bound}
	}
	e.Reserved = first.prompt + min(first.answer, math.MaxInt64-first.prompt)
	if c.currency == "" {
		return e, nil
	}
	if refused = openEnded(&ex.View); refused != nil {
		return e, refused
	}
	var unpriced string
	e.Cost.Nanos, unpriced = c.bound(ex, m, pricer)
	if unpriced != "" && c.priced {
		return e, fault.PriceUnknown(ex.View.Model, unpriced)
	}
	return e, nil
}

// openEnded refuses a request whose cost has no bound, for a key that has a budget.
func openEnded(v *translate.View) *fault.Fault {
	switch {
	case v.OtherModels != "":
		return fault.OtherModels(v.OtherModels)
	case v.Background:
		return fault.Background()
	}
	return nil
}

// bound returns the highest possible cost of a request at any target of its model, in
// nanos of the currency of the budgets. unpriced is a target whose price is unknown or
// in another currency, "" for none.
func (c *Chain) bound(ex *exchange.Exchange, m *catalog.Model, pricer meter.Pricer) (nanos int64, unpriced string) {
	now := time.Now()
	for _, t := range m.Targets {
		upstream := t.UpstreamModel(ex.View.Model)
		price := pricer.Price(ex.View.Model, t.Provider.Name, upstream, now)
		if price == nil || price.Currency != c.currency {
			unpriced = t.Provider.Name + "/" + upstream
			continue
		}
		v := volumeOf(ex, t)
		nanos = max(nanos, price.Bound(now, prices.MaxUse{Prompt: v.prompt, Answer: v.answer, Searches: v.searches, Terms: ex.View.Terms}))
	}
	return nanos, unpriced
}

// volume is what a request may use at a target, in tokens.
type volume struct {
	prompt  int64
	longest int64 // of one answer
	answer  int64 // of all answers, each as long as the longest

	searches int64 // of the web, by the provider
}

func volumeOf(ex *exchange.Exchange, t catalog.Target) (v volume) {
	view := &ex.View
	v.longest = view.MaxTokens
	if v.longest == 0 {
		v.longest = unbounded(ex, t)
	}
	v.answer = timesAtMost(timesAtMost(v.longest, view.Answers), view.Prompts)
	v.prompt = meter.PromptTokens(len(ex.Body), view.Files)
	if view.Answers > 1 && fansOut(t, ex) {
		v.prompt = timesAtMost(v.prompt, view.Answers)
	}
	if t.Provider.SpeakFor(ex.Format) == ex.Format { // no translation has the tools of vendors
		v.searches = view.Searches
	}
	return v
}

// unbounded returns the length that is assumed for an answer that the client does not
// bound, in tokens: the bound that a translation adds, if any.
func unbounded(ex *exchange.Exchange, t catalog.Target) int64 {
	traits := t.TraitsOf(ex.View.Model)
	if spoken := t.Provider.SpeakFor(ex.Format); spoken != nil && spoken != ex.Format {
		return cmp.Or(ex.Format.Requests.Source.AddedBound(spoken.Requests.Target, traits), traits.MaxTokens())
	}
	return traits.MaxTokens()
}

// fansOut reports whether each of several answers needs its own call, which sends the
// whole prompt.
func fansOut(t catalog.Target, ex *exchange.Exchange) bool {
	spoken := t.Provider.SpeakFor(ex.Format)
	if spoken == nil || spoken == ex.Format {
		return false
	}
	return spoken.Provider.OneAnswer || t.TraitsOf(ex.View.Model).FanOutN || ex.View.Prompts > 1
}

// timesAtMost returns n*factor, but at most math.MaxInt64. n must not be negative. A
// factor below 1 counts as 1.
func timesAtMost(n, factor int64) int64 {
	factor = max(1, factor)
	if n > math.MaxInt64/factor {
		return math.MaxInt64
	}
	return n * factor
}

// use returns the usage to reserve for an estimate.
func use(e meter.Estimate) aigateway.Use {
	return aigateway.Use{Tokens: e.Reserved, Nanos: e.Cost.Nanos}
}
