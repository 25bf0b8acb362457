package caddyfile

import (
	"slices"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
)

// readSockets reads the providers to which clients may open WebSockets.
func readSockets(d *cf.Dispenser, c *config) (err error) {
	c.sockets = *d
	c.gateway.Sockets, err = readList(d, nil)
	return err
}

// checkSockets returns an error for a provider of WebSockets that is not defined.
func (c *config) checkSockets() error {
	known := c.providerNames()
	for _, name := range c.gateway.Sockets {
		if !slices.Contains(known, name) {
			return c.sockets.Errf("sockets: %w", catalog.UnknownProvider(name, known))
		}
	}
	return nil
}
