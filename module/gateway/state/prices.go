package state

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
)

// TargetPrice is the price of a target of a model.
type TargetPrice struct {
	Model    string `json:"model"` // the client's name
	Provider string `json:"provider"`
	Upstream string `json:"upstream_model"`
	Price    *Price `json:"price"` // null: it is unknown
}

// Price is a price in a currency.
type Price struct {
	Name     string `json:"name"` // as in records
	Currency string `json:"currency"`
	Rates
	Edge   int64   `json:"edge"`   // longer prompts have the prices Above; 0 for none
	Above  *Rates  `json:"above"`  // null without an edge
	Peak   float64 `json:"peak"`   // the factor of the price at peak times; 0 for none
	From   string  `json:"from"`   // the first day, YYYY-MM-DD; "" if it is unknown
	Until  string  `json:"until"`  // the first day after it
	AsOf   string  `json:"as_of"`  // the date of the source
	Source string  `json:"source"` // "" for prices of the configuration
}

// Rates are prices for a million tokens, and for other units.
type Rates struct {
	Input        float64    `json:"input"`
	CacheRead    float64    `json:"cache_read"`
	CacheWrite   float64    `json:"cache_write"`
	CacheWrite1h float64    `json:"cache_write_1h"`
	Output       float64    `json:"output"`
	Reasoning    float64    `json:"reasoning"`
	ImageTokens  MediaRates `json:"image_tokens"`
	AudioTokens  MediaRates `json:"audio_tokens"`
	Search       float64    `json:"search"`     // for one; 0 if it is unknown
	Image        float64    `json:"image"`      // for one; 0 if images are not charged
	Minute       float64    `json:"minute"`     // of sound; 0 if it is not charged
	Characters   float64    `json:"characters"` // for a million of spoken text; 0 if they are not charged
}

// MediaRates are prices for a million tokens of images, or of sound.
type MediaRates struct {
	Input     float64 `json:"input"`
	CacheRead float64 `json:"cache_read"`
	Output    float64 `json:"output"`
}

// pricesOf returns the prices at a time of the targets of models, or of all models with exact names
// if there are none. Each target of a model occurs once, whatever the number of its API keys.
func pricesOf(c *catalog.Catalog, models []string, moment time.Time) []TargetPrice {
	all, seen := []TargetPrice{}, make(map[TargetPrice]bool)
	if len(models) == 0 {
		models = c.Names()
	}
	for _, name := range models {
		m := c.Model(name)
		if m == nil {
			continue
		}
		for _, candidate := range selection.All(m, name) {
			target := TargetPrice{Model: name, Provider: candidate.Provider.Name, Upstream: candidate.Health.Model}
			if seen[target] {
				continue
			}
			seen[target] = true
			target.Price = priceOf(c.Price(name, target.Provider, target.Upstream, moment))
			all = append(all, target)
		}
	}
	return all
}

// CacheDiscount returns the difference of the rates of the first site that has a price.
func (s Sites) CacheDiscount(asked, provider, model string) (picos int64, currency string) {
	for _, site := range s.All() {
		if p := site.Catalog.Price(asked, provider, model, time.Now()); p != nil {
			return int64(p.Base.Fresh - p.Base.CacheRead), p.Currency
		}
	}
	return 0, ""
}

// ModelPrices returns the prices of the first site that has a model with the name.
func (s Sites) ModelPrices(allowed func(model string) bool) (all []aigateway.ModelPrice) {
	seen := make(map[string]bool)
	for _, site := range s.All() {
		for _, name := range site.Catalog.Names() {
			m := site.Catalog.Model(name)
			if m == nil || seen[name] || !allowed(name) {
				continue
			}
			seen[name] = true
			first := &m.Targets[0]
			upstream := first.UpstreamModel(name)
			if p := site.Catalog.Price(name, first.Provider.Name, upstream, time.Now()); p != nil && p.Currency == "USD" {
				r := ratesOf(p.Base)
				all = append(all, aigateway.ModelPrice{
					Model: name, Upstream: upstream, Builtin: p.IsBuiltin(),
					Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite,
				})
			}
		}
	}
	return all
}

func priceOf(p *prices.Price) *Price {
	if p == nil {
		return nil
	}
	shown := &Price{
		Name: p.Name(), Currency: p.Currency, Rates: ratesOf(p.Base), Edge: p.Edge, Peak: float64(p.Peak.Factor) / 1000,
		From: day(p.Period.From), Until: day(p.Period.Until), AsOf: p.Origin.AsOf, Source: p.Origin.Source,
	}
	if p.Edge > 0 {
		shown.Above = new(ratesOf(p.Above))
	}
	return shown
}

const perMillion = 1e6 // pico units

func ratesOf(r prices.Rates) Rates {
	const perPiece = 1e12 // pico units
	return Rates{
		float64(r.Fresh) / perMillion, float64(r.CacheRead) / perMillion, float64(r.CacheWrite) / perMillion, float64(r.CacheWriteLong) / perMillion,
		float64(r.Answer) / perMillion, float64(r.Reasoning) / perMillion,
		mediaRatesOf(r.OfImages), mediaRatesOf(r.OfAudio),
		float64(r.Search) / perPiece,
		float64(r.Image) / perPiece, float64(r.Minute) / perPiece, float64(r.Character) / perMillion,
	}
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

func mediaRatesOf(r prices.MediaRates) MediaRates {
	return MediaRates{float64(r.Input) / perMillion, float64(r.CacheRead) / perMillion, float64(r.Output) / perMillion}
}
