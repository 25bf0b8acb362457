package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
)

// newPricing returns the configured prices of a provider.
func newPricing(config *ProviderConfig) (*prices.Table, error) {
	table, err := prices.FromRows(config.Name, config.Prices)
	if err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	return table, nil
}

// CheckPrices returns an error for invalid prices of a provider.
func CheckPrices(config *ProviderConfig) error {
	_, err := newPricing(config)
	return err
}

// CheckFile returns an error for a path of a catalog file that is relative.
func CheckFile(path string) error { return filewatch.CheckPath(path) }

// CheckTargetPrices returns an error for invalid prices of a model or a target.
func CheckTargetPrices(rows []map[string]string) error {
	_, err := pricesOf("target", rows)
	return err
}

var errModels = errors.New("prices: a price of a model or of a target names no models")

// pricesOf returns the prices of a model block or of a target, which apply to every model
// name. In the table, the name of their provider is owner.
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

// PresetName returns the name of the configured preset, else the name of the provider.
func (config *ProviderConfig) PresetName() string {
	var module struct {
		Preset string `json:"preset"`
	}
	_ = json.Unmarshal(config.PresetRaw, &module) // loadPreset has refused an invalid preset
	if module.Preset == "" {
		return config.Name
	}
	return module.Preset
}

// Price implements meter.Pricer. The first of these that has a price decides: the target,
// the model block, the provider, the file of prices, the built-in table.
func (c *Catalog) Price(asked, provider, model string, at time.Time) *prices.Price {
	known := model
	if m := c.Model(asked); m != nil {
		if t := m.targetOf(asked, provider, model); t != nil {
			if own := m.price(t, model, at); own != nil {
				return own
			}
			known = t.TraitsOf(asked).ModelOf(model)
		}
	}
	p := c.find(provider)
	if p == nil {
		return nil
	}
	return p.price(model, known, c.tables, at)
}

// price returns the price of a model of p, by p's own name and by the one that the tables know.
func (p *Provider) price(model, known string, list *tables.Tables, at time.Time) *prices.Price {
	if own := p.listed.prices.Find(p.Name, model, at); own != nil {
		return own
	}
	return list.Price(p.listed.Place, known, at)
}

// price returns the configured price of a target, else the price of all targets of the
// model; nil if there is none.
func (m *Model) price(t *Target, model string, at time.Time) *prices.Price {
	if own := t.prices.Find("target "+t.Provider.Name, model, at); own != nil {
		return own
	}
	return m.prices.Find("model "+string(m.Pattern), model, at)
}

// targetOf returns the target that has a name for the model at a provider, nil if there is none.
func (m *Model) targetOf(asked, provider, model string) *Target {
	for i := range m.Targets {
		if t := &m.Targets[i]; t.Provider.Name == provider && t.UpstreamModel(asked) == model {
			return t
		}
	}
	return nil
}
