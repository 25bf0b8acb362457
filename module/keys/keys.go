// Package keys holds the keys that stand in the configuration itself.
//
// It promises that of every key only its SHA-256 digest stays in memory, that
// a lookup does no I/O, and that what it says in errors and logs names a key
// but never shows it. It refuses literal keys: they would lie in the admin API
// and in the autosaved configuration.
package keys

import (
	"crypto/subtle"
	"fmt"
	"iter"
	"maps"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

func init() {
	caddy.RegisterModule(ConfigKeys{})
}

// ConfigKeys are the keys of the configuration itself. They work without any
// store, and a change of one takes a reload of the configuration.
type ConfigKeys struct {
	// Keys are the keys. No two may have the same name or the same value.
	Keys []Entry `json:"keys,omitempty"`

	byDigest map[exchange.Digest]*exchange.Key
	logger   *zap.Logger
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
	c.logger = ctx.Logger()
	c.byDigest = make(map[exchange.Digest]*exchange.Key, len(c.Keys))
	if err := c.checkNames(); err != nil {
		return err
	}
	for _, entry := range c.Keys {
		if err := c.add(entry); err != nil {
			return fmt.Errorf("key %s: %w", entry.Name, err)
		}
	}
	return nil
}

func (c *ConfigKeys) checkNames() error {
	seen := make(map[string]bool, len(c.Keys))
	for i, entry := range c.Keys {
		if err := entry.check(); err != nil {
			return fmt.Errorf("key number %d: %w", i+1, err)
		}
		if seen[entry.Name] {
			return fmt.Errorf("key %s is defined twice", entry.Name)
		}
		seen[entry.Name] = true
	}
	return nil
}

func (c *ConfigKeys) add(entry Entry) error {
	key, length, err := entry.resolve()
	if err != nil {
		return err
	}
	if twin, ok := c.byDigest[key.Digest]; ok {
		return fmt.Errorf("has the same value as key %s", twin.ID)
	}
	if length > 0 && length < guessable {
		c.logger.Warn("key is short enough to be guessed",
			zap.String("key", key.ID), zap.Int("recommended_bytes", guessable))
	}
	c.byDigest[key.Digest] = key
	return nil
}

// Lookup returns the key with this digest, nil when there is none.
func (c *ConfigKeys) Lookup(digest exchange.Digest) *exchange.Key {
	key := c.byDigest[digest]
	// A map compares with an early exit. What that shows is about digests and
	// of no use to find a key; the second comparison says so without argument.
	if key == nil || subtle.ConstantTimeCompare(key.Digest[:], digest[:]) != 1 {
		return nil
	}
	return key
}

// All are the keys.
func (c *ConfigKeys) All() iter.Seq[*exchange.Key] { return maps.Values(c.byDigest) }

// Interface guards
var (
	_ caddy.Provisioner     = (*ConfigKeys)(nil)
	_ caddyfile.Unmarshaler = (*ConfigKeys)(nil)
	_ exchange.KeySource    = (*ConfigKeys)(nil)
	_ exchange.KeyList      = (*ConfigKeys)(nil)
)
