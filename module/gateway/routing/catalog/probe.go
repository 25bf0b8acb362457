package catalog

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// probePatience is the longest time for a probe.
const probePatience = 10 * time.Second

// Probe asks the provider for its list of models, which uses no tokens, and returns the status
// of the answer, 0 if none came. It contains nothing of a client, and ends no rest. ok is false
// if there is no provider with this name.
func (c *Catalog) Probe(name string) (status int, ok bool) {
	p := c.find(name)
	if p == nil {
		return 0, false
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer time.AfterFunc(probePatience, cancel).Stop() // a deadline would count against the address
	defer func() { _ = recover() }()                   // of presets that answer in-process
	q := &exchange.ModelsQuery{Format: p.Formats[0], Traits: p.offer.whole.Traits}
	p.Caller.Query(exchange.WithModelsQuery(ctx, q))
	return q.Status, true
}
