package meter

import (
	"cmp"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Pricer returns the prices of models.
type Pricer interface {
	// Price returns the price of a model at a time, nil if it is unknown. asked is the
	// name of the model that the client used, provider the name of the provider in the
	// configuration, and model the provider's own name of the model.
	Price(asked, provider, model string, moment time.Time) *prices.Price
}

// Entry is the unfinished record of an exchange. A nil *Entry records nothing.
type Entry struct {
	ledger accounting.Ledger // nil if the record is not written
	pricer Pricer
	record accounting.Record
	bound  Bound // the cost that is reserved in budgets

	deferred *accounting.Deferred // the charge that becomes known later; nil for none
	only     [1]accounting.Call   // memory for the calls of the record: most exchanges have one
}

// Bound is the highest possible cost of an exchange, which is reserved in budgets; zero without a budget.
type Bound struct {
	aigateway.Cost
	Provider, Model string // the target, if no other one may be asked
}

// NewEntry returns the record of an exchange that is admitted now.
func NewEntry(pricer Pricer, ex *exchange.Exchange, bound Bound) *Entry {
	e := &Entry{pricer: pricer, bound: bound, record: accounting.Record{
		Admitted: time.Now(),
		Request:  ex.ID, Key: ex.Key.ID, User: ex.Key.Owner, Limit: ex.Key.Limit, Model: modelOf(ex),
		Operation: ex.Request.Operation.String(), Format: string(ex.Request.Format.Name), Stream: ex.Request.Streaming(),
		Labels: ex.Key.Labels,
	}}
	e.record.Calls = e.only[:0]
	return e
}

// modelOf returns the name of the model in records. Clients may write a configured name in any letter case:
// it has the letters of the configuration, so that one model has one sum. What only a pattern matches stays
// as the client has written it.
func modelOf(ex *exchange.Exchange) string {
	if strings.EqualFold(ex.Covering, strings.TrimSpace(ex.Request.View.Model)) {
		return ex.Covering
	}
	return ex.Request.View.Model
}

// Begin writes the beginning of the exchange to a ledger. The ledger gets the whole record
// at the end of the exchange, even if Begin returns an error. If the process ends first,
// the reserved cost stays in the ledger.
func (e *Entry) Begin(l accounting.Ledger) error {
	e.ledger = l
	if e.bound.Nanos > 0 {
		e.record.Calls = append(e.record.Calls, accounting.Call{
			Provider: e.bound.Provider, Model: e.bound.Model, Source: accounting.SourceReserved, Held: e.bound.Cost,
		})
	}
	err := l.Begin(&e.record)
	e.record.Calls = e.record.Calls[:0]
	return err
}

// add adds a call and its usage to the record.
func (e *Entry) add(a *exchange.Attempt, c call) {
	if e == nil || c.result.State == exchange.Unasked {
		return
	}
	_, defers := e.ledger.(accounting.DeferringLedger)
	if defers && c.isDeferred() || IsBatch(&e.record) && (c.result.Status/100 == 2 || !c.unused()) {
		e.deferCall(a, c)
		return
	}
	u, runs := c.usage(), c.result.Usage.Beside
	if c.reported() == 0 {
		runs = nil
	}
	stated, begin := c.stated(a.Traits), len(e.record.Calls)
	if stated.Doubtful && u.source == accounting.SourceProvider {
		u.source = accounting.SourcePartial
	}
	if a.Traits != nil && a.Traits.Regional {
		u.terms |= token.Regional
	}
	share := c.share / float64(1+len(runs))
	call := accounting.Call{
		Provider: a.Provider, Model: a.Model, Answered: c.result.Head.AnsweredBy, Format: string(a.Format.Name),
		Status: c.result.Status, Source: u.source, Tokens: u.tokens, Terms: u.terms, Units: u.units, Finish: c.finish(),
	}
	e.cost(&call, &u.units, share, stated)
	e.record.Calls = append(e.record.Calls, call)
	if call.CostSource == accounting.CostStated { // for all runs
		stated.Nanos = 0
	}
	for i := range runs {
		e.addRun(call, &runs[i], share, stated)
	}
	if c.result.Reading.Cached {
		save(e.record.Calls[begin:])
	}
}

// save makes what calls would have cost their savings: the cache of answers had the answer.
func save(calls []accounting.Call) {
	for i := range calls {
		c := &calls[i]
		c.Source, c.Saved = accounting.SourceCached, c.Cost.Nanos
		c.Price, c.Cost.Nanos, c.CostSource, c.Held = "", 0, accounting.CostByPrice, aigateway.Cost{}
	}
}

// addRun adds a further run of a model within a call, whose price may be another.
func (e *Entry) addRun(parent accounting.Call, run *token.Run, share float64, stated token.StatedCost) {
	call := accounting.Call{
		Provider: parent.Provider, Model: cmp.Or(run.Model, parent.Model), Answered: parent.Answered, Format: parent.Format, Status: parent.Status,
		Source: sourceOf(run.Usage), Tokens: run.Usage.Counts, Terms: parent.Terms | run.Usage.Terms,
		Units: run.Usage.Units,
	}
	e.cost(&call, &run.Usage.Units, share, stated)
	e.record.Calls = append(e.record.Calls, call)
}

// cost sets what is known of the cost of a call. units are those of the call, and share is the
// part of the request that the call is. A cost that the provider has stated holds unless an
// operator has set a price.
func (e *Entry) cost(call *accounting.Call, units *token.Units, share float64, stated token.StatedCost) {
	if call.Source == accounting.SourceNone {
		return
	}
	if stated.Known && e.believes(call) {
		call.Cost, call.CostSource = aigateway.Cost{Nanos: stated.Nanos, Currency: aigateway.DefaultCurrency}, accounting.CostStated
		return
	}
	charge, ok := Cost(e.pricer, &e.record, call, units)
	call.Price, call.Cost, call.CostSource = charge.Price, charge.Cost, charge.Source
	if whole := ok && charge.Source != accounting.CostInPart; !whole && charge.Cost.Currency != "" && charge.Cost.Currency == e.bound.Currency {
		call.Held = aigateway.Cost{Nanos: max(0, portion(e.bound.Nanos, share)-charge.Cost.Nanos), Currency: e.bound.Currency}
	}
}

// believes reports whether a cost that the provider has stated holds: no operator has set a price.
func (e *Entry) believes(call *accounting.Call) bool {
	price := e.pricer.Price(e.record.Model, call.Provider, call.Model, e.record.Admitted)
	return price == nil || price.IsBuiltin()
}

// Cost returns the charge for a call of an exchange. units is nil if the record is all that is
// known of the call. ok is false if nothing is known of the cost; the charge then has only the
// currency of the price, if there is one.
func Cost(pricer Pricer, r *accounting.Record, call *accounting.Call, units *token.Units) (charge accounting.Charge, ok bool) {
	if call.Model == "" { // of a call that is passed on unread: a price for all models is none for it
		return charge, false
	}
	known := pricer.Price(r.Model, call.Provider, call.Model, r.Admitted)
	if known == nil {
		return charge, false
	}
	charge.Cost.Currency = known.Currency
	cost, ok := known.Cost(prices.Charge{Admitted: r.Admitted, Terms: call.Terms, Tokens: call.Tokens, Units: units})
	if !ok {
		return charge, false
	}
	charge.Price, charge.Cost.Nanos = known.Name(), cost.Nanos
	if cost.InPart {
		charge.Source = accounting.CostInPart
	}
	return charge, true
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
	if !ex.Delivery.FirstByte.IsZero() {
		e.record.FirstByte = ex.Delivery.FirstByte.Sub(ex.Start)
	}
	e.record.Attempts = attempts(ex)
	if ex.Course.Attempt != nil {
		e.record.Choice = ex.Course.Attempt.Choice.String()
	}
	e.record.Losses, e.record.AnswerLosses = losses(ex)
	e.record.Unchecked = ex.Unchecked
	if ex.Delivery.Fault != nil {
		e.record.Reason = ex.Delivery.Fault.LogMessage()
	}
	if e.ledger != nil {
		e.ledger.End(&e.record)
	}
	e.endDeferred()
}

// statusOf returns the status that the client gets, 0 if it gets none.
func statusOf(ex *exchange.Exchange) int {
	switch {
	case ex.Course.Status != 0:
		return int(ex.Course.Status)
	case !ex.Delivery.FirstByte.IsZero():
		return 200
	case ex.Delivery.Fault == nil:
		return 0
	case ex.Course.Result != nil && ex.Course.Result.Head.Answer != nil:
		return ex.Course.Result.Head.Answer.Status
	}
	return ex.Request.Format.Errors.Status(ex.Delivery.Fault)
}
