// Package catalog provisions the configured providers and models of a site, and finds the
// model for a name that a client uses.
//
// The order of a configuration never decides which model a name selects: two claims of
// equal rank on the same name are an error. The package makes no calls.
package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// Settings are the configuration that extends a catalog.
type Settings struct {
	Providers    []*ProviderConfig
	Models       []*ModelConfig
	AnswerBounds aigateway.AnswerBounds // of providers that set none
	File         string                 // path of a file with facts and prices of models; empty for that of the extended catalog
	Cooldown     caddy.Duration         // of providers that set none; 0 for the default
	FailRate     int                    // of providers that set none; 0 for the default
}

// Catalog has the provisioned providers and models of a site, including those that it
// inherits. It does not change.
type Catalog struct {
	Providers []*Provider
	models    []*Model
	claims    []claim        // in the order in which they are matched
	exact     map[string]int // the index of the first claim of a name without "*"
	folded    map[string]int // the same by the name in small letters
	patterns  []int          // the indexes of the other claims
	shared    Shared
	tables    *tables.Tables // nil for the built-in ones

	descriptions descriptions
}

// Shared is what all catalogs of a configuration use.
type Shared struct {
	Lists *modellist.Lists

	// LoadCaller returns the caller of a provider: upstream.Load. It is a field because the
	// package upstream needs Caddy's HTTP server, which this package and those that import
	// it do not.
	LoadCaller func(ctx caddy.Context, config aigateway.Upstream, proxy json.RawMessage, inProcess bool) (exchange.Caller, error)

	// LoadCondition returns the condition of an expression: conditions.Load. It is a field for the same
	// reason.
	LoadCondition func(ctx caddy.Context, expression string) (Condition, error)
}

// New returns an empty catalog, which has no providers and models but those of its
// extensions.
func New(shared Shared) *Catalog {
	metrics.SetPricesTime("builtin", prices.Builtin().Newest())
	return &Catalog{shared: shared}
}

// Extend returns a copy of the catalog with additional providers and models.
func (c *Catalog) Extend(ctx caddy.Context, s Settings) (*Catalog, error) {
	extended := &Catalog{Providers: slices.Clone(c.Providers), models: slices.Clone(c.models), shared: c.shared, tables: c.tables}
	if s.File != "" {
		var err error
		if extended.tables, err = tables.Open(ctx, s.File, ctx.Logger()); err != nil {
			return nil, err
		}
	}
	if err := extended.addProviders(ctx, s); err != nil {
		return nil, err
	}
	if err := extended.addModels(ctx, s.Models); err != nil {
		return nil, err
	}
	if err := extended.rank(); err != nil {
		return nil, err
	}
	return extended, nil
}

// Tables returns the tables of models and prices that the catalog uses.
func (c *Catalog) Tables() *tables.Tables { return c.tables }

// addProviders provisions the configured providers.
func (c *Catalog) addProviders(ctx caddy.Context, s Settings) error {
	if err := s.AnswerBounds.Check(); err != nil {
		return err
	}
	for _, config := range s.Providers {
		if c.find(config.Name) != nil {
			return fmt.Errorf("provider '%s' is defined twice", config.Name)
		}
		config.AnswerBounds.Inherit(s.AnswerBounds)
		config.Cooldown = cmp.Or(config.Cooldown, s.Cooldown, caddy.Duration(health.DefaultRest))
		config.FailRate = cmp.Or(config.FailRate, s.FailRate, health.DefaultFailRate)
		p, err := newProvider(ctx, config, c.shared, c.tables)
		if err != nil {
			return fmt.Errorf("provider '%s': %w", config.Name, err)
		}
		c.Providers = append(c.Providers, p)
	}
	return nil
}

// find returns the provider with this name, nil if there is none.
func (c *Catalog) find(name string) *Provider {
	i := slices.IndexFunc(c.Providers, func(p *Provider) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return c.Providers[i]
}

// Lookup returns the provider with a name. Its error contains the name that was probably
// meant.
func (c *Catalog) Lookup(name string) (*Provider, error) {
	if p := c.find(name); p != nil {
		return p, nil
	}
	known := make([]string, len(c.Providers))
	for i, p := range c.Providers {
		known[i] = p.Name
	}
	return nil, UnknownProvider(name, known)
}

// addModels adds the configured models.
func (c *Catalog) addModels(ctx caddy.Context, models []*ModelConfig) error {
	named := lookups{c.Lookup, func(expression string) (Condition, error) { return c.shared.LoadCondition(ctx, expression) }}
	for _, config := range models {
		if slices.ContainsFunc(c.models, func(m *Model) bool { return string(m.Pattern) == config.Name }) {
			return fmt.Errorf("model '%s' is defined twice", config.Name)
		}
		m, err := newModel(config, named)
		if err != nil {
			return fmt.Errorf("model '%s': %w", config.Name, err)
		}
		c.models = append(c.models, m)
	}
	return nil
}

// Limited returns the targets whose calls have limits, those of providers without a model block first.
func (c *Catalog) Limited() iter.Seq[*Target] {
	return func(yield func(*Target) bool) {
		for _, p := range c.Providers {
			if len(p.offer.whole.Limits) > 0 && !yield(&p.offer.whole) {
				return
			}
		}
		for _, m := range c.models {
			for i := range m.Targets {
				if t := &m.Targets[i]; len(t.Limits) > 0 && !yield(t) {
					return
				}
			}
		}
	}
}
