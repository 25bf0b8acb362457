package gateway

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/state"
)

// stateOf returns the state of the sites with a set of backends; of all sites if set is nil.
func (a *app) stateOf(set *backends.Set) state.Sites {
	return state.Sites{
		Global: a.config.blocks(), Others: set != nil && len(a.serving) > 1,
		All: func() (shown []state.Site) {
			for _, site := range a.sites {
				if set == nil || site.backends == set {
					shown = append(shown, site.state())
				}
			}
			return shown
		},
	}
}

// state returns what operators see of the site.
func (h *handler) state() state.Site {
	return state.Site{
		Blocks: h.config.blocks(), Catalog: h.resolved.catalog, Keys: h.resolved.sources, KeyLimits: h.resolved.limits,
		Guards: h.resolved.guards, Labels: &h.config.Names, Servers: h.resolved.servers.All(), Store: h.backends.Store,
		Hosts:     func() []string { return hostsOf(h) },
		Addresses: func() []string { return addressesOf(h) },
		Unready:   h.unready,
		Degraded:  func() map[string]error { return degraded(h) },
	}
}

// blocks returns the blocks of the configuration itself, without those that it inherits.
func (c *Config) blocks() state.Blocks {
	return state.Blocks{Providers: c.Providers, Models: c.Models, Limits: c.KeyLimits, Written: c.Written}
}
