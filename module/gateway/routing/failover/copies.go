package failover

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
)

// copies has the pauses that providers want after copies for mirrors, by which no target rests for clients.
var copies health.Memory

// Paused reports whether a provider wants no copies now, after a copy or a request of a client. name is the
// name of the model that the client used.
func Paused(mirror *catalog.Model, name string) bool {
	return slices.ContainsFunc(selection.All(mirror, name), func(c selection.Candidate) bool {
		return rests(&c) || !copies.RestsUntil(c.Health).IsZero()
	})
}

// pauseCopies records the pause that a provider wants after a copy. Other failures are what a mirror shows.
func pauseCopies(t *selection.Candidate, o health.Outcome) {
	if o.RetryAfter > 0 {
		visit, _ := copies.Begin(t.Health, 0)
		visit.End(o, t.Provider.Calls.Rests)
	}
}
