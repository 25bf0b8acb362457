// Package selection orders the targets and API keys that may answer an exchange.
//
// Healthy targets come in the order of the steps of the configuration, and within a step in that of
// a measure, if there is one: the lowest cost, or the shortest latency. The targets and API keys of
// one step share the sessions by their weights. Targets that rest are left out, except for the one
// whose rest ends first: it comes last, so that the list is never empty. If all of them came, every
// request would call each failing target, and the last failure, after which a call is repeated, would
// be that of the longest rest. The package keeps no state.
package selection

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
)

// Candidate is a target with the API key to ask it with.
type Candidate struct {
	*catalog.Target
	APIKey int             // index in the API keys of the provider
	Health health.ID       // identifies the target with this key in the health memory
	Waits  bool            // its provider was busy; the request waits in the queue of the provider
	Choice exchange.Choice // of the first candidate of all, before any was passed over
}

// SameTarget reports whether two candidates are equal except for their API keys.
func (c *Candidate) SameTarget(other *Candidate) bool {
	return c.IsSame(other.Target)
}

// Seeds decide which candidates of equal rank are asked first.
type Seeds struct {
	Session uint64 // with 0, the order is random
	Arm     uint64 // of the targets of a step, see catalog.Model.Arm; 0 for that of the session
}

// Order returns the candidates for a model in the order in which to ask them, and the
// targets that rest, although their step is before that of the first candidate. name is the
// name that the client used. measure is that of a model with an order, nil for other models.
func Order(m *catalog.Model, name string, seeds Seeds, memory *health.Memory, measure catalog.Measure) (all []Candidate, resting []catalog.Target) {
	session := cmp.Or(seeds.Session, rand.Uint64())
	arm := cmp.Or(seeds.Arm, session)
	steps := Steps(m, session, measure)
	all = make([]Candidate, 0, len(m.Targets))
	for _, step := range steps {
		if len(step) > 1 {
			step = slices.Clone(step)
			rendezvous.Sort(step, arm, func(t catalog.Target) string { return t.Provider.Name + "/" + t.Model }, weightOf)
		}
		for i := range step {
			all = appendKeys(all, &step[i], name, session)
		}
	}
	first := all[0]
	all = restingLast(all, memory)
	all[0].Choice = exchange.AfterRest
	if all[0].SameTarget(&first) {
		all[0].Choice = choiceOf(m, first.Target, steps[0], seeds, measure)
	}
	for _, step := range steps {
		if slices.ContainsFunc(step, func(t catalog.Target) bool { return all[0].SameTarget(&Candidate{Target: &t}) }) {
			break
		}
		resting = append(resting, step...)
	}
	return all, resting
}

// choiceOf returns why a target is the first one of the first step.
func choiceOf(m *catalog.Model, first *catalog.Target, step []catalog.Target, seeds Seeds, measure catalog.Measure) exchange.Choice {
	switch {
	case measure != nil && len(m.Targets) > 1:
		return choiceBy(m.Order, first, measure)
	case len(step) == 1 && m.Choice == exchange.First && first.If != nil:
		return exchange.ByCondition
	case len(step) == 1:
		return m.Choice
	case seeds.Arm != 0:
		return exchange.BySplit
	case seeds.Session != 0:
		return exchange.BySession
	}
	return exchange.ByWeight
}

// choiceBy returns why a target is the first one in an order.
func choiceBy(order catalog.Order, first *catalog.Target, measure catalog.Measure) exchange.Choice {
	if order.Criterion == catalog.OrderByCost {
		return exchange.ByCost
	}
	if _, known := measure(first); !known {
		return exchange.ByTrial
	}
	return exchange.ByLatency
}

// All returns the candidates for a model in the order of the configuration, whether they
// rest or not. name is the name that the client used.
func All(m *catalog.Model, name string) (all []Candidate) {
	for i := range m.Targets {
		all = appendKeys(all, &m.Targets[i], name, 0)
	}
	return all
}

func weightOf(t catalog.Target) int { return t.Weight }

// appendKeys appends the candidates of a target, one for each API key. Their order depends
// on the session; if session is 0, it is the order of the configuration.
func appendKeys(all []Candidate, t *catalog.Target, name string, session uint64) []Candidate {
	first := len(all)
	for i, key := range t.Provider.APIKeys {
		id := health.ID{Provider: t.Provider.Service, Key: key, Model: t.UpstreamModel(name)}
		all = append(all, Candidate{Target: t, APIKey: i, Health: id})
	}
	if keys := all[first:]; len(keys) > 1 && session != 0 {
		rendezvous.Sort(keys, session, func(c Candidate) string { return c.Health.Key }, func(Candidate) int { return 1 })
	}
	return all
}

// restingLast moves the candidate whose rest ends first behind the healthy ones, and
// removes the others that rest.
func restingLast(all []Candidate, memory *health.Memory) []Candidate {
	var resting []restingCandidate
	healthy := slices.DeleteFunc(all, func(c Candidate) bool {
		end := memory.RestsUntil(c.Health)
		if !end.IsZero() {
			resting = append(resting, restingCandidate{c, end})
		}
		return !end.IsZero()
	})
	if len(resting) == 0 {
		return healthy
	}
	first := slices.MinFunc(resting, func(a, b restingCandidate) int { return a.end.Compare(b.end) })
	return append(healthy, first.Candidate)
}

type restingCandidate struct {
	Candidate
	end time.Time
}
