package catalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// Names returns the names of models for clients, sorted: the exact names of model blocks and
// providers, and the known models of providers. A known model is left out if a request for
// its name would not go to this model of this provider.
func (c *Catalog) Names() []string {
	var names []string
	for _, claim := range c.claims {
		if claim.pattern.Exact() {
			names = append(names, string(claim.pattern))
		}
	}
	for _, p := range c.Providers {
		for _, known := range p.models() {
			if m := c.Model(known.ID); m != nil && m.leadsTo(p, known.ID) {
				names = append(names, known.ID)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Describe returns the card of the model with a name. If the name is an alias, the card has
// only the sizes and the end of the provider's card. What the provider does not state of them is that
// of the tables.
func (c *Catalog) Describe(name string) modelcard.Card {
	t := c.Model(name).Targets[0]
	upstream := t.UpstreamModel(name)
	known := modellist.Find(t.Provider.models(), upstream)
	if known.ID != name {
		known = modelcard.Card{ID: name, ContextTokens: known.ContextTokens, OutputTokens: known.OutputTokens, Shutdown: known.Shutdown}
	}
	if facts := t.Facts(name); facts != nil {
		known.ContextTokens = cmp.Or(known.ContextTokens, facts.Context())
		known.OutputTokens = cmp.Or(known.OutputTokens, facts.Longest())
		known.Shutdown, known.Abilities = cmp.Or(known.Shutdown, facts.Value("shutdown")), abilities(facts)
	}
	return known
}

// models returns the known models of p, sorted by id: its own list, else the models of its
// preset.
func (p *Provider) models() []modelcard.Card {
	if p.offer.list == nil {
		return p.offer.known
	}
	return p.offer.list.Models()
}

// AwaitModels waits until the lists of the providers are fresh, if they have one.
func AwaitModels(ctx context.Context, providers ...*Provider) {
	var lists []*modellist.List
	for _, p := range providers {
		if p.offer.list != nil {
			lists = append(lists, p.offer.list)
		}
	}
	modellist.Await(ctx, lists...)
}

// Patterns returns the names and patterns of all claims.
func (c *Catalog) Patterns() (patterns []string) {
	for i := range c.claims {
		patterns = append(patterns, string(c.claims[i].pattern))
	}
	return patterns
}
