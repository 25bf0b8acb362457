package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cache"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
)

// Model is a name or pattern with its targets.
type Model struct {
	Pattern  aigateway.Pattern
	Targets  []Target   // at least one, in the order of the configuration
	Steps    [][]Target // the targets in the order in which they are tried; those of one step share the requests
	Order    Order      // within each step
	SplitBy  string     // see ModelConfig
	Mirror   *Mirror    // nil for most models
	Fallback Fallback
	Attempts int             // largest number of targets that are asked for one request
	Hedge    *Hedge          // nil for most models
	Cache    *cache.Rule     // nil if no answers are kept
	prices   *prices.Table   // of all targets; see pricesOf
	Choice   exchange.Choice // of the first step, if those in front of its only target are left out; else exchange.First
}

// leadsTo reports whether a target of m for the name is the model of p with the same name.
func (m *Model) leadsTo(p *Provider, name string) bool {
	for _, t := range m.Targets {
		if t.Provider == p && t.UpstreamModel(name) == name {
			return true
		}
	}
	return false
}

// lookups find what the configuration of a model names.
type lookups struct {
	provider  func(name string) (*Provider, error)
	condition func(expression string) (Condition, error)
}

func newModel(config *ModelConfig, named lookups) (*Model, error) {
	pattern, err := aigateway.ParsePattern(config.Name)
	if err != nil {
		return nil, err
	}
	m := &Model{Pattern: pattern, Attempts: config.Attempts, SplitBy: config.SplitBy, Cache: config.Cache}
	if err := m.Cache.Validate(); err != nil {
		return nil, err
	}
	if m.Fallback, err = parseFallback(config.FallbackOn); err != nil {
		return nil, err
	}
	if m.Order, err = NewOrder(config.Order, config.OrderWithin); err != nil {
		return nil, err
	}
	if m.Hedge, err = newHedge(config.HedgeConfig); err != nil {
		return nil, err
	}
	if m.prices, err = pricesOf("model "+config.Name, config.Prices); err != nil {
		return nil, err
	}
	for _, t := range config.Targets {
		if err := m.addTarget(t, config.Traits, named); err != nil {
			return nil, err
		}
	}
	m.Steps = steps(config.Targets, m.Targets)
	if m.Order.Criterion != "" && !slices.ContainsFunc(config.Targets, func(t TargetConfig) bool { return t.Weight > 0 }) {
		m.Steps = [][]Target{m.Targets}
	}
	if err := cmp.Or(m.check(), m.checkSplit()); err != nil {
		return nil, err
	}
	m.Mirror, err = newMirror(m, config, named)
	return m, err
}

// steps returns the targets in the order in which they are tried. Consecutive targets with
// weights are one step.
func steps(configs []TargetConfig, targets []Target) (all [][]Target) {
	for i, t := range targets {
		if i > 0 && configs[i].Weight > 0 && configs[i-1].Weight > 0 {
			last := len(all) - 1
			all[last] = append(all[last], t)
			continue
		}
		all = append(all, []Target{t})
	}
	return all
}

// Without returns a copy of m that lacks some of its targets. why is the choice of a target that becomes
// the first one by that.
func (m *Model) Without(why exchange.Choice, isLeftOut func(*Target) bool) *Model {
	left := *m
	kept := func(targets []Target) (all []Target) {
		for i := range targets {
			if !isLeftOut(&targets[i]) {
				all = append(all, targets[i])
			}
		}
		return all
	}
	if first := kept(m.Steps[0]); len(first) < len(m.Steps[0]) && len(first) <= 1 {
		left.Choice = why
	}
	left.Targets, left.Steps = kept(m.Targets), nil
	for _, step := range m.Steps {
		if step = kept(step); len(step) > 0 {
			left.Steps = append(left.Steps, step)
		}
	}
	return &left
}

// Chooses reports whether requests for the model can go to several targets, API keys or
// addresses, so that the session of a request matters.
func (m *Model) Chooses() bool {
	return len(m.Steps) < len(m.Targets) || slices.ContainsFunc(m.Targets, func(t Target) bool {
		return len(t.Provider.APIKeys) > 1 || t.Provider.pooled
	})
}

// HasConditions reports whether a target takes only some requests.
func (m *Model) HasConditions() bool {
	return slices.ContainsFunc(m.Targets, func(t Target) bool { return t.If != nil })
}

// addTarget adds a target. It has the traits of its provider, of the model, and its own;
// later ones take precedence.
func (m *Model) addTarget(t TargetConfig, model map[string]string, named lookups) error {
	p, err := named.provider(t.Provider)
	if err != nil {
		return err
	}
	for _, earlier := range m.Targets {
		if earlier.Provider == p && earlier.Model == t.Model {
			return fmt.Errorf("target '%s' is listed twice", t.Provider)
		}
	}
	target, err := p.target(t.Model, model, t.Traits)
	if err != nil {
		return err
	}
	if target.prices, err = pricesOf("target "+t.Provider, t.Prices); err != nil {
		return err
	}
	if t.If != "" {
		if target.If, err = named.condition(t.If); err != nil {
			return fmt.Errorf("target '%s': if: %w", t.Provider, err)
		}
	}
	if t.Limit != nil {
		if err := t.Limit.CheckOfCalls(); err != nil {
			return fmt.Errorf("target '%s': limit: %w", t.Provider, err)
		}
		target.Limits = append([]*aigateway.Limit{aigateway.TargetLimit(string(m.Pattern), target.String(), t.Limit)}, target.Limits...)
	}
	if t.Weight < 0 {
		return fmt.Errorf("target '%s': weight must be at least 1", t.Provider)
	}
	target.Weight = max(1, t.Weight)
	m.Targets = append(m.Targets, target)
	return nil
}

// check returns an error for a model without targets, and sets the default of Attempts.
func (m *Model) check() error {
	switch {
	case len(m.Targets) == 0:
		return errors.New("needs at least one target")
	case m.Attempts < 0:
		return errors.New("attempts must be at least 1")
	case m.Attempts == 0:
		m.Attempts = len(m.Targets)
	}
	switch {
	case m.Hedge != nil && min(m.Attempts, len(m.Targets)) < 2:
		return errors.New("hedge needs a second target, and attempts of at least 2")
	case m.Hedge != nil && m.Cache != nil:
		return errors.New("hedge and cache exclude each other")
	}
	return nil
}
