package catalog

import "fmt"

// Order is what decides which healthy target of a step is asked first, if not the configuration.
type Order struct {
	By     string // OrderByCost, OrderByLatency, or "" for the configuration
	Within int    // percentage above the best target within which targets share the requests
}

// The values of Order's By.
const (
	OrderByCost    = "cost"    // of the request: see limits.TypicalCharge
	OrderByLatency = "latency" // to the first content of recent streams: see health.Latencies
)

// widest is the largest value of Order's Within, with which ten times the best is still shared.
const widest = 900

// orderWithin has the defaults of Order's Within.
var orderWithin = map[string]int{OrderByCost: 0, OrderByLatency: 20}

// NewOrder returns the order for words of the configuration. within is 0 for the default.
func NewOrder(by string, within int) (o Order, err error) {
	byDefault, ok := orderWithin[by]
	switch {
	case by == "" && within == 0:
		return o, nil
	case !ok:
		return o, fmt.Errorf("order must be %s or %s, not '%s'", OrderByCost, OrderByLatency, by)
	case within < 0 || within > widest:
		return o, fmt.Errorf("order: within must be from 1 to %d percent, not %d", widest, within)
	case within == 0:
		within = byDefault
	}
	return Order{by, within}, nil
}

// IsShared reports whether a target with a value shares the requests of that with the best value.
func (o Order) IsShared(value, best int64) bool {
	return float64(value) <= float64(best)*(1+float64(o.Within)/100)
}
