package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/prices/pricefile"
)

// pricing is where the prices of a provider's models are looked up.
type pricing struct {
	own    *prices.Table // of the configuration; takes precedence
	name   string        // in own
	listed string        // the provider's name in the file and in the table of the gateway
}

// newPricing returns the pricing of a configured provider.
func newPricing(config *ProviderConfig) (p pricing, err error) {
	p = pricing{name: config.Name, listed: config.PricedAs}
	if p.listed == "" {
		p.listed = config.presetName()
	}
	if p.own, err = prices.FromRows(config.Name, config.Prices); err != nil {
		return p, fmt.Errorf("prices: %w", err)
	}
	return p, nil
}

// CheckPrices returns an error for prices of a provider that cannot be.
func CheckPrices(config *ProviderConfig) error {
	_, err := newPricing(config)
	return err
}

// CheckTargetPrices returns an error for prices of a model or of a target that cannot
// be.
func CheckTargetPrices(rows []map[string]string) error {
	_, err := pricesOf("target", rows)
	return err
}

var errModels = errors.New("prices: a price of a model or of a target names no models")

// pricesOf returns the prices of a model block or of a target, which hold for whatever
// model is asked. In the table, their provider is named owner.
func pricesOf(owner string, rows []map[string]string) (*prices.Table, error) {
	var all []map[string]string
	for _, row := range rows {
		if _, named := row["models"]; named {
			return nil, errModels
		}
		row = maps.Clone(row)
		row["models"] = "*"
		all = append(all, row)
	}
	table, err := prices.FromRows(owner, all)
	if err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	return table, nil
}

// presetName returns the name of the configured preset, which is that of the provider
// if none is.
func (config *ProviderConfig) presetName() string {
	var of struct {
		Preset string `json:"preset"`
	}
	_ = json.Unmarshal(config.PresetRaw, &of) // a preset that cannot be read was refused
	if of.Preset == "" {
		return config.Name
	}
	return of.Preset
}

// openPrices opens the file of prices, if one is configured.
func (c *Catalog) openPrices(ctx caddy.Context, path string) (err error) {
	if path != "" {
		c.prices, err = pricefile.Open(ctx, path, ctx.Logger())
	}
	return err
}

// Price returns the price of a provider's own model at a moment, nil if it is unknown.
// asked is the name of the model that the client used. The first of these decides: the
// target, the model block, the provider, the file of prices, the table of the gateway.
func (c *Catalog) Price(asked, provider, model string, at time.Time) *prices.Price {
	if m := c.Model(asked); m != nil {
		if own := m.price(asked, provider, model, at); own != nil {
			return own
		}
	}
	p := c.find(provider)
	if p == nil {
		return nil
	}
	if own := p.pricing.own.Find(p.pricing.name, model, at); own != nil {
		return own
	}
	if listed := c.prices.Find(p.pricing.listed, model, at); listed != nil {
		return listed
	}
	return prices.Builtin().Find(p.pricing.listed, model, at)
}

// price returns the price of a target, or of all targets, that the configuration sets.
func (m *Model) price(asked, provider, model string, at time.Time) *prices.Price {
	for _, t := range m.Targets {
		if t.Provider.Name != provider || t.UpstreamModel(asked) != model {
			continue
		}
		if own := t.prices.Find("target "+provider, model, at); own != nil {
			return own
		}
		return m.prices.Find("model "+string(m.Pattern), model, at)
	}
	return nil
}
