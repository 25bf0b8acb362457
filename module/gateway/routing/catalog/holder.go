package catalog

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Holder returns the provider with an account, and the index of its API key; nil if there is none.
func (c *Catalog) Holder(account seal.Account) (p *Provider, apiKey int) {
	for _, p := range c.Providers {
		for i := range p.APIKeys {
			if seal.AccountOf(p.Name, i) == account {
				return p, i
			}
		}
	}
	return nil, 0
}

// SealsObjects reports whether clients get sealed ids of objects that a provider stores.
func (c *Catalog) SealsObjects() bool {
	return slices.ContainsFunc(formats.All(), func(f *format.Descriptor) bool {
		return slices.ContainsFunc(f.Objects.Paths, func(o format.ObjectPath) bool { return c.Seals(f, &o) })
	})
}

// Seals reports whether a provider that speaks a format stores the objects of a path of it for clients.
func (c *Catalog) Seals(f *format.Descriptor, o *format.ObjectPath) bool {
	seals := func(t Target) bool { return o.IsSealed(t.Traits) && slices.Contains(t.Provider.Formats, f) }
	return slices.ContainsFunc(c.Providers, func(p *Provider) bool { return seals(p.offer.whole) }) ||
		slices.ContainsFunc(c.models, func(m *Model) bool { return slices.ContainsFunc(m.Targets, seals) })
}

// Seals reports whether the target has sealed ids of objects of a kind, for a client's name of the model.
func (t Target) Seals(kind, model string) bool { return format.Seals(kind, t.TraitsOf(model)) }

// Seals reports whether a target has sealed ids of objects of a kind, for a client's name of the model.
func (m *Model) Seals(kind, name string) bool {
	return slices.ContainsFunc(m.Targets, func(t Target) bool { return t.Seals(kind, name) })
}

// Keeper returns the provider that stores new objects of a path of a format for clients: the first one
// that speaks the format and whose ids are sealed; nil if there is none.
func (c *Catalog) Keeper(f *format.Descriptor, o *format.ObjectPath) *Provider {
	i := slices.IndexFunc(c.Providers, func(p *Provider) bool { return o.IsSealed(p.Traits()) && slices.Contains(p.Formats, f) })
	if i < 0 {
		return nil
	}
	return c.Providers[i]
}

// Provider returns the provider with a name, nil if there is none.
func (c *Catalog) Provider(name string) *Provider { return c.find(name) }

// Alone returns the model that has p as its only target, by p's own names.
func (p *Provider) Alone() *Model { return &Model{Targets: []Target{p.offer.whole}} }

// ModelAt returns the configured model that is p's model with a name, nil if the configuration has no
// model of the name. ok is false if the name is that of another one.
func (c *Catalog) ModelAt(p *Provider, name string) (m *Model, ok bool) {
	m = c.Model(name)
	return m, m == nil || m.leadsTo(p, name)
}

// ComputesAddresses reports whether the preset computes the address of each call.
func (p *Provider) ComputesAddresses() bool { return p.offer.address != nil }

// TakesSockets reports whether the gateway itself calls the provider, so that it can open WebSockets
// to it.
func (p *Provider) TakesSockets() bool {
	_, dials := p.Caller.(exchange.Dialer)
	return dials && p.offer.address == nil
}

// Traits returns the traits of the provider, whatever the model.
func (p *Provider) Traits() *trait.Traits { return p.offer.whole.Traits }

// CachesAnswers reports whether a model has a cache of answers.
func (c *Catalog) CachesAnswers() bool {
	return slices.ContainsFunc(c.models, func(m *Model) bool { return m.Cache != nil })
}
