package tables

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// Place is where the tables have the models of a provider. In the file, rows with the provider's own
// name come before those of its service; the built-in tables have only services.
type Place struct {
	Provider string // the configured name; "" for none
	Service  string // the name of the service in the tables
	Names    aigateway.Listing
}

// Facts returns what is known of a model, by the provider's own name for it, or of the model of
// which it is a variant; nil if nothing is known.
func (t *Tables) Facts(place Place, model string) *models.Facts {
	name := place.name(model)
	facts := t.facts(place, name, (*models.Table).Find)
	if facts == nil && place.Names.Base != nil {
		if base := place.Names.Base(name); base != name {
			name, facts = base, t.facts(place, base, (*models.Table).Find)
		}
	}
	if facts == nil {
		return t.facts(place, name, (*models.Table).FindVariant)
	}
	return facts
}

// facts returns the facts of a model that find finds by a name in the tables.
func (t *Tables) facts(place Place, name string, find func(table *models.Table, provider, name string) *models.Facts) *models.Facts {
	for _, provider := range place.inFile() {
		if facts := find(t.File().facts(), provider, name); facts != nil {
			return facts
		}
	}
	return find(models.Builtin(), place.Service, name)
}

// Price returns the price of a model at a time, by the provider's own name for it; nil if it is
// unknown.
func (t *Tables) Price(place Place, model string, day time.Time) *prices.Price {
	name := place.name(model)
	price := t.price(place, name, day)
	if price == nil && place.Names.Priced != nil {
		return t.price(place, place.Names.Priced(name), day)
	}
	return price
}

// price returns the price of a model by a name in the tables.
func (t *Tables) price(place Place, name string, day time.Time) *prices.Price {
	for _, provider := range place.inFile() {
		if price := t.File().prices().Find(provider, name, day); price != nil {
			return price
		}
	}
	return prices.Builtin().Find(place.Service, name, day)
}

// Lists reports whether there are facts of models of a provider.
func (t *Tables) Lists(place Place) bool {
	file := t.File().facts()
	return file.Lists(place.Provider) || file.Lists(place.Service) || models.Builtin().Lists(place.Service)
}

// name returns the name of a model in the tables.
func (p *Place) name(model string) string {
	if p.Names.Plain == nil {
		return model
	}
	return p.Names.Plain(model)
}

// inFile returns the names of the provider in the file, the first of which takes precedence.
func (p *Place) inFile() [2]string { return [2]string{p.Provider, p.Service} }
