package observe

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/events"
)

// announced are the models of which an event has announced today that their price is
// unknown.
var announced struct {
	mu     sync.Mutex // guards all
	day    int64      // since 1970
	models map[pricelessModel]bool
}

// pricelessModel has names of the configuration alone, so that clients cannot make it
// more.
type pricelessModel struct{ provider, model string }

// announceUnpriced emits an event for a model whose price is unknown, once a day.
// upstream is the provider's own name for it.
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
