package catalog

import (
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// listed is the place of a provider in the tables of models and prices.
type listed struct {
	tables *tables.Tables // nil for the built-in ones
	tables.Place
	prices *prices.Table // the configured prices, which take precedence
}

func newListed(config *ProviderConfig, d aigateway.Defaults, known *tables.Tables) (l listed, err error) {
	l = listed{tables: known, Place: tables.Place{
		Provider: config.Name, Service: cmp.Or(config.ListedAs, d.Listing.As, config.PresetName()), Names: d.Listing,
	}}
	l.prices, err = newPricing(config)
	return l, err
}

// Facts returns what is known of a model of p, by p's own name, or of the model of which it is a
// variant; nil if nothing is known.
func (p *Provider) Facts(model string) *models.Facts {
	return p.listed.tables.Facts(p.listed.Place, model)
}

// Listed reports whether the tables have facts of models of p.
func (p *Provider) Listed() bool { return p.listed.tables.Lists(p.listed.Place) }

// formatsAt returns the formats, by each set of endpoints that may have a model. Formats that belong
// to none of the endpoints are always among them. If a set leaves no format, it has all.
func formatsAt(formats []*format.Descriptor) (sets [models.AllEndpoints + 1][]*format.Descriptor) {
	for set := range sets {
		sets[set] = slices.DeleteFunc(slices.Clone(formats), func(f *format.Descriptor) bool {
			endpoint, ok := models.EndpointOf(string(f.Name))
			return ok && endpoint&models.Endpoints(set) == 0
		})
		if len(sets[set]) == 0 {
			sets[set] = formats
		}
	}
	return sets
}
