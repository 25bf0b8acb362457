package gateway

import (
	"cmp"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// admit reserves the estimated usage in the limits of the key, and begins the record of
// the exchange. The returned meter settles both, after a refusal too. The fault is nil if
// the exchange is admitted.
func (h *Handler) admit(to *reply.Reply, r *http.Request, m *catalog.Model) (meter.Meter, *fault.Fault) {
	ex := to.Exchange
	limits := h.resolved.limits.Of(ex.Key)
	estimate, reservation, refused := h.reserve(limits, to, r, m)
	entry, unrecorded := h.users.Book.Begin(ex, h.resolved.catalog, estimate.Cost, limits != nil && limits.NeedsLedger())
	return meter.New(estimate, reservation, entry), cmp.Or(refused, unrecorded)
}

// reserve estimates the usage of the exchange, and reserves it in the limits of the key.
// limits is nil if the key names a limit that is not configured.
func (h *Handler) reserve(limits *limiting.Chain, to *reply.Reply, r *http.Request, m *catalog.Model) (e meter.Estimate, _ aigateway.Reservation, refused *fault.Fault) {
	ex := to.Exchange
	if limits == nil {
		h.logRefusedKey(to, ex.Key, "its limit '"+observe.Clip(ex.Key.Limit)+"' is not configured")
		return e, nil, fault.LimitUnknown()
	}
	e, refused = limits.Expect(ex, m, h.resolved.catalog)
	if refused != nil || limits.Empty() {
		return e, nil, refused
	}
	reservation, refused := limits.Reserve(to, r, e)
	return e, reservation, refused
}
