package observe

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Begin counts an exchange as running, until it is shown as ended.
func Begin(ex *exchange.Exchange) {
	ex.Request.Counted = true
	metrics.BeginExchange(string(ex.Request.Format.Name))
}

// count counts the exchange, with its calls and their usage.
func (e *Ended) count() {
	ex := e.Exchange
	metrics.EndExchange(metrics.Exchange{
		Format: string(ex.Request.Format.Name), Model: ex.Covering, Provider: e.Provider,
		Outcome: string(ex.Delivery.Outcome), Duration: e.Took,
	})
	countCalls(ex)
	if ex.Course.Attempt != nil && ex.Course.Attempt.Choice != exchange.First {
		metrics.Choice(ex.Covering, e.Provider, ex.Course.Attempt.Choice.String())
	}
	for i := range e.Used {
		countUsage(ex.Covering, &e.Used[i])
	}
	countLosses(ex)
	if ex.Delivery.Fault != nil && ex.Delivery.Fault.Unpriced() {
		announceRefusal(ex.Covering, ex.Delivery.Fault)
	}
}

// countCalls counts the calls of providers, and each change from one to another.
func countCalls(ex *exchange.Exchange) {
	calls := ex.Course.Calls
	for i := range calls {
		c := &calls[i]
		metrics.Attempt(c.Provider, ex.Covering, string(c.End))
		if !c.Began.IsZero() {
			metrics.FirstEvent(ex.Covering, c.Provider, c.Began.Sub(c.Called))
		}
		if i > 0 && calls[i-1].Provider != c.Provider && calls[i-1].End != exchange.CallLost {
			fellBack(ex.Covering, &calls[i-1], c.Provider)
		}
	}
	if len(calls) > 0 && !calls[0].Called.IsZero() {
		metrics.Overhead(string(ex.Request.Format.Name), calls[0].Called.Sub(ex.Start)-ex.Request.Received)
	}
}

// fellBack counts that another provider was asked after a failed call, and emits an event.
func fellBack(model string, failed *exchange.CallSummary, next string) {
	metrics.Fallback(model, failed.Provider, string(failed.End))
	events.Emit(events.Fallback, map[string]any{"model": model, "from": failed.Provider, "to": next, "cause": string(failed.End)})
}

// countUsage counts the usage of a call.
func countUsage(model string, c *accounting.Call) {
	u := metrics.Usage{
		Provider: c.Provider, Model: model, Source: c.Source.String(),
		Counts: c.Tokens,
		Priced: c.Priced(),
	}
	if c.Source == accounting.SourceCached {
		u.Counts = token.Counts{} // no provider has used them
	}
	if c.Cost.Currency == usDollar {
		u.USD, u.Saved = float64(c.Cost.Nanos)/nanosPerUnit, float64(c.Saved)/nanosPerUnit
	}
	if !u.Priced && c.Model != "" {
		announceUnpriced(c.Provider, model, c.Model, "")
	}
	metrics.Use(u)
}

// countLosses counts the losses in the request and in the answer of an answered exchange.
func countLosses(ex *exchange.Exchange) {
	a := ex.Course.Attempt
	if a == nil || ex.Delivery.FirstByte.IsZero() {
		return
	}
	count(a, ex.Request.Format.Name, a.Format.Name, ex.Course.Result.Lane.Losses)
	count(a, a.Format.Name, ex.Request.Format.Name, ex.Course.Result.Lane.Dropped)
}

func count(a *exchange.Attempt, source, target translate.Format, losses translate.Losses) {
	for _, loss := range losses {
		metrics.Loss(a.Provider, string(source), string(target), loss.Class.String(), loss.Name())
	}
}
