package observe

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/events"
)

// announced has the models without a price for which an event was emitted today.
var announced struct {
	mu     sync.Mutex // guards the fields below
	day    int64      // days since 1970
	models map[pricelessModel]bool
}

// pricelessModel has only names of the configuration, so that clients cannot make the map
// of these models grow.
type pricelessModel struct{ provider, model string }

// announceUnpriced emits an event for a model without a price, once a day. upstream is the
// provider's own name of the model.
func announceUnpriced(provider, model, upstream string) {
	if firstToday(pricelessModel{provider, model}, time.Now().Unix()/(24*60*60)) {
		events.Emit(events.UnpricedModel, map[string]any{"provider": provider, "model": model, "upstream_model": Clip(upstream)})
	}
}

func firstToday(m pricelessModel, today int64) bool {
	announced.mu.Lock()
	defer announced.mu.Unlock()
	if announced.day != today {
		announced.day, announced.models = today, make(map[pricelessModel]bool)
	}
	known := announced.models[m]
	announced.models[m] = true
	return !known
}
