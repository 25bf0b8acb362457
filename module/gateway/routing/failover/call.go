package failover

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/renegotiation"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// ask calls a target. If the provider refuses the request for its format, for the reasoning
// of earlier turns, or for its demand for encrypted reasoning, ask repeats the call once
// with an alternative. It returns the target and the conduit of the call whose result counts.
// If the model hedges, they may be those of a second target.
func (x *run) ask(t *selection.Candidate, c *exchange.Conduit, leave func()) (*selection.Candidate, *exchange.Conduit) {
	r := newRace(x, t, c, leave)
	if r != nil {
		defer r.stop()
	}
	x.call(t, c, r)
	if r != nil && r.passesOn() {
		return r.passOn(t)
	}
	return t, x.renegotiate(t, c)
}

// renegotiate repeats a call that was refused for a reason which an alternative removes. It returns the
// conduit of the call whose result counts.
func (x *run) renegotiate(t *selection.Candidate, c *exchange.Conduit) *exchange.Conduit {
	d := renegotiation.After(t.Provider, c)
	if d.Format == nil || x.ex.Request.InMessage && d.Format != x.ex.Request.Format {
		return c
	}
	alternative := d.Around(&c.Attempt)
	teaches := d.Teaches(&c.Attempt)
	x.call(t, alternative, nil)
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
// or a fault. race is the race of the call, nil for nearly all calls.
func (x *run) call(t *selection.Candidate, c *exchange.Conduit, race *race) {
	c.Started = time.Since(x.ex.Start)
	x.reply.Next(c, x.targets)
	p, ok := place(x, t, c)
	if !ok {
		return
	}
	defer p.end(x)
	ctx, span := tracing.StartCall(x.ctx, &c.Attempt)
	defer span.End(c)
	var err error
	if race != nil {
		err = race.receive(ctx, t)
	} else {
		err = x.receive(ctx, t, c)
	}
	explain(x, c, err)
}

// placed is a call that is being made.
type placed struct {
	target *selection.Candidate
	call   *exchange.Conduit
	visit  health.Visit
	size   *token.Size // of the request; nil if the ratios learn nothing from it
}

// place prepares a call. ok is false if the provider has as many calls as it may have.
func place(x *run, t *selection.Candidate, c *exchange.Conduit) (p placed, ok bool) {
	a := &c.Attempt
	x.reportModelEnd(t, x.ex.Start.Add(c.Started))
	p = placed{target: t, call: c}
	bound := t.Provider.Calls.MaxRunning
	if t.Provider.Calls.Queue != nil { // which has given the call a slot
		bound = 0
	}
	if p.visit, ok = health.Process.Begin(t.Health, bound); !ok {
		c.Result.State, c.Result.Fault = exchange.Unasked, fault.ProviderBusy(x.ex.Request.View.Model)
		return p, false
	}
	if a.Traits.EstimateInputTokens {
		a.BytesPerToken = x.site.Ratios.BytesPerToken(meter.Model{Provider: a.Provider, Name: a.Model})
	}
	if !a.ByteLane() && a.Seals == nil {
		a.Seals = x.site.Seals().For(a.Provider, x.ex.Tenant())
	}
	p.size = x.site.Ratios.Measure(a)
	return p, true
}

// end ends the call of the current attempt, also after a panic.
func (p *placed) end(x *run) {
	x.ex.Course.End(p.call)
	p.learn(x)
}

// learn hands the result of a call to all that follow the calls of providers.
func (p *placed) learn(x *run) {
	x.site.Ratios.Learn(p.call, p.size)
	x.noteLatency(p.target, p.call)
	outcome := health.OutcomeOf(&p.call.Attempt, &p.call.Result)
	if cutShort(x, p.call) {
		outcome = health.Outcome{}
	}
	if x.ex.Key.ID == accounting.MirrorKey { // of a copy, by which no target rests for clients
		pauseCopies(p.target, outcome)
		outcome = health.Outcome{}
	}
	if change := p.visit.End(outcome, p.target.Provider.Calls.Rests); change != health.Same {
		x.reportHealth(p.target, outcome, change)
	}
}

// explain sets the fault of a call that has neither an answer nor a fault.
func explain(x *run, c *exchange.Conduit, err error) {
	if c.Result.Fault == nil && !c.Result.Whole() && !c.Result.Reading.Lost && !x.left() {
		c.Result.Fail(unexplained(x.ctx, err, x.ex.Request.View.Model))
	}
}

// cutShort reports whether the deadline of the exchange has ended a call that shows nothing of its target: it
// had content, or less than half of the time, because the rest went to earlier targets or a queue.
func cutShort(x *run, c *exchange.Conduit) bool {
	f := c.Result.Fault
	return f != nil && errors.Is(f.Cause, drain.ErrDeadline) &&
		(!c.Result.Times.Began.IsZero() || time.Since(x.ex.Start)-c.Started < x.site.Deadline/2)
}

// noteLatency records how fast a stream began, for a model whose targets are ordered by that. One that
// was given up after a timeout, or for a faster one, counts as if it had begun then: otherwise a target
// that hangs would stay as fast as it once was. An answer without content is none that a client waits for.
func (x *run) noteLatency(t *selection.Candidate, c *exchange.Conduit) {
	result := &c.Result
	if x.model.Order.Criterion != catalog.OrderByLatency || result.Times.Called.IsZero() ||
		x.ex.Request.Operation == translate.Generate && result.Empty() {
		return
	}
	began := result.Times.Began
	if began.IsZero() && (result.Reading.Lost || result.Fault != nil && result.Fault.Kind == fault.Timeout && !cutShort(x, c)) {
		began = time.Now()
	}
	if !began.IsZero() {
		health.FirstContent.Note(t.Stream(x.ex.Request.View.Model, x.ex.Request.Format.Name), result.Times.Called, began)
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

// unexplained returns the fault of a call for which the transport has set none: the deadline of the exchange
// has ended it, reverse_proxy found no address, or reverse_proxy failed before it called the transport.
func unexplained(ctx context.Context, err error, model string) *fault.Fault {
	if cause := context.Cause(ctx); errors.Is(cause, drain.ErrDeadline) {
		return fault.UpstreamTimeout(cause)
	}
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
