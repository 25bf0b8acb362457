package gateway

import (
	"cmp"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// admit reserves the estimated usage in the limits of the key, and begins the record of
// the exchange. The reply settles both, after a refusal too. The fault is nil if the exchange
// is admitted; admitted then is m with the targets that may be asked. m is nil for an exchange
// that uses no model.
func (h *handler) admit(answer *reply.Reply, r *http.Request, m *catalog.Model) (admitted *catalog.Model, refused *fault.Fault) {
	ex, chain := answer.Exchange, h.resolved.limits.For(answer.Exchange.Key, answer.Exchange.Request.View.Model)
	a := limits.Admitted{Model: m}
	if chain == nil {
		h.logRefusedKey(ex, ex.Key, observe.Clip(h.resolved.limits.Problem(ex.Key).Error()))
		refused = fault.LimitUnknown()
	} else {
		a, refused = chain.Admit(answer, r, m, h.resolved.catalog)
	}
	bound, needed := h.resolved.limits.Calls.Bound(ex, m, h.resolved.catalog)
	if a.Estimate.Cost.Currency != "" {
		bound = a.Estimate.Cost
	}
	entry, unrecorded := h.backends.Book.Begin(ex, h.resolved.catalog, meter.Bound{Cost: bound}, needed || chain != nil && chain.NeedsLedger())
	answer.Charge(meter.New(a.Estimate, a.Reservation, entry))
	return a.Model, cmp.Or(refused, unrecorded)
}

// admitCall reserves a call of a target that has limits.
func (r *resolved) admitCall(answer *reply.Reply, client *http.Request, t *catalog.Target) *fault.Fault {
	return r.limits.Calls.Admit(answer, client, t, r.catalog)
}

// callAdmission returns the function that reserves calls of targets that have limits.
func callAdmission(h *handler) func(*reply.Reply, *http.Request, *catalog.Target) *fault.Fault {
	return func(answer *reply.Reply, r *http.Request, t *catalog.Target) *fault.Fault {
		return h.resolved.admitCall(answer, r, t)
	}
}

// admitAt admits an exchange whose only target is known: in the limits of its key, and in those of the target.
func admitAt(h *handler, answer *reply.Reply, r *http.Request, t *catalog.Target) *fault.Fault {
	_, refused := h.admit(answer, r, &catalog.Model{Targets: []catalog.Target{*t}})
	if refused == nil {
		refused = h.resolved.admitAlone(answer, r, t)
	}
	return refused
}

// admitAlone reserves a call of the only target that may be asked in its limits, if it has some.
func (r *resolved) admitAlone(answer *reply.Reply, client *http.Request, t *catalog.Target) *fault.Fault {
	if len(t.Limits) == 0 {
		return nil
	}
	return r.admitCall(answer, client, t)
}

// measure returns the measure by which the targets of a model are ordered for a request.
func (h *handler) measure(ex *exchange.Exchange, m *catalog.Model) catalog.Measure {
	return h.resolved.catalog.Measure(m, ex.Request.View.Model, ex.Request.Format.Name, limits.TypicalCharge(ex))
}
