package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
)

// resolved is a provisioned Config together with what it inherits.
type resolved struct {
	catalog  *catalog.Catalog
	sources  keyring.Sources
	limiters limiting.Limiters
}

// resolve provisions c on top of what it inherits.
func (c *Config) resolve(ctx caddy.Context, base *resolved) (r *resolved, err error) {
	r = &resolved{limiters: make(limiting.Limiters), sources: slices.Clone(base.sources)}
	maps.Copy(r.limiters, base.limiters)
	// Limits come before the keys that name them, and key sources before providers:
	// the health checks of a provider start with it, and read what loading another
	// module writes.
	if err := r.addLimiters(ctx, c); err != nil {
		return nil, err
	}
	if err := r.addKeySources(ctx, c); err != nil {
		return nil, err
	}
	r.catalog, err = base.catalog.Extend(ctx, catalog.Settings{
		Providers: c.Providers, Models: c.Models, AnswerBounds: c.AnswerBounds, PricesFile: c.PricesFile, Cooldown: c.Cooldown,
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// defaultCounters are the counters of a configuration without counters.
const defaultCounters = `{"counters":"memory"}`

// addLimiters provisions the limits of c.
func (r *resolved) addLimiters(ctx caddy.Context, c *Config) error {
	if len(c.KeyLimits) == 0 {
		return nil
	}
	counters, err := c.loadCounters(ctx)
	if err != nil {
		return fmt.Errorf("loading counters: %w", err)
	}
	for _, limit := range c.KeyLimits {
		if err := r.limiters.Add(counters, limit.Name, limit.LimitRules); err != nil {
			return fmt.Errorf("limit '%s': %w", limit.Name, err)
		}
	}
	return nil
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
	for _, mod := range mods.([]any) {
		if r.sources, err = r.sources.Add(mod.(aigateway.KeySource), r.limiters.Check); err != nil {
			return err
		}
	}
	r.sources.CheckChanges(r.limiters.Check)
	return nil
}
