// Package keys holds the keys that stand in the configuration itself, and those
// of a file that is followed while it changes.
//
// It promises that of every key only its SHA-256 digest stays in memory, that
// a lookup does no I/O, that what it says in errors and logs names a key but
// never shows it, and that a file which becomes wrong or vanishes locks nobody
// out. It refuses literal keys: they would lie in the admin API and in the
// autosaved configuration.
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

// ConfigKeys are the keys of the configuration itself. They work without any
// store, and a change of one takes a reload of the configuration.
type ConfigKeys struct {
	// Keys are the keys. No two may have the same name or the same value.
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

// Provision resolves the references to keys and digests the keys.
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

// Lookup returns the key with this digest, nil when there is none.
func (c *ConfigKeys) Lookup(digest aigateway.Digest) *aigateway.Key { return c.set.lookup(digest) }

// All are the keys.
func (c *ConfigKeys) All() iter.Seq[*aigateway.Key] { return c.set.all() }

// Interface guards
var (
	_ caddy.Provisioner     = (*ConfigKeys)(nil)
	_ caddyfile.Unmarshaler = (*ConfigKeys)(nil)
	_ aigateway.KeySource   = (*ConfigKeys)(nil)
	_ aigateway.KeyLister   = (*ConfigKeys)(nil)
)
