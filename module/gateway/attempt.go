package gateway

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/choice"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// call makes one call of an attempt. The result has either an answer, which the sink has
// sent, or a fault.
func (h *Handler) call(t choice.Candidate, s *sink.Sink, r *http.Request, c *exchange.Conduit) *exchange.Result {
	visit, ok := health.Process.Begin(t.Health, t.Provider.MaxRunning)
	if !ok {
		c.Result.State, c.Result.Fault = exchange.Unasked, fault.ProviderBusy(s.Exchange().View.Model)
		return &c.Result
	}
	var size *token.Size
	defer func() { h.callEnded(c, size, t, visit) }()
	h.equip(&c.Attempt)
	size = h.ratios.Measure(&c.Attempt)
	ctx, span := tracing.StartCall(r.Context(), &c.Attempt)
	defer span.End(c)
	err := t.Provider.Caller.Call(s, r.WithContext(exchange.WithConduit(ctx, c)))
	if c.Result.Fault == nil && !c.Result.Whole() {
		c.Result.Fail(unexplained(err, s.Exchange().View.Model))
	}
	return &c.Result
}

// equip sets the fields of an attempt that a translation may need: the learned bytes per
// token, and the sealer of reasoning.
func (h *Handler) equip(a *exchange.Attempt) {
	if a.Traits.EstimateInputTokens {
		a.BytesPerToken = h.ratios.BytesPerToken(meter.Model{Provider: a.Provider, Name: a.Model})
	}
	if !a.ByteLane() && a.Seals == nil {
		a.Tenant = tenantOf(a.Exchange.Key)
		a.Seals = h.seals().For(a.Provider, a.Tenant)
	}
}

// callEnded hands the result of a call to the ratios of tokens, the record, and the
// health of the target. size is the size of the request, nil if the ratios learn nothing
// from it.
func (h *Handler) callEnded(c *exchange.Conduit, size *token.Size, t choice.Candidate, v health.Visit) {
	h.ratios.Learn(c, size)
	if c.Result.State != exchange.Unasked {
		ex := c.Attempt.Exchange
		ex.Calls = append(ex.Calls, c.Summary())
	}
	outcome := health.OutcomeOf(&c.Attempt, &c.Result)
	h.showHealth(t, outcome, v.End(outcome, t.Provider.Rests))
}

// tenantOf returns the tenant of a key: its user, so that all keys of a user share
// sealed reasoning, or the key itself.
func tenantOf(key *aigateway.Key) string { return cmp.Or(key.Subject, key.ID) }

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
