package catalog

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/prices"
)

// pricing is where the prices of a provider's models are looked up.
type pricing struct {
	own    *prices.Table // of the configuration; takes precedence
	name   string        // in own
	listed string        // the provider's name in the table of the gateway
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

// find returns the price of a model at a moment, nil if it is unknown.
func (p *pricing) find(model string, at time.Time) *prices.Price {
	if own := p.own.Find(p.name, model, at); own != nil {
		return own
	}
	return prices.Builtin().Find(p.listed, model, at)
}

// Price returns the price of a provider's model, nil if it is unknown. c is
// a meter.Pricer.
func (c *Catalog) Price(provider, model string, at time.Time) *prices.Price {
	if p := c.find(provider); p != nil {
		return p.pricing.find(model, at)
	}
	return nil
}
