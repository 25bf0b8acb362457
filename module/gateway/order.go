package gateway

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
)

// measure returns the measure by which the targets of a model are ordered for a request, nil for the
// order of the configuration.
func (h *Handler) measure(ex *exchange.Exchange, m *catalog.Model) catalog.Measure {
	switch m.Order.By {
	case catalog.OrderByLatency:
		return catalog.ByLatency(ex.View.Model, ex.Format.Name)
	case catalog.OrderByCost:
		return h.resolved.catalog.ByCost(ex.View.Model, limits.TypicalCharge(ex))
	}
	return nil
}
