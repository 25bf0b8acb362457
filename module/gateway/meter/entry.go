package meter

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Pricer knows what models cost.
type Pricer interface {
	// Price returns the price of a provider's own model at a moment, nil if it is
	// unknown. The provider has its name in the configuration; asked is the name of
	// the model that the client used.
	Price(asked, provider, model string, at time.Time) *prices.Price
}

// Entry is the record of an exchange in the making. A nil *Entry records nothing.
type Entry struct {
	ledger aigateway.Ledger // nil if the record is not written down
	pricer Pricer
	record aigateway.Record
	bound  aigateway.Cost // that was reserved of budgets
}

// NewEntry returns the record of an exchange that is admitted now, with the most that it
// may cost, which is reserved of budgets; zero without a budget.
func NewEntry(pricer Pricer, ex *exchange.Exchange, bound aigateway.Cost) *Entry {
	return &Entry{pricer: pricer, bound: bound, record: aigateway.Record{
		Admitted: time.Now(),
		Request:  ex.ID, Key: ex.Key.ID, User: ex.Key.Owner, Limit: ex.Key.Limit, Model: ex.View.Model,
		Operation: operations[ex.Operation], Format: string(ex.Format.Name), Stream: ex.Streaming(),
	}}
}

// Begin writes down in a ledger that the exchange begins, and has the ledger get the
// whole record at its end, even if the ledger returns an error now. What is reserved of
// budgets stays in the ledger if the process ends first.
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

// add adds a call, with what it used.
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
	case cost.Currency != "" && cost.Currency == e.bound.Currency: // the price has not all that the call used
		call.Held = e.bound
	}
}

// Cost returns what a call of an exchange costs, and the name of the price. ok is false
// if the cost is unknown; the currency is that of the price, if there is one.
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

// spent returns what budgets of a currency count of all calls, in nanos.
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

// end completes the record, and writes it down if there is a ledger.
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

// usage is what a call used, and how that is known.
type usage struct {
	tokens aigateway.Tokens
	source aigateway.Source
	terms  token.Terms
}

// usage returns what a call used by kind, as cost does in all.
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

// sourceOf returns the source of counts that a provider has reported to the end.
func sourceOf(u token.Usage) aigateway.Source {
	if u.Inconsistent {
		return aigateway.SourcePartial
	}
	return aigateway.SourceProvider
}

// tokensOf returns the counts of a provider without overlap.
func tokensOf(u token.Usage) aigateway.Tokens {
	return aigateway.Tokens{
		Input: u.Input, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite - u.CacheWriteLong, CacheWriteLong: u.CacheWriteLong,
		Output: u.Output - u.Reasoning, Reasoning: u.Reasoning, Searches: u.Searches,
	}
}
