package meter

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Pricer returns the prices of models.
type Pricer interface {
	// Price returns the price of a model at a time, nil if it is unknown. asked is the
	// name of the model that the client used, provider the name of the provider in the
	// configuration, and model the provider's own name of the model.
	Price(asked, provider, model string, at time.Time) *prices.Price
}

// Entry is the unfinished record of an exchange. A nil *Entry records nothing.
type Entry struct {
	ledger aigateway.Ledger // nil if the record is not written
	pricer Pricer
	record aigateway.Record
	bound  aigateway.Cost // the cost that is reserved in budgets
}

// NewEntry returns the record of an exchange that is admitted now. bound is the highest
// possible cost, which is reserved in budgets; zero without a budget.
func NewEntry(pricer Pricer, ex *exchange.Exchange, bound aigateway.Cost) *Entry {
	return &Entry{pricer: pricer, bound: bound, record: aigateway.Record{
		Admitted: time.Now(),
		Request:  ex.ID, Key: ex.Key.ID, User: ex.Key.Owner, Limit: ex.Key.Limit, Model: ex.View.Model,
		Operation: operations[ex.Operation], Format: string(ex.Format.Name), Stream: ex.Streaming(),
	}}
}

// Begin writes the beginning of the exchange to a ledger. The ledger gets the whole record
// at the end of the exchange, even if Begin returns an error. If the process ends first,
// the reserved cost stays in the ledger.
func (e *Entry) Begin(l aigateway.Ledger) error {
	e.ledger = l
	if e.bound.Nanos > 0 {
		e.record.Calls = []aigateway.Call{{Source: aigateway.SourceReserved, Held: e.bound}}
	}
	err := l.Begin(&e.record)
	e.record.Calls = nil
	return err
}

// operations are the names of operations in records.
var operations = map[translate.Operation]string{translate.Generate: "generate", translate.CountTokens: "count_tokens"}

// add adds a call and its usage to the record.
func (e *Entry) add(a *exchange.Attempt, r *exchange.Result, u usage) {
	if e == nil || r == nil || r.State == exchange.Unasked {
		return
	}
	call := aigateway.Call{
		Provider: a.Provider, Model: a.Model, Answered: r.AnsweredBy, Format: string(a.Format.Name), Status: r.Status,
		Source: u.source, Tokens: u.tokens, Terms: u.terms,
	}
	e.cost(&call)
	e.record.Calls = append(e.record.Calls, call)
}

// cost sets the cost of a call, if its price is known.
func (e *Entry) cost(call *aigateway.Call) {
	if call.Source == aigateway.SourceNone {
		return
	}
	cost, price, ok := Cost(e.pricer, &e.record, call)
	switch {
	case ok:
		call.Cost, call.Price = cost, price
	case cost.Currency != "" && cost.Currency == e.bound.Currency: // the price lacks a kind of usage of the call
		call.Held = e.bound
	}
}

// Cost returns the cost of a call of an exchange, and the name of the price. ok is false
// if the cost is unknown; cost then has only the currency of the price, if there is one.
func Cost(pricer Pricer, r *aigateway.Record, call *aigateway.Call) (cost aigateway.Cost, price string, ok bool) {
	known := pricer.Price(r.Model, call.Provider, call.Model, r.Admitted)
	if known == nil {
		return cost, "", false
	}
	t := call.Tokens
	priced, ok := known.Cost(prices.Call{Admitted: r.Admitted, Terms: call.Terms, Tokens: prices.Tokens{
		Fresh: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, CacheWriteLong: t.CacheWriteLong,
		Output: t.Output, Reasoning: t.Reasoning, Searches: t.Searches,
	}})
	return aigateway.Cost{Nanos: priced.Nanos, Currency: known.Currency}, known.Name(), ok
}

// spent returns the cost of all calls in a currency, reserved cost included, in nanos.
func (e *Entry) spent(currency string) (nanos int64) {
	if e == nil {
		return 0
	}
	for i := range e.record.Calls {
		for _, part := range [...]aigateway.Cost{e.record.Calls[i].Cost, e.record.Calls[i].Held} {
			if part.Currency == currency {
				nanos += part.Nanos
			}
		}
	}
	return nanos
}

// end completes the record, and writes it if there is a ledger.
func (e *Entry) end(ex *exchange.Exchange, outcome exchange.Outcome) {
	if e == nil {
		return
	}
	e.record.Outcome = string(outcome)
	e.record.Status = statusOf(ex)
	e.record.Duration = time.Since(ex.Start)
	if !ex.FirstByte.IsZero() {
		e.record.FirstByte = ex.FirstByte.Sub(ex.Start)
	}
	if e.ledger != nil {
		e.ledger.End(&e.record)
	}
}

// statusOf returns the status that the client gets, 0 if it gets none.
func statusOf(ex *exchange.Exchange) int {
	switch {
	case !ex.FirstByte.IsZero():
		return 200
	case ex.Fault == nil:
		return 0
	case ex.Result != nil && ex.Result.Answer != nil:
		return ex.Result.Answer.Status
	}
	return ex.Format.Errors.Status(ex.Fault)
}

// usage is the usage of a call, with its source.
type usage struct {
	tokens aigateway.Tokens
	source aigateway.Source
	terms  token.Terms
}

// usage returns the usage of a call by kind of tokens; cost returns the sum by the same
// rules.
func (m *Meter) usage(r *exchange.Result) usage {
	n := reported(r)
	tokens, terms := aigateway.Tokens{}, token.Terms(0)
	switch {
	case n > 0:
		tokens, terms = tokensOf(r.Usage), r.Usage.Terms
	case r.Usage.Searches <= token.MaxSearches:
		tokens.Searches = r.Usage.Searches
	}
	switch {
	case n > 0 && (r.Whole() || m.bytes == 0 && unused(r)):
		return usage{tokens, sourceOf(r.Usage), terms}
	case m.bytes == 0 && unused(r):
		return usage{}
	}
	tokens.Input = max(tokens.Input, m.Prompt-tokens.CacheRead-tokens.CacheWrite-tokens.CacheWriteLong)
	tokens.Output = max(tokens.Output, m.sent()-tokens.Reasoning)
	if n > 0 {
		return usage{tokens, aigateway.SourcePartial, terms}
	}
	return usage{tokens, aigateway.SourceEstimated, terms}
}

// sourceOf returns the source of the final counts of a provider.
func sourceOf(u token.Usage) aigateway.Source {
	if u.Inconsistent {
		return aigateway.SourcePartial
	}
	return aigateway.SourceProvider
}

// tokensOf returns the counts of a provider, so that no token is in two of them.
func tokensOf(u token.Usage) aigateway.Tokens {
	return aigateway.Tokens{
		Input: u.Input, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite - u.CacheWriteLong, CacheWriteLong: u.CacheWriteLong,
		Output: u.Output - u.Reasoning, Reasoning: u.Reasoning, Searches: u.Searches,
	}
}
