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
	ex.Counted = true
	metrics.BeginExchange(string(ex.Format.Name))
}

// count counts the exchange, with its calls and their usage.
func (e *Ended) count() {
	ex := e.Exchange
	metrics.EndExchange(metrics.Exchange{
		Format: string(ex.Format.Name), Model: ex.Covering, Provider: e.Provider, Outcome: string(ex.Outcome), Duration: e.Took,
	})
	countCalls(ex)
	if ex.Attempt != nil && ex.Attempt.Choice != exchange.First {
		metrics.Choice(ex.Covering, e.Provider, ex.Attempt.Choice.String())
	}
	for i := range e.Used {
		countUsage(ex.Covering, &e.Used[i])
	}
	countLosses(ex)
	if ex.Fault != nil && ex.Fault.Unpriced() {
		announceRefusal(ex.Covering, ex.Fault)
	}
}

// countCalls counts the calls of providers, and each change from one to another.
func countCalls(ex *exchange.Exchange) {
	for i := range ex.Calls {
		c := &ex.Calls[i]
		metrics.Attempt(c.Provider, ex.Covering, string(c.End))
		if !c.Began.IsZero() {
			metrics.FirstEvent(ex.Covering, c.Provider, c.Began.Sub(c.Called))
		}
		if i > 0 && ex.Calls[i-1].Provider != c.Provider && ex.Calls[i-1].End != exchange.CallLost {
			fellBack(ex.Covering, &ex.Calls[i-1], c.Provider)
		}
	}
	if len(ex.Calls) > 0 && !ex.Calls[0].Called.IsZero() {
		metrics.Overhead(string(ex.Format.Name), ex.Calls[0].Called.Sub(ex.Start)-ex.Received)
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
	a := ex.Attempt
	if a == nil || ex.FirstByte.IsZero() {
		return
	}
	count(a, ex.Format.Name, a.Format.Name, ex.Result.Losses)
	count(a, a.Format.Name, ex.Format.Name, ex.Result.Dropped)
}

func count(a *exchange.Attempt, source, target translate.Format, losses translate.Losses) {
	for _, loss := range losses {
		metrics.Loss(a.Provider, string(source), string(target), loss.Class.String(), loss.Name())
	}
}
