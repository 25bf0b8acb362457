package limits

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Expect estimates the usage of a request: the tokens of its prompt, once for each call,
// and of the longest answers that it allows. If the chain has a budget, the estimate
// includes the highest possible cost. A request that counts tokens, manages an object, or is passed
// on unread, uses nothing that is known. A call of a tool costs what is configured. That of a batch is
// the sum of the highest costs of its requests, without their tokens: they are not used within the minute
// of the request. The fault refuses a model without a price if a budget needs the price, and a request
// whose cost has no bound.
func (c *Chain) Expect(ex *exchange.Exchange, m *catalog.Model, pricer meter.Pricer) (e meter.Estimate, refused *fault.Fault) {
	e.Cost.Currency = c.currency
	switch ex.Request.Operation {
	case translate.CountTokens, translate.Manage, translate.Pass:
		return e, nil
	case translate.MCP:
		if e.Cost.Nanos = ex.Request.View.Costs.FixedNanos(); e.Cost.Nanos > 0 && c.priced && c.currency != aigateway.DefaultCurrency {
			refused = fault.PriceInCurrency(ex.Request.View.Model, ex.Request.View.Model, aigateway.DefaultCurrency, c.currency)
		}
		return e, refused
	case translate.Batch:
		if e.Cost.Nanos = ex.Objects.Call.Bound; c.currency != "" && !c.book.Defers() {
			refused = fault.BatchUnsettled()
		}
		return e, refused
	}
	first := volumeOf(ex, m.Targets[0])
	e.Prompt, e.Units, e.Searches = first.prompt, first.units, first.unstated
	switch {
	case ex.Request.Operation == translate.Live:
		e.Assumed.Seconds = first.units.Seconds
	case ex.Request.Operation == translate.Realtime:
		e.Assumed.Tokens = first.longest
	case ex.Request.View.MaxTokens == 0 && !ex.Request.Operation.Beside():
		e.Assumed = fault.Assumed{Tokens: first.longest, Field: ex.Request.Format.Requests.Bound}
	}
	e.Reserved = first.tokens()
	if m.Hedges(ex) {
		e.Reserved *= 2
	}
	if c.currency == "" {
		return e, nil
	}
	if refused = c.openEnded(ex, m); refused != nil {
		return e, refused
	}
	e.Cost.Nanos, refused = c.bound(ex, m, pricer)
	if !c.priced {
		refused = nil
	}
	if m.Hedges(ex) {
		e.Cost.Nanos = plusAtMost(e.Cost.Nanos, e.Cost.Nanos)
	}
	return e, refused
}

// openEnded refuses a request whose cost has no bound, or never becomes known, for a key that has a
// budget.
func (c *Chain) openEnded(ex *exchange.Exchange, m *catalog.Model) *fault.Fault {
	switch reach := &ex.Request.View.Beyond; {
	case reach.OtherModels != "":
		return fault.OtherModels(reach.OtherModels)
	case reach.Background && (reach.Unstored || !c.book.Defers() || !allSeal(ex, m)):
		return fault.Background()
	}
	return nil
}

// allSeal reports whether the gateway can ask every target of a model for what it has stored.
func allSeal(ex *exchange.Exchange, m *catalog.Model) bool {
	return !slices.ContainsFunc(m.Targets, func(t catalog.Target) bool { return !t.TraitsOf(ex.Request.View.Model).SealsObjects() })
}

// bound returns the highest possible cost of a request at any target of its model, in
// nanos of the currency of the budgets. The fault is of the first target without a bound.
func (c *Chain) bound(ex *exchange.Exchange, m *catalog.Model, pricer meter.Pricer) (nanos int64, unpriced *fault.Fault) {
	now := time.Now()
	for _, t := range m.Targets {
		cost, unknown := c.boundAt(ex, t, pricer, now, false)
		nanos, unpriced = max(nanos, cost), cmp.Or(unpriced, unknown)
	}
	return nanos, unpriced
}

// BoundInBatch returns the highest possible cost of a request of a batch at a target, in nanos of the
// currency of the budgets, 0 without one. The fault refuses a request without a bound.
func (c *Chain) BoundInBatch(ex *exchange.Exchange, t catalog.Target, pricer meter.Pricer) (nanos int64, refused *fault.Fault) {
	if c.currency == "" {
		return 0, nil
	}
	if other := ex.Request.View.Beyond.OtherModels; other != "" {
		return 0, fault.OtherModels(other)
	}
	nanos, refused = c.boundAt(ex, t, pricer, time.Now(), true)
	if !c.priced {
		refused = nil
	}
	return nanos, refused
}

// BoundOfFile is BoundInBatch for all requests of a file with a model.
func (c *Chain) BoundOfFile(file *exchange.Volume, model string, t catalog.Target, pricer meter.Pricer) (nanos int64, refused *fault.Fault) {
	if c.currency == "" {
		return 0, nil
	}
	traits := t.TraitsOf(model)
	v := volume{prompt: file.Prompt, longestPrompt: file.Longest, searches: file.Searches, units: file.Units, terms: file.Terms}
	v.answer = file.Answer
	if file.Open > 0 {
		v.answer = plusAtMost(v.answer, timesAtMost(traits.MaxTokens(), file.Open))
	}
	if traits.Regional {
		v.terms |= token.Regional
	}
	nanos, refused = c.costOf(&v, model, t, pricer, time.Now(), true)
	if !c.priced {
		refused = nil
	}
	return nanos, refused
}

// boundAt returns the highest possible cost of a request at a target, in a batch or alone. The fault is
// of a target whose price is unknown, or in another currency, or has none for the terms of the request or
// a part of its use.
func (c *Chain) boundAt(ex *exchange.Exchange, t catalog.Target, pricer meter.Pricer, now time.Time, batch bool) (nanos int64, unpriced *fault.Fault) {
	v := volumeOf(ex, t)
	return c.costOf(&v, ex.Request.View.Model, t, pricer, now, batch)
}

// costOf is boundAt for what requests with a model may use.
func (c *Chain) costOf(v *volume, model string, t catalog.Target, pricer meter.Pricer, now time.Time, batch bool) (nanos int64, unpriced *fault.Fault) {
	upstream := t.UpstreamModel(model)
	target := t.Provider.Name + "/" + upstream
	price := pricer.Price(model, t.Provider.Name, upstream, now)
	if unpriced = c.incomparable(model, target, price); unpriced != nil {
		return 0, unpriced
	}
	most := prices.MaxUse{Prompt: v.prompt, Longest: v.longestPrompt, Answer: v.answer, Searches: v.searches, Units: v.units, Terms: v.terms, Batch: batch}
	cost, unknown := price.Bound(now, most)
	if v.summary > 0 {
		summary, _ := price.Bound(now, prices.MaxUse{Prompt: v.prompt, Answer: v.summary, Terms: v.terms, Batch: batch})
		cost = plusAtMost(cost, summary)
	}
	switch {
	case unknown.Terms&token.Batch != 0 && batch:
		return cost, fault.BatchUnpriced(model, target)
	case unknown.Terms != 0:
		return cost, fault.TermsUnpriced(model, unknown.Terms.Field(), target)
	case unknown.Parts != 0:
		return cost, fault.PartUnpriced(model, unknown.Parts.Column(), target)
	}
	return cost, nil
}

// incomparable returns why budgets cannot count the price of a model at a target, nil if they can.
func (c *Chain) incomparable(model, target string, price *prices.Price) *fault.Fault {
	switch {
	case price == nil:
		return fault.PriceUnknown(model, target)
	case price.Currency != c.currency:
		return fault.PriceInCurrency(model, target, price.Currency, c.currency)
	}
	return nil
}

// CheckPrice returns the fault of a model whose price at a target a budget needs, and cannot count. price is
// nil if it is unknown.
func (c *Chain) CheckPrice(model, target string, price *prices.Price) *fault.Fault {
	if !c.priced {
		return nil
	}
	return c.incomparable(model, target, price)
}

// volume is what a request, or all requests of a file, may use at a target, in tokens.
type volume struct {
	prompt  int64
	longest int64 // of one answer
	answer  int64 // of all answers, each as long as the longest

	longestPrompt int64 // of several requests; 0 for one

	summary  int64       // of the conversation, for which the prompt is read once more; 0 for none
	searches int64       // of the web, by the provider
	unstated int64       // those of each answer that it need not state
	units    token.Units // of the answer
	terms    token.Terms // that the target gets
}

// maxSummary is the assumed length of the summary of a conversation, in tokens.
const maxSummary = 8192

// tokens returns the tokens of all of v.
func (v *volume) tokens() int64 {
	tokens := plusAtMost(v.prompt, v.answer)
	if v.summary > 0 {
		tokens = plusAtMost(tokens, plusAtMost(v.prompt, v.summary))
	}
	return tokens
}

func volumeOf(ex *exchange.Exchange, t catalog.Target) (v volume) {
	request, view := &ex.Request, &ex.Request.View
	if v.units = view.Costs.Units; request.Operation == translate.Live { // which costs by time alone
		return v
	}
	v.longest = view.MaxTokens
	switch {
	case request.Operation == translate.Speak:
		v.longest = passthrough.SpokenTokens(len(request.Body))
	case v.longest == 0 && passthrough.HasOutput(request.Operation):
		v.longest = unbounded(ex, t)
	}
	v.answer = timesAtMost(timesAtMost(v.longest, view.Answers), view.Prompts)
	v.prompt = meter.PromptTokens(len(request.Body), view.Costs.Files)
	if passthrough.IsForm(request.Body) {
		v.prompt = passthrough.FileTokens(len(request.Body))
	}
	if view.Answers > 1 && fansOut(t, ex) {
		v.prompt = timesAtMost(v.prompt, view.Answers)
	}
	v.terms = termsAt(t, ex)
	if t.TraitsOf(view.Model).Regional {
		v.terms |= token.Regional
	}
	always := false
	if spokenTo(t, ex) == request.Format { // no translation has the tools of vendors
		v.searches, always = view.Costs.Searches, view.Costs.SearchesAlways
	}
	if always || token.AlwaysSearches(t.UpstreamModel(view.Model)) {
		v.searches, v.unstated = max(v.searches, 1), 1
	}
	if view.Costs.Compacts && (keeps(t, ex, "context_management") || keeps(t, ex, "compaction")) {
		v.summary = maxSummary
	}
	return v
}

// spokenTo returns the format of the request to a target, nil if it cannot be sent there.
func spokenTo(t catalog.Target, ex *exchange.Exchange) *format.Descriptor {
	return t.Provider.SpeakFor(t.TraitsOf(ex.Request.View.Model).ModelOf(t.UpstreamModel(ex.Request.View.Model)), ex.Request.Format)
}

// keeps reports whether a target gets a field of the request that no other format has.
func keeps(t catalog.Target, ex *exchange.Exchange, field string) bool {
	spoken := spokenTo(t, ex)
	return spoken == ex.Request.Format || spoken != nil && spoken.Requests.Target.Extends(t.TraitsOf(ex.Request.View.Model), field)
}

// termsAt returns the terms of a request that a target gets. Few translations keep them.
func termsAt(t catalog.Target, ex *exchange.Exchange) (terms token.Terms) {
	if ex.Request.View.Costs.Terms == 0 {
		return 0
	}
	for _, field := range token.Fields {
		if keeps(t, ex, field.Name) {
			terms |= field.Terms
		}
	}
	if spoken := spokenTo(t, ex); spoken != nil && spoken != ex.Request.Format {
		if spoken.Requests.Target.Takes(core.TierFlex, t.TraitsOf(ex.Request.View.Model)) {
			terms |= token.Flex | token.Priority // the formats have both, or neither
		}
	}
	return terms & ex.Request.View.Costs.Terms
}

// unbounded returns the length that is assumed for an answer that the client does not
// bound, in tokens: the bound that a translation adds, if any.
func unbounded(ex *exchange.Exchange, t catalog.Target) int64 {
	traits := t.TraitsOf(ex.Request.View.Model)
	if spoken := spokenTo(t, ex); spoken != nil && spoken != ex.Request.Format {
		return cmp.Or(ex.Request.Format.Requests.Source.AddedBound(spoken.Requests.Target, traits), traits.MaxTokens())
	}
	return traits.MaxTokens()
}

// fansOut reports whether each of several answers needs its own call, which sends the
// whole prompt.
func fansOut(t catalog.Target, ex *exchange.Exchange) bool {
	spoken := spokenTo(t, ex)
	if spoken == nil || spoken == ex.Request.Format {
		return false
	}
	return spoken.Provider.OneAnswer || t.TraitsOf(ex.Request.View.Model).FanOutN || ex.Request.View.Prompts > 1
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

// plusAtMost returns a+b, but at most math.MaxInt64. The arguments must not be negative.
func plusAtMost(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }

// use returns the usage to reserve for an estimate.
func use(e meter.Estimate) aigateway.Use {
	return aigateway.Use{Tokens: e.Reserved, Nanos: e.Cost.Nanos}
}
