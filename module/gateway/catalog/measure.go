package catalog

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Measure returns the value of a target, of which the lowest is the best. ok is false if it is
// unknown.
type Measure func(t *Target) (value int64, ok bool)

// ByLatency measures the median time to the first content of streams for clients of a format. name
// is the name that the client used.
func ByLatency(name string, client translate.Format) Measure {
	return func(t *Target) (int64, bool) {
		median, ok := health.FirstContent.Median(t.Stream(name, client))
		return int64(median), ok
	}
}

// Stream returns what identifies the streams of t for clients of a format.
func (t *Target) Stream(name string, client translate.Format) health.Stream {
	return health.Stream{Provider: t.Provider.Service, Model: t.UpstreamModel(name), Format: client}
}

// ByCost measures the cost of a charge at each target. name is the name that the client used. Prices in
// another currency than that of the first target with a price cannot be compared: they are unknown.
func (c *Catalog) ByCost(name string, charge func(*Target) prices.Charge) Measure {
	currency, now := "", time.Now()
	return func(t *Target) (int64, bool) {
		price := c.Price(name, t.Provider.Name, t.UpstreamModel(name), now)
		if price == nil || currency != "" && price.Currency != currency {
			return 0, false
		}
		currency = price.Currency
		what := charge(t)
		what.Admitted = now
		cost, ok := price.Cost(what)
		return cost.Nanos, ok
	}
}
