package catalog

import "fmt"

// Order is what decides which healthy target of a step is asked first, if not the configuration.
type Order struct {
	Criterion string // OrderByCost, OrderByLatency, or "" for the configuration
	Margin    int    // percentage above the best target within which targets share the requests
}

// The values of Order's Criterion.
const (
	OrderByCost    = "cost"    // of the request: see limits.TypicalCharge
	OrderByLatency = "latency" // to the first content of recent streams: see health.Latencies
)

// widest is the largest value of Order's Within, with which ten times the best is still shared.
const widest = 900

// orderWithin has the defaults of Order's Margin.
var orderWithin = map[string]int{OrderByCost: 0, OrderByLatency: 20}

// NewOrder returns the order for words of the configuration. margin is 0 for the default.
func NewOrder(criterion string, margin int) (o Order, err error) {
	byDefault, ok := orderWithin[criterion]
	switch {
	case criterion == "" && margin == 0:
		return o, nil
	case !ok:
		return o, fmt.Errorf("order must be %s or %s, not '%s'", OrderByCost, OrderByLatency, criterion)
	case margin < 0 || margin > widest:
		return o, fmt.Errorf("order: within must be from 1 to %d percent, not %d", widest, margin)
	case margin == 0:
		margin = byDefault
	}
	return Order{criterion, margin}, nil
}

// IsShared reports whether a target with a value shares the requests of that with the best value.
func (o Order) IsShared(value, best int64) bool {
	return float64(value) <= float64(best)*(1+float64(o.Margin)/100)
}
