package failover

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover/renegotiation"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// ask calls a target. If the provider refuses the request for its format, for the reasoning
// of earlier turns, or for its demand for encrypted reasoning, ask repeats the call once
// with an alternative. It returns the conduit of the call whose result counts.
func (x *run) ask(t *selection.Candidate, c *exchange.Conduit) *exchange.Conduit {
	x.call(t, c)
	d := renegotiation.After(t.Provider, c)
	if d.Format == nil || x.ex.InMessage && d.Format != x.ex.Format {
		return c
	}
	alternative := d.Around(&c.Attempt)
	teaches := d.Teaches(&c.Attempt)
	x.call(t, alternative)
	switch {
	case c.Result.State == exchange.Unasked:
	case alternative.Result.State == exchange.Unasked:
		x.reply.Next(c, x.targets)
		return c
	case teaches && d.Proves(&c.Result, &alternative.Result):
		if d.Learn(t.Provider, &c.Attempt) {
			x.reportLearned(c, d)
		}
	default:
		x.reportFailure(t, c)
	}
	return alternative
}

// call makes one call of an attempt. The result has either an answer, which was sent,
// or a fault. The deferred function hands the result to all that follow the calls of
// providers, also after a panic.
func (x *run) call(t *selection.Candidate, c *exchange.Conduit) {
	a, result := &c.Attempt, &c.Result
	c.Started = time.Since(x.ex.Start)
	x.reply.Next(c, x.targets)
	x.reportModelEnd(t, x.ex.Start.Add(c.Started))
	visit, ok := health.Process.Begin(t.Health, t.Provider.MaxRunning)
	if !ok {
		result.State, result.Fault = exchange.Unasked, fault.ProviderBusy(x.ex.View.Model)
		return
	}
	var size *token.Size // of the request; nil if the ratios learn nothing from it
	defer func() {
		x.Ratios.Learn(c, size)
		x.ex.End(c)
		x.noteLatency(t, result)
		outcome := health.OutcomeOf(a, result)
		if change := visit.End(outcome, t.Provider.Rests); change != health.Same {
			x.reportHealth(t, outcome, change)
		}
	}()
	if a.Traits.EstimateInputTokens {
		a.BytesPerToken = x.Ratios.BytesPerToken(meter.Model{Provider: a.Provider, Name: a.Model})
	}
	if !a.ByteLane() && a.Seals == nil {
		a.Seals = x.Seals().For(a.Provider, x.ex.Tenant())
	}
	size = x.Ratios.Measure(a)
	ctx, span := tracing.StartCall(x.ctx, a)
	defer span.End(c)
	err := x.receive(ctx, t, c)
	if result.Fault == nil && !result.Whole() && !x.left() {
		result.Fail(unexplained(err, x.ex.View.Model))
	}
}

// noteLatency records how fast a stream began, for a model whose targets are ordered by that. One that
// was given up after a timeout counts as if it had begun then: otherwise a target that hangs would stay
// as fast as it once was.
func (x *run) noteLatency(t *selection.Candidate, result *exchange.Result) {
	if x.model.Order.By != catalog.OrderByLatency || result.Called.IsZero() {
		return
	}
	began := result.Began
	if began.IsZero() && result.Fault != nil && result.Fault.Kind == fault.Timeout {
		began = time.Now()
	}
	if !began.IsZero() {
		health.FirstContent.Note(t.Stream(x.ex.View.Model, x.ex.Format.Name), result.Called, began)
	}
}

// left reports whether the calls have ended because the client has left, and not because the
// gateway ends them.
func (x *run) left() bool {
	_, ending := context.Cause(x.ctx).(exchange.EndCause)
	return x.ctx.Err() != nil && !ending
}

// receive calls a provider. Its answer goes to the reply, through the checks of the exchange if
// there are any.
func (x *run) receive(ctx context.Context, t *selection.Candidate, c *exchange.Conduit) error {
	if x.checks == nil {
		return t.Provider.Caller.Call(ctx, c, x.reply, x.client)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	checked := x.checks.Receiver(x.client.Context(), x.reply, stop)
	if checked == nil {
		return t.Provider.Caller.Call(ctx, c, x.reply, x.client)
	}
	defer checked.Close()
	return t.Provider.Caller.Call(ctx, c, checked, x.client)
}

// unexplained returns the fault of a call for which the transport has set none:
// reverse_proxy found no address, or failed before it called the transport.
func unexplained(err error, model string) *fault.Fault {
	if err == nil {
		err = errors.New("the call returned without an answer")
	}
	var handled caddyhttp.HandlerError
	if errors.As(err, &handled) && handled.StatusCode == http.StatusServiceUnavailable {
		f := fault.NoUpstream(model)
		f.Cause = err
		return f
	}
	return fault.InternalError(err)
}
