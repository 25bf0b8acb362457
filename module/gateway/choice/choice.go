// Package choice orders the targets and API keys that may answer an exchange.
//
// It promises that the steps of the configuration keep their order among healthy
// targets, that the targets and API keys of one step share sessions by their weights,
// and that a target which rests comes behind all others. It remembers nothing, and
// never leaves out all targets: of those that rest, it keeps the one that is nearest to
// its end.
package choice

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/rendezvous"
)

// Candidate is a target with the API key to ask it with.
type Candidate struct {
	catalog.Target
	APIKey int           // index among those of the provider
	Health health.Target // of the target with this key
}

// SameTarget reports whether two candidates differ in nothing but the API key.
func (c *Candidate) SameTarget(other *Candidate) bool {
	return c.Provider == other.Provider && c.Model == other.Model
}

// Order returns the candidates for a model that a client named, in the order in which to
// ask them. session is the seed of the session, 0 for none: then the shares are random.
func Order(m *catalog.Model, name string, session uint64, memory *health.Memory) []Candidate {
	if session == 0 {
		session = rand.Uint64()
	}
	all := make([]Candidate, 0, len(m.Targets))
	for _, step := range m.Steps {
		if len(step) > 1 {
			step = slices.Clone(step)
			rendezvous.Sort(step, session, func(t catalog.Target) string { return t.Provider.Name + "/" + t.Model }, weightOf)
		}
		for _, t := range step {
			all = appendKeys(all, t, name, session)
		}
	}
	return restingLast(all, memory)
}

// Resting returns the targets whose turn it was before that of the first candidate to
// ask: they rest.
func Resting(m *catalog.Model, first *Candidate) (all []catalog.Target) {
	for _, step := range m.Steps {
		if slices.ContainsFunc(step, func(t catalog.Target) bool { return first.SameTarget(&Candidate{Target: t}) }) {
			break
		}
		all = append(all, step...)
	}
	return all
}

// All returns the candidates for a model that a client named, in the order of the
// configuration, whether they rest or not.
func All(m *catalog.Model, name string) (all []Candidate) {
	for _, t := range m.Targets {
		all = appendKeys(all, t, name, 0)
	}
	return all
}

func weightOf(t catalog.Target) int { return t.Weight }

// appendKeys appends the candidates of a target, one for each API key, in the order for
// a session, or in that of the configuration if it is 0.
func appendKeys(all []Candidate, t catalog.Target, name string, session uint64) []Candidate {
	first := len(all)
	for i, key := range t.Provider.APIKeys {
		id := health.Target{Provider: t.Provider.Service, Key: key, Model: t.UpstreamModel(name)}
		all = append(all, Candidate{t, i, id})
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
		until := memory.RestsUntil(c.Health)
		if !until.IsZero() {
			resting = append(resting, restingCandidate{c, until})
		}
		return !until.IsZero()
	})
	if len(resting) == 0 {
		return healthy
	}
	first := slices.MinFunc(resting, func(a, b restingCandidate) int { return a.until.Compare(b.until) })
	return append(healthy, first.Candidate)
}

type restingCandidate struct {
	Candidate
	until time.Time
}
