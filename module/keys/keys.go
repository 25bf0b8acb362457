// Package keys contains two key sources: the keys of the configuration, and the keys
// of a file. Changes of the file, and of the files of secrets, take effect without a
// reload.
//
// It promises that a lookup does no I/O; that errors and logs contain the names of keys,
// but never a key; and that the previous keys of a file stay valid if the file becomes
// invalid or vanishes.
//
// It refuses literal keys in the configuration, because Caddy's admin API and the
// autosaved configuration would show them.
package keys

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(new(ConfigKeys))
	caddy.RegisterModule(new(FileKeys))
}

// ConfigKeys are the keys in the configuration. They work without a store. A change of a
// file that a reference names takes effect within about two seconds; everything else
// changes with the configuration.
type ConfigKeys struct {
	// Keys are the keys. Their names and values are unique.
	Keys []Entry `json:"keys,omitempty"`

	source
}

// CaddyModule returns the Caddy module information.
func (*ConfigKeys) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.keys.config",
		New: func() caddy.Module { return new(ConfigKeys) },
	}
}

// Provision resolves the references to keys, and follows their files until ctx ends.
func (c *ConfigKeys) Provision(ctx caddy.Context) error {
	c.ctx, c.logger = ctx, ctx.Logger()
	return c.replace(func(keys *set) error {
		for i, entry := range c.Keys {
			if err := entry.check(); err != nil {
				return fmt.Errorf("key number %d: %w", i+1, err)
			}
			if err := keys.add(entry, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// Interface guards
var (
	_ caddy.Provisioner       = (*ConfigKeys)(nil)
	_ caddyfile.Unmarshaler   = (*ConfigKeys)(nil)
	_ aigateway.KeySource     = (*ConfigKeys)(nil)
	_ aigateway.LiveKeyLister = (*ConfigKeys)(nil)
)
