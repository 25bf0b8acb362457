package catalog

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Measure returns the value of a target, of which the lowest is the best. ok is false if it is
// unknown.
type Measure func(t *Target) (value int64, ok bool)

// Measure returns the measure by which the targets of a model are ordered, for the name that a client
// used and its format; nil for the order of the configuration. charge is what the request determines of
// its cost at a target.
func (c *Catalog) Measure(m *Model, name string, client translate.Format, charge func(*Target) prices.Charge) Measure {
	switch m.Order.Criterion {
	case OrderByLatency:
		return byLatency(name, client)
	case OrderByCost:
		return c.byCost(name, charge)
	}
	return nil
}

// byLatency measures the median time to the first content of streams.
func byLatency(name string, client translate.Format) Measure {
	return func(t *Target) (int64, bool) {
		median, ok := health.FirstContent.Median(t.Stream(name, client))
		return int64(median), ok
	}
}

// Stream returns what identifies the streams of t for clients of a format.
func (t *Target) Stream(name string, client translate.Format) health.Stream {
	return health.Stream{Provider: t.Provider.Service, Model: t.UpstreamModel(name), Format: client}
}

// byCost measures the cost of a charge at each target. Prices in another currency than that of the first
// target with a price cannot be compared: they are unknown.
func (c *Catalog) byCost(name string, charge func(*Target) prices.Charge) Measure {
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
