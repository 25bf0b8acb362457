// Package failover asks the targets of a model one after the other, until one of them
// answers. A failed target is followed by another while the client has no part of an
// answer, and the model allows it.
package failover

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/renegotiation"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Site is what all exchanges of a site have in common.
type Site struct {
	Logger       *zap.Logger
	Drain        *drain.Drain
	Affinity     *affinity.Sources
	Ratios       *meter.Ratios
	Measure      func(*exchange.Exchange, *catalog.Model) catalog.Measure        // for models with an order
	AdmitCall    func(*reply.Reply, *http.Request, *catalog.Target) *fault.Fault // by the limits of a target that has some
	Queued       func(*exchange.Exchange) queue.Request                          // for providers with a queue
	Seals        func() *seal.Ring
	Cached       exchange.CachedAnswers // of models with a cache
	Deadline     time.Duration          // of an exchange with all its attempts; 0 for none
	DisableRetry bool                   // the last target is not asked a second time
	Answers      sink.Options
}

// Verdict is the result of all attempts of an exchange. At most one field is set; none is
// set if a target has answered, or the client has left.
type Verdict struct {
	Failed *exchange.Conduit // the failed attempt whose error the client gets
	Fault  *fault.Fault      // why no target was asked, or why the exchange was ended
}

// run is the state of the attempts of one exchange.
type run struct {
	site   *Site
	model  *catalog.Model
	ex     *exchange.Exchange
	reply  *reply.Reply
	client *http.Request // the request of the client
	checks *guardrails.Checks
	ctx    context.Context // of the calls

	candidates []selection.Candidate // that were not considered yet
	asked      []asked
	targets    int  // that were asked; one that is asked again counts once
	retried    bool // the last target is asked a second time
	verdict    Verdict
}

// asked is a candidate that was called, with its failed attempt.
type asked struct {
	*selection.Candidate
	failed *exchange.Conduit
}

// Ask asks the targets of a model in order until one answers. If none does, the verdict has
// the last attempt that got an HTTP answer, or the last attempt if none got one. If no
// target was asked, it has the reason why the first one was not.
//
// checks are those of the answer, nil for none.
func (s *Site) Ask(m *catalog.Model, answer *reply.Reply, r *http.Request, checks *guardrails.Checks) Verdict {
	x := &run{site: s, model: m, ex: answer.Exchange, reply: answer, client: r, checks: checks}
	x.choose()
	ctx, cancel := s.Drain.Bind(r.Context(), s.Deadline)
	x.ctx = ctx
	answers := s.Answers
	if x.ex.Request.InMessage { // a WebSocket has no proxies that give up on silence
		answers.CommitAfter, answers.KeepAlive = -1, -1
	}
	answer.Start(cancel, answers)
	for {
		t, retry := x.next()
		if t == nil {
			shortenWait(x.verdict.Failed, x.asked)
			return x.verdict
		}
		c, f := x.attempt(t, retry)
		if f != nil {
			x.passOver(t, exchange.Unsuitable, f)
			continue
		}
		leave := x.enter(t)
		if leave == nil {
			if x.ctx.Err() != nil && x.conclude(t, c) { // while the request has waited
				return x.verdict
			}
			continue
		}
		if len(t.Limits) > 0 && !x.admitCall(t) {
			leave()
			continue
		}
		t.Provider.Calls.Retries.Deposit()
		t, c = x.askOnce(t, c, leave)
		switch {
		case x.conclude(t, c):
			return x.verdict
		case c.Result.State == exchange.Unasked && c.Result.Fault.Kind == fault.Overloaded:
			x.passOver(t, exchange.Busy, c.Result.Fault)
		case c.Result.State == exchange.Unasked:
			x.passOver(t, exchange.Unsuitable, c.Result.Fault)
		default:
			x.fail(t, c)
			if !retry {
				x.targets++
			}
		}
	}
}

// fail records an attempt that has failed. An attempt with an error status takes precedence over one
// without, and a later attempt over an earlier one.
func (x *run) fail(t *selection.Candidate, c *exchange.Conduit) {
	x.reportFailure(t, c)
	x.asked = append(x.asked, asked{t, c})
	if last := x.verdict.Failed; last == nil || c.Result.Status >= 400 || last.Result.Status < 400 {
		x.verdict = Verdict{Failed: c}
	}
}

// shortenWait gives a failed attempt whose error the client gets the shortest time to wait of all targets
// that have refused the request for lack of room, since any of them may answer the next request. failed is nil
// if the gateway has ended the exchange, or asked no target.
func shortenWait(failed *exchange.Conduit, all []asked) {
	for _, a := range all {
		if kind := a.failed.Result.Fault.Kind; failed != nil && (kind == fault.RateLimited || kind == fault.Overloaded) {
			failed.Result.Head.ShortenWait(&a.failed.Result.Head)
		}
	}
}

// choose sets the candidates in the order in which they are asked; the package selection
// describes the order. It sets the session of the exchange if there is a choice of targets,
// API keys or addresses.
func (x *run) choose() {
	request := &x.ex.Request
	if x.model.Chooses() {
		body := request.Body
		if passthrough.IsForm(body) {
			body = nil // which has no members
		}
		x.ex.Session = x.site.Affinity.Session(x.ex.Tenant(), request.Client.Get, body)
	}
	var resting []catalog.Target
	var measure catalog.Measure
	if x.model.Order.Criterion != "" {
		measure = x.site.Measure(x.ex, x.model)
	}
	seeds := selection.Seeds{Session: x.ex.Session, Arm: x.model.Arm(x.ex.Key, x.ex.Session)}
	x.candidates, resting = selection.Order(x.model, request.View.Model, seeds, health.Process, measure)
	switch ids := x.sealedIDs(); {
	case len(ids) > 0:
		x.findObjects(ids)
		resting = nil
	case request.InMessage:
		x.candidates, resting = x.all(), nil
	}
	for _, t := range resting {
		x.ex.Course.PassOver(t.Provider.Name, t.UpstreamModel(request.View.Model), exchange.Rests)
	}
	relayed := slices.ContainsFunc(x.candidates, func(t selection.Candidate) bool {
		return slices.Contains(t.Provider.FormatsOf(t.TraitsOf(request.View.Model).ModelOf(t.Health.Model)), request.Format)
	})
	x.ex.Opening = exchange.NewOpening(x.ex, !relayed)
}

// next returns the next candidate that may be asked after the attempts so far, nil for
// none. Another API key of a target may be asked if the last key caused the failure;
// another target if the model allows it. After all candidates, the last one that was asked
// comes a second time, if its failure cost nothing and may be over soon, and the retry
// budget of its provider allows it. retry reports whether the target was asked before.
func (x *run) next() (t *selection.Candidate, retry bool) {
	for len(x.candidates) > 0 {
		t, x.candidates = &x.candidates[0], x.candidates[1:]
		if len(x.asked) == 0 {
			return t, false
		}
		last := x.asked[len(x.asked)-1].failed
		allowed := x.targets < x.model.Attempts && x.model.Fallback.After(&last.Attempt, &last.Result)
		retry = false // the candidates before this one were passed over
		for _, earlier := range x.asked {
			if t.SameTarget(earlier.Candidate) {
				allowed, retry = health.BlamesKey(&earlier.failed.Attempt, &earlier.failed.Result), true
			}
		}
		if allowed {
			return t, retry
		}
	}
	if len(x.asked) == 0 || x.retried || x.site.DisableRetry || x.ex.Request.InMessage {
		return nil, false
	}
	last := x.asked[len(x.asked)-1]
	wait, ok := retryWait(&last.failed.Result)
	if !ok || !last.Provider.Calls.Retries.Withdraw() {
		return nil, false
	}
	x.retried = true
	pause(x.ctx, wait)
	if x.conclude(last.Candidate, last.failed) {
		return nil, false
	}
	return last.Candidate, true
}

const (
	longestRetryWait = 5 * time.Second
	reconnectWait    = 250 * time.Millisecond // before a provider that could not be reached is called again
)

// retryWait returns the time to wait before a failed call is repeated. ok reports whether
// the call may be repeated: the failed call cannot have been charged, and the provider
// asks for at most longestRetryWait. A stream that ends with an overload before content may
// have been charged; one that ends with a rate limit was never begun.
func retryWait(result *exchange.Result) (wait time.Duration, ok bool) {
	switch {
	case result.Status == 0:
		return reconnectWait, !result.Sent && result.Fault.Kind == fault.BadGateway
	case result.Fault.Kind == fault.RateLimited, result.Fault.Kind == fault.Overloaded:
		wait = result.Head.RetryAfter()
		answered := result.Status == http.StatusOK && result.Fault.Kind == fault.Overloaded
		return wait, wait > 0 && wait <= longestRetryWait && !answered
	}
	return 0, false
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// attempt returns the attempt to ask a candidate. It returns a fault if the request can be
// neither relayed to the target nor translated for it, or if it is a request to count tokens
// and the provider does not answer it in the format.
func (x *run) attempt(t *selection.Candidate, retry bool) (*exchange.Conduit, *fault.Fault) {
	ex, request := x.ex, &x.ex.Request
	traits := t.TraitsOf(request.View.Model)
	spoken := t.Provider.FormatAt(request.Format, request.Operation)
	switch {
	case !request.Operation.Untranslated():
		spoken = renegotiation.FormatFor(t.Provider, t.Health.Model, request.Format, traits)
	case spoken == nil:
		return nil, fault.NoEndpoint(request.View.Model, request.Format.Client.PathOf(request.Operation))
	}
	if spoken != nil && request.View.Schema != "" {
		spoken = t.Provider.SpeakSchemaFor(traits.ModelOf(t.Health.Model), request.Format, spoken, traits)
	}
	switch {
	case request.Operation == translate.CountTokens &&
		(spoken == nil || spoken.Answers.TokenCount == nil || t.Provider.Calls.Uncounted.Has(t.Health.Model)):
		return nil, fault.NoTokenCount(request.View.Model)
	case request.InMessage && spoken != request.Format:
		return nil, fault.NotOnSocket(request.View.Model)
	case spoken == nil:
		return nil, fault.Untranslatable(request.Format.Name, request.View.Model, t.Provider.Formats[0].Name)
	}
	if ex.Objects == nil && (traits.SealsObjects() || traits.SealsFiles()) {
		ex.Objects = &exchange.Objects{IDs: x.objectIDs()}
	}
	return &exchange.Conduit{Attempt: exchange.Attempt{
		Exchange: ex,
		Provider: t.Provider.Name,
		Service:  t.Provider.Preset,
		Format:   spoken,
		Model:    t.Health.Model,
		APIKey:   t.APIKey,
		Choice:   x.choice(t, retry),
		Cache:    x.cache(),
		Traits:   renegotiation.TraitsFor(t.Provider, t.Health.Model, spoken, traits),
	}}, nil
}

// choice returns why a candidate is asked now.
func (x *run) choice(t *selection.Candidate, retry bool) exchange.Choice {
	switch {
	case retry:
		return exchange.Repeated
	case len(x.asked) > 0:
		return exchange.Fallback
	case x.verdict.Fault != nil: // of a candidate that was passed over
		return exchange.ChoiceOver(x.ex.Course.PassedOver[len(x.ex.Course.PassedOver)-1].Reason)
	case x.ex.Request.InMessage:
		return exchange.OfConnection
	case x.ex.Objects != nil && len(x.ex.Request.View.Beyond.ObjectIDs()) > 0:
		return exchange.ByObject
	}
	return t.Choice
}

// cache returns the cache of answers for an attempt; nil if the model has none, or the request
// excludes it.
func (x *run) cache() *exchange.Cache {
	if x.model.Cache == nil {
		return nil
	}
	cache := x.model.Cache.For(x.ex, x.site.Cached)
	if cache == nil {
		x.reply.SetHeaders(exchange.CacheHeader, exchange.CacheBypass)
	}
	return cache
}

// conclude ends the exchange after an attempt if the process shuts down, the deadline is
// over, the client has left, or content was sent. It then sets the verdict, and returns
// true. It reports an answer of a candidate that broke off after content.
func (x *run) conclude(t *selection.Candidate, c *exchange.Conduit) bool {
	result := &c.Result
	switch cause := context.Cause(x.ctx); {
	case errors.Is(cause, drain.ErrShuttingDown) && !result.Whole():
		x.verdict = Verdict{Fault: fault.ShuttingDown()}
	case errors.Is(cause, drain.ErrDeadline) && !result.Whole():
		x.verdict = Verdict{Fault: fault.UpstreamTimeout(cause)}
	case x.reply.Abandon(x.ctx):
		x.verdict = Verdict{}
	case x.reply.Over():
		if t != nil && !result.Whole() && x.ex.Delivery.Fault == nil { // else the gateway itself has ended the answer
			x.reportFailure(t, c)
		}
		x.reply.Finish(result)
		x.verdict = Verdict{}
	default:
		return false
	}
	return true
}

// passOver records why a candidate was not asked. Only the first fault counts, and only
// while no target was asked.
func (x *run) passOver(t *selection.Candidate, why exchange.Reason, f *fault.Fault) {
	x.ex.Course.PassOver(t.Provider.Name, t.Health.Model, why)
	if x.verdict.Failed == nil {
		x.verdict.Fault = cmp.Or(x.verdict.Fault, f)
	}
}

// admitCall reserves the call of a candidate in the limits of its target. If they refuse it, admitCall
// passes over the target, and returns false. If no target is asked, the client gets the first of these
// refusals, even if another target could not take the request at all.
func (x *run) admitCall(t *selection.Candidate) bool {
	refused := x.site.AdmitCall(x.reply, x.client, t.Target)
	if refused == nil {
		return true
	}
	x.candidates = slices.DeleteFunc(x.candidates, func(other selection.Candidate) bool { return t.SameTarget(&other) })
	x.ex.Course.PassOver(t.Provider.Name, t.Health.Model, exchange.Limited)
	x.refuse(refused)
	return false
}

// refuse sets the verdict to a refusal of a limit, unless a target was asked or another limit has refused.
func (x *run) refuse(f *fault.Fault) {
	if x.verdict.Failed == nil && (x.verdict.Fault == nil || !x.verdict.Fault.OfLimit()) {
		x.verdict = Verdict{Fault: f}
	}
}
