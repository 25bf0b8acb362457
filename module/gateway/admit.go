package gateway

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// admit writes down that the exchange begins, and reserves what it may use of the limit
// of its key. The meter that it returns settles both, after a refusal too; the fault is
// nil if the exchange is admitted.
func (h *Handler) admit(s *sink.Sink, r *http.Request, m *catalog.Model) (meter.Meter, *fault.Fault) {
	ex := s.Exchange()
	entry, refused := h.users.Book.Begin(ex, h.resolved.catalog)
	estimate := limiting.Expected(ex, m)
	var reservation aigateway.Reservation
	if refused == nil && ex.Key.Limit != "" {
		reservation, refused = h.reserve(s, r, estimate)
	}
	return meter.New(estimate, reservation, entry), refused
}

// reserve reserves the estimate of the limit of the key.
func (h *Handler) reserve(s *sink.Sink, r *http.Request, estimate meter.Estimate) (aigateway.Reservation, *fault.Fault) {
	key := s.Exchange().Key
	limiter := h.resolved.limiters[key.Limit]
	if limiter == nil {
		h.logRefusedKey(s, key, "its limit '"+observe.Clip(key.Limit)+"' is not configured")
		return nil, fault.LimitUnknown()
	}
	return limiting.Reserve(limiter, s, r, estimate)
}
