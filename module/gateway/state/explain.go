package state

import (
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover/renegotiation"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// Target is a target with one of its API keys, and its state.
type Target struct {
	Provider string     `json:"provider"`
	Upstream string     `json:"upstream_model"`    // the provider's own name
	APIKey   string     `json:"api_key,omitempty"` // a reference
	Weight   int        `json:"weight"`            // its share of its step
	State    string     `json:"state"`             // "available", "failing" or "resting"
	Until    *time.Time `json:"rest_until,omitempty"`
	Failure  string     `json:"last_failure,omitempty"` // class of the last failure
	Running  int        `json:"running"`                // calls at this moment
}

// The states of a target.
const (
	Available = "available"
	Failing   = "failing" // it has failed, but not often enough to rest
	Resting   = "resting"
)

// Targets returns the targets of all models with exact names, and those of other names
// that have failed lately or that run, sorted by provider. Each API key has one at least,
// with the model "*".
func Targets(c *catalog.Catalog) []Target {
	var all []Target
	for _, name := range c.Names() {
		for _, candidate := range selection.All(c.Model(name), name) {
			all = append(all, targetOf(&candidate))
		}
	}
	for _, p := range c.Providers {
		all = append(all, remembered(p, all)...)
	}
	slices.SortStableFunc(all, compare)
	return slices.CompactFunc(all, func(a, b Target) bool { return compare(a, b) == 0 })
}

// remembered returns the targets of a provider that are not in known, the targets of exact
// names.
func remembered(p *catalog.Provider, known []Target) (all []Target) {
	for i, key := range p.APIKeys {
		models := health.Process.Models(p.Service, key)
		if len(models) == 0 && !slices.ContainsFunc(known, func(t Target) bool { return t.Provider == p.Name && t.APIKey == key }) {
			models = []string{"*"}
		}
		for _, model := range models {
			id := health.ID{Provider: p.Service, Key: key, Model: model}
			all = append(all, targetOf(&selection.Candidate{Target: &catalog.Target{Provider: p, Weight: 1}, APIKey: i, Health: id}))
		}
	}
	return all
}

// Providers returns whether each provider can be asked, by name: whether a target of a
// model with an exact name is not down, or other models are not known to be.
func Providers(c *catalog.Catalog) map[string]bool {
	available := make(map[string]bool)
	for _, p := range c.Providers {
		available[p.Name] = slices.ContainsFunc(p.APIKeys, func(key string) bool { return !health.Process.AllDown(p.Service, key) })
	}
	for _, name := range c.Names() {
		for _, candidate := range selection.All(c.Model(name), name) {
			available[candidate.Provider.Name] = available[candidate.Provider.Name] || !health.Process.IsDown(candidate.Health)
		}
	}
	return available
}

func compare(a, b Target) int {
	return slices.Compare([]string{a.Provider, a.Upstream, a.APIKey}, []string{b.Provider, b.Upstream, b.APIKey})
}

func targetOf(c *selection.Candidate) Target {
	state := health.Process.State(c.Health)
	t := Target{
		Provider: c.Provider.Name, Upstream: c.Health.Model, APIKey: c.Health.Key, Weight: c.Weight,
		State: Available, Running: state.Running,
	}
	if state.Class != health.Healthy {
		t.State, t.Failure = Failing, state.Class.String()
	}
	if !state.Until.IsZero() {
		until := state.Until.UTC().Round(time.Second)
		t.State, t.Until = Resting, &until
	}
	return t
}

// Explanation explains the requests for a model.
type Explanation struct {
	Name     string           `json:"model"`
	Pattern  string           `json:"pattern"` // the configured name or pattern that matches the name
	Format   translate.Format `json:"format"`  // of the client
	Attempts int              `json:"attempts"`
	Targets  []Choice         `json:"targets"` // in the order in which they are asked
}

// Choice is a target with the treatment of a request there.
type Choice struct {
	Target
	Total    int              `json:"step_weight"`      // the requests of which this target with this API key gets Weight
	Format   translate.Format `json:"format,omitempty"` // of the request to the provider, empty if it cannot be translated
	Lane     string           `json:"lane,omitempty"`   // "bytes" or "translated"
	Price    string           `json:"price,omitempty"`  // name of the price, empty if it is unknown
	Reported []string         `json:"reported"`         // fields of requests that are left out, and reported
	Refused  []string         `json:"refused"`          // fields of requests for which the target is passed over
	LeftOut  []string         `json:"left_out"`         // members of the request to the provider that its preset leaves out
	Counting string           `json:"count_tokens,omitempty"`
}

// Explain explains the requests for a model name in the format of a client. It returns nil if
// no model matches the name. The targets of one step are in the order for one session.
func Explain(c *catalog.Catalog, name string, client *format.Descriptor) *Explanation {
	m := c.Model(name)
	if m == nil {
		return nil
	}
	explained := &Explanation{Name: name, Pattern: string(m.Pattern), Format: client.Name, Attempts: m.Attempts}
	candidates, _ := selection.Order(m, name, anySession, health.Process)
	for _, candidate := range candidates {
		shown := choiceOf(&candidate, name, client)
		shown.Weight, shown.Total = share(m.Steps, *candidate.Target)
		if price := c.Price(name, candidate.Provider.Name, candidate.Health.Model, time.Now()); price != nil {
			shown.Price = price.Name()
		}
		explained.Targets = append(explained.Targets, shown)
	}
	return explained
}

// share returns the share of each API key of a target in the requests of its step: weight of
// total. The API keys of a target share its requests equally.
func share(steps [][]catalog.Target, t catalog.Target) (weight, total int) {
	isTarget := func(other catalog.Target) bool { return other.Provider == t.Provider && other.Model == t.Model }
	for _, step := range steps {
		if !slices.ContainsFunc(step, isTarget) {
			continue
		}
		parts := 1 // divisible by the number of API keys of every target
		for _, member := range step {
			parts = leastCommonMultiple(parts, len(member.Provider.APIKeys))
		}
		for _, member := range step {
			total += member.Weight * parts
		}
		weight = t.Weight * parts / len(t.Provider.APIKeys)
		common := greatestCommonDivisor(weight, total)
		return weight / common, total / common
	}
	return t.Weight, t.Weight
}

func leastCommonMultiple(a, b int) int { return a / greatestCommonDivisor(a, b) * b }

func greatestCommonDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// anySession is an arbitrary seed of a session.
const anySession = 1

func choiceOf(c *selection.Candidate, name string, client *format.Descriptor) Choice {
	shown := Choice{Target: targetOf(c), Reported: []string{}, Refused: []string{}, LeftOut: []string{}}
	spoken := renegotiation.FormatFor(c.Provider, c.Health.Model, client, c.Provider.SpeakFor(c.Health.Model, client))
	switch spoken {
	case nil:
		return shown
	case client:
		shown.Lane = "bytes"
	default:
		known := pairs.CapabilitiesOf(client.Name, spoken.Name, renegotiation.TraitsFor(c.Provider, c.Health.Model, spoken, c.TraitsOf(name)))
		shown.Lane, shown.Reported, shown.Refused = "translated", known.Reported, known.Refused
	}
	shown.Format, shown.LeftOut = spoken.Name, c.Provider.LeftOut(spoken, c.Health.Model)
	shown.Counting = c.Counting(c.Health.Model, client, spoken)
	return shown
}
