package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp/endpoint"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
)

// resolved is a provisioned Config, merged with the one that it inherits.
type resolved struct {
	catalog *catalog.Catalog
	sources keyring.Sources
	limits  *limits.Limits
	guards  guardrails.Guards
	sockets *socketRoute      // nil for sites without WebSockets
	servers *endpoint.Servers // nil for nearly all sites
	started chan struct{}     // closed when the app starts
	digest  string            // of the configuration
}

// resolve provisions c on top of base. stored is true if keys may have rules of a store.
func (c *Config) resolve(ctx caddy.Context, base *resolved, stored bool) (r *resolved, err error) {
	r = &resolved{sources: slices.Clone(base.sources), started: base.started, digest: c.Digest()}
	ctx = ctx.WithValue(exchange.StartedKey(), (<-chan struct{})(base.started))
	// Limits are loaded before the keys that name them. Key sources are loaded before
	// providers: loading a provider starts its health checks, which read state of ctx
	// that loading another module writes.
	load := func() (aigateway.Counters, error) { return c.loadCounters(ctx) }
	for _, limit := range c.KeyLimits {
		if err := c.CheckScope(limit.Per); err != nil {
			return nil, fmt.Errorf("limit '%s': %w", limit.Name, err)
		}
	}
	for _, m := range c.Models {
		if m.SplitBy == string(aigateway.PerCustomer) && len(c.Customer) == 0 {
			return nil, fmt.Errorf("model '%s': split_by customer, but customer names no header or field", m.Name)
		}
	}
	r.limits, err = base.limits.Extend(c.KeyLimits, load)
	if err == nil && stored && c.mayCount() {
		err = r.limits.CountStored(load)
	}
	if err != nil {
		return nil, err
	}
	if err := r.addKeySources(ctx, c); err != nil {
		return nil, err
	}
	r.catalog, err = base.catalog.Extend(ctx, catalog.Settings{
		Providers: c.Providers, Models: c.Models, AnswerBounds: c.AnswerBounds, File: c.CatalogFile, Cooldown: c.Cooldown, FailRate: c.FailRate,
	})
	if err != nil {
		return nil, err
	}
	if err := r.limits.CountCalls(r.catalog, load); err != nil {
		return nil, err
	}
	if r.guards, err = base.guards.Extend(ctx, c.Guards); err != nil {
		return nil, err
	}
	if r.guards, err = r.guards.WithLog(c.LogContent); err != nil {
		return nil, err
	}
	return r, nil
}

// defaultCounters are the counters of a configuration that sets none.
const defaultCounters = `{"counters":"memory"}`

// mayCount reports whether there are counters. A custom build may leave the default ones out.
func (c *Config) mayCount() bool {
	_, err := caddy.GetModule("ai_gateway.counters.memory")
	return c.CountersRaw != nil || err == nil
}

func (c *Config) loadCounters(ctx caddy.Context) (aigateway.Counters, error) {
	own := *c // a copy: loading empties the raw field, which sites inherit
	if own.CountersRaw == nil {
		own.CountersRaw = json.RawMessage(defaultCounters)
	}
	mod, err := ctx.LoadModule(&own, "CountersRaw")
	if err != nil {
		return nil, err
	}
	return mod.(aigateway.Counters), nil
}

// addKeySources provisions the key sources of c.
func (r *resolved) addKeySources(ctx caddy.Context, c *Config) error {
	if c.KeySourcesRaw == nil {
		return nil
	}
	mods, err := ctx.LoadModule(c, "KeySourcesRaw")
	if err != nil {
		return fmt.Errorf("loading key sources: %w", err)
	}
	check := func(keys iter.Seq[*aigateway.Key]) error {
		return cmp.Or(r.limits.Check(keys), c.CheckKeys(keys))
	}
	for _, mod := range mods.([]any) {
		if r.sources, err = r.sources.Add(mod.(aigateway.KeySource), check); err != nil {
			return err
		}
	}
	r.sources.CheckChanges(check)
	return nil
}
