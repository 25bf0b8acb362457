package guardrails

import (
	"fmt"
	"iter"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// Guards are the guards of a site, in their order, and its log of contents.
type Guards struct {
	list []*guard
	log  *contentLog // nil if no content is logged
}

// guard is a guard in use.
type guard struct {
	Config
	aigateway.Guard
	kinds  []aigateway.GuardKind
	window aigateway.GuardWindow // of streams
	passed *passed
}

// Extend returns the guards of g and those of configurations, which it loads.
func (g Guards) Extend(ctx caddy.Context, configs []*Config) (Guards, error) {
	all := Guards{slices.Clone(g.list), g.log}
	for _, c := range configs {
		if err := c.Validate(); err != nil {
			return all, err
		}
		if slices.ContainsFunc(all.list, func(other *guard) bool { return other.Name == c.Name }) {
			return all, fmt.Errorf("guard '%s' is defined twice", c.Name)
		}
		loaded, err := load(ctx, *c)
		if err != nil {
			return all, fmt.Errorf("loading guard '%s': %w", c.Name, err)
		}
		all.list = append(all.list, loaded)
	}
	return all, nil
}

// load loads a guard. c is a copy, because loading empties the raw field.
func load(ctx caddy.Context, c Config) (*guard, error) {
	mod, err := ctx.LoadModule(&c, "GuardRaw")
	if err != nil {
		return nil, err
	}
	g := &guard{Config: c, Guard: mod.(aigateway.Guard), kinds: c.Check, window: aigateway.DefaultGuardWindow, passed: new(passed)}
	if len(c.Check) == 0 {
		g.kinds = defaultKinds
	}
	if windowed, ok := g.Guard.(aigateway.StreamGuard); ok && c.checks(OnAnswer) {
		g.window, err = windowed.Window()
	}
	return g, err
}

// All returns the configurations of the guards, and the guards, in their order.
func (g Guards) All() iter.Seq2[*Config, aigateway.Guard] {
	return func(yield func(*Config, aigateway.Guard) bool) {
		for _, guard := range g.list {
			if !yield(&guard.Config, guard.Guard) {
				return
			}
		}
	}
}

// Names returns the names of the guards.
func (g Guards) Names() (names []string) {
	for _, guard := range g.list {
		names = append(names, guard.Name)
	}
	return names
}

// Hiding returns the name of the first guard that checks the exchanges of a key and accepts no
// reference to what a provider keeps, "" if there is none. The model of an exchange that stored
// something may be any.
func (g Guards) Hiding(key string) string {
	for _, guard := range g.list {
		if !guard.AllowReferences && matches(guard.Keys, key) {
			return guard.Name
		}
	}
	return ""
}

// Checking returns the name of the first guard that checks the exchanges of a key, "" if there is none.
func (g Guards) Checking(key string) string {
	for _, guard := range g.list {
		if matches(guard.Keys, key) {
			return guard.Name
		}
	}
	return ""
}

// For returns the checks of an exchange whose key and model are known, nil if neither a guard
// nor the log covers it.
func (g Guards) For(ex *exchange.Exchange, logger *zap.Logger) *Checks {
	var covering []*guard
	for _, guard := range g.list {
		if guard.covers(ex.Key.ID, ex.Request.View.Model) {
			covering = append(covering, guard)
		}
	}
	logged := g.log.covers(ex.Key.ID, ex.Request.View.Model)
	if covering == nil && !logged {
		return nil
	}
	checks := &Checks{Exchange: ex, guards: covering, logger: logger}
	if logged {
		checks.log = g.log
	}
	return checks
}
