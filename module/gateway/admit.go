package gateway

import (
	"cmp"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// admit reserves the estimated usage in the limits of the key, and begins the record of
// the exchange. The reply settles both, after a refusal too. The fault is nil if the exchange
// is admitted. m is nil for an exchange that uses no model.
func (h *Handler) admit(to *reply.Reply, r *http.Request, m *catalog.Model) *fault.Fault {
	var (
		estimate    meter.Estimate
		reservation aigateway.Reservation
		refused     *fault.Fault
		ex          = to.Exchange
		limits      = h.resolved.limits.Of(ex.Key)
	)
	if limits == nil {
		h.logRefusedKey(ex, ex.Key, observe.Clip(h.resolved.limits.Problem(ex.Key).Error()))
		refused = fault.LimitUnknown()
	} else if estimate, refused = limits.Expect(ex, m, h.resolved.catalog); refused == nil && !limits.Empty() {
		reservation, refused = limits.Reserve(to, r, estimate)
	}
	entry, unrecorded := h.backends.Book.Begin(ex, h.resolved.catalog, estimate.Cost, limits != nil && limits.NeedsLedger())
	to.Charge(meter.New(estimate, reservation, entry))
	return cmp.Or(refused, unrecorded)
}
