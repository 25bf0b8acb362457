package gateway

import (
	"cmp"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// admit reserves the estimated usage in the limits of the key, and begins the record of
// the exchange. The reply settles both, after a refusal too. The fault is nil if the exchange
// is admitted; admitted then is m with the targets that may be asked. m is nil for an exchange
// that uses no model.
func (h *Handler) admit(to *reply.Reply, r *http.Request, m *catalog.Model) (admitted *catalog.Model, refused *fault.Fault) {
	ex, chain := to.Exchange, h.resolved.limits.Of(to.Exchange.Key)
	a := limits.Admitted{Model: m}
	if chain == nil {
		h.logRefusedKey(ex, ex.Key, observe.Clip(h.resolved.limits.Problem(ex.Key).Error()))
		refused = fault.LimitUnknown()
	} else {
		a, refused = chain.Admit(to, r, m, h.resolved.catalog)
	}
	entry, unrecorded := h.backends.Book.Begin(ex, h.resolved.catalog, a.Estimate.Cost, chain != nil && chain.NeedsLedger())
	to.Charge(meter.New(a.Estimate, a.Reservation, entry))
	return a.Model, cmp.Or(refused, unrecorded)
}

// measure returns the measure by which the targets of a model are ordered for a request.
func (h *Handler) measure(ex *exchange.Exchange, m *catalog.Model) catalog.Measure {
	return h.resolved.catalog.Measure(m, ex.View.Model, ex.Format.Name, limits.TypicalCharge(ex))
}
