// Package keys contains two key sources: the keys of the configuration, and the keys
// of a file that may change without a reload.
//
// It promises that only the SHA-256 digests of keys stay in memory; that a lookup
// does no I/O; that errors and logs contain the names of keys, but never a key; and
// that the previous keys of a file stay valid if the file becomes invalid or
// vanishes.
//
// It refuses literal keys in the configuration, because Caddy's admin API and the
// autosaved configuration would show them.
package keys

import (
	"fmt"
	"iter"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(ConfigKeys{})
	caddy.RegisterModule(new(FileKeys))
}

// ConfigKeys are the keys in the configuration. They work without a store. To change
// one, reload the configuration.
type ConfigKeys struct {
	// Keys are the keys. Their names and values are unique.
	Keys []Entry `json:"keys,omitempty"`

	set *set
}

// CaddyModule returns the Caddy module information.
func (ConfigKeys) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.keys.config",
		New: func() caddy.Module { return new(ConfigKeys) },
	}
}

// Provision resolves the references to keys, and computes the digests.
func (c *ConfigKeys) Provision(ctx caddy.Context) error {
	c.set = newSet(ctx.Logger())
	for i, entry := range c.Keys {
		if err := entry.check(); err != nil {
			return fmt.Errorf("key number %d: %w", i+1, err)
		}
		if err := c.set.add(entry, 0); err != nil {
			return err
		}
	}
	return nil
}

// Lookup implements aigateway.KeySource.
func (c *ConfigKeys) Lookup(digest aigateway.Digest) *aigateway.Key { return c.set.lookup(digest) }

// All implements aigateway.KeyLister.
func (c *ConfigKeys) All() iter.Seq[*aigateway.Key] { return c.set.all() }

// Interface guards
var (
	_ caddy.Provisioner     = (*ConfigKeys)(nil)
	_ caddyfile.Unmarshaler = (*ConfigKeys)(nil)
	_ aigateway.KeySource   = (*ConfigKeys)(nil)
	_ aigateway.KeyLister   = (*ConfigKeys)(nil)
)
