package state

import (
	"net/url"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// lastHour is what operators ask first: what happened lately, and which addresses are ill.
type lastHour struct {
	metrics.Hour
	Addresses []poolAddress `json:"addresses"`
}

// poolAddress is an address of a provider that has several.
type poolAddress struct {
	Provider string `json:"provider"`
	exchange.Address
}

// Health returns the last hour of the providers of sites.
func (s Sites) Health(url.Values) (any, error) {
	var names []string
	addresses := []poolAddress{}
	for _, site := range s.All() {
		for _, p := range site.Catalog.Providers {
			if slices.Contains(names, p.Name) {
				continue
			}
			names = append(names, p.Name)
			if pool, ok := p.Caller.(exchange.Pool); ok {
				for _, address := range pool.Addresses() {
					addresses = append(addresses, poolAddress{p.Name, address})
				}
			}
		}
	}
	slices.Sort(names)
	return lastHour{metrics.LastHour(names), addresses}, nil
}
