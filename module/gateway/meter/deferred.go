package meter

import (
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// asking is when a provider is asked for a deferred charge: after first, and then each time that as
// much time has passed as before, but at least once in longest. What it has not generated after wait
// is charged as reserved.
type asking struct{ first, longest, wait time.Duration }

var (
	askingForResponses = asking{2 * time.Second, time.Minute, time.Hour}
	// Batches end within a day.
	askingForBatches = asking{time.Minute, time.Hour, 25 * time.Hour}
	// Vendors keep files with requests of a batch for a month. Nobody is asked about them.
	askingForFiles = asking{month, month, month}
)

const month = 30 * 24 * time.Hour

// askingFor returns when a provider is asked for the deferred charge of a record.
func askingFor(r *accounting.Record) asking {
	switch {
	case IsBatch(r):
		return askingForBatches
	case IsFile(r):
		return askingForFiles
	}
	return askingForResponses
}

// IsBatch reports whether a record is that of the creation of a batch.
func IsBatch(r *accounting.Record) bool { return r.Operation == accounting.OperationBatch }

// IsFile reports whether the record of a charge is that of the upload of a file with requests of a batch.
func IsFile(r *accounting.Record) bool { return r.Operation == translate.Manage.String() }

// NextAsk returns when the provider is asked for a deferred charge that is not known now.
func NextAsk(d *accounting.Deferred, now time.Time) time.Time {
	a := askingFor(&d.Record)
	return now.Add(min(max(now.Sub(d.Record.Admitted), a.first), a.longest))
}

// isDeferred reports whether the usage of the call becomes known after the answer, because the
// provider goes on to generate.
func (c call) isDeferred() bool {
	return c.result.Head.Object != "" && (!c.result.Whole() || c.reported() == 0)
}

// deferCall adds a call whose usage becomes known later. Until then, budgets hold the highest
// possible cost of the exchange; for ever, if nothing shows what was created.
func (e *Entry) deferCall(a *exchange.Attempt, c call) {
	held := accounting.Call{
		Provider: a.Provider, Model: a.Model, Answered: c.result.Head.AnsweredBy, Format: string(a.Format.Name),
		Status: c.result.Status, Source: accounting.SourceReserved,
	}
	if e.bound.Nanos > 0 {
		held.Held = e.bound.Cost
	}
	e.record.Calls = append(e.record.Calls, held)
	if _, defers := e.ledger.(accounting.DeferringLedger); !defers || c.result.Head.Object == "" {
		return
	}
	e.deferred = &accounting.Deferred{Account: seal.AccountOf(a.Provider, a.APIKey).String(), Object: c.result.Head.Object}
}

// deferRequests notes what the requests of a batch may cost that are in a file which the exchange has
// stored. Its record does not show that: they cost nothing before there is a batch.
func (e *Entry) deferRequests(ex *exchange.Exchange) {
	a, result := ex.Course.Attempt, ex.Course.Result
	if e == nil || result.Head.Object == "" || !result.Whole() {
		return
	}
	if _, defers := e.ledger.(accounting.DeferringLedger); !defers {
		return
	}
	requests := a.Object().Upload.Requests()
	e.deferred = &accounting.Deferred{Account: seal.AccountOf(a.Provider, a.APIKey).String(), Object: result.Head.Object}
	e.deferred.Record = accounting.Record{
		Model: requests.Asked,
		Calls: []accounting.Call{{
			Provider: a.Provider, Model: requests.Model, Format: string(a.Format.Name), Status: result.Status,
			Source: accounting.SourceReserved, Held: requests.Bound,
		}},
	}
	if requests.Volume != nil {
		e.deferred.Record.Calls = addVolume(e.deferred.Record.Calls, requests.Volume)
	}
}

// endDeferred keeps the deferred charge of a record that has ended, if it has one.
func (e *Entry) endDeferred() {
	if e.deferred == nil {
		return
	}
	d, a := *e.deferred, askingFor(&e.record)
	d.Record = e.record
	if file := &e.deferred.Record; file.Calls != nil {
		d.Record.Model, d.Record.Calls = file.Model, file.Calls
	}
	d.Due, d.Expires = time.Now().Add(a.first), time.Now().Add(a.wait)
	e.ledger.(accounting.DeferringLedger).Defer(d)
}

// Settled returns the calls of the record of a deferred charge, of which the last is known now: r is
// its result.
func Settled(pricer Pricer, d *accounting.Deferred, a *exchange.Attempt, r *exchange.Result) []accounting.Call {
	e := Entry{pricer: pricer, record: d.Record}
	last := len(d.Record.Calls) - 1
	e.bound, e.record.Calls = Bound{Cost: d.Record.Calls[last].Held}, slices.Clone(d.Record.Calls[:last])
	e.add(a, call{result: r, ex: a.Exchange, share: 1})
	return e.record.Calls
}

// Spent returns the cost of calls in a currency, held amounts included, in nanos.
func Spent(calls []accounting.Call, currency string) int64 {
	return (&Entry{record: accounting.Record{Calls: calls}}).spent(currency)
}
