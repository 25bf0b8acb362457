package gateway

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

func (r *resolved) addKeySources(ctx caddy.Context, c *Config) error {
	if c.KeySourcesRaw == nil {
		return nil
	}
	mods, err := ctx.LoadModule(c, "KeySourcesRaw")
	if err != nil {
		return fmt.Errorf("loading key sources: %w", err)
	}
	for _, mod := range mods.([]any) {
		source := mod.(exchange.KeySource)
		if err := r.checkKeys(source); err != nil {
			return err
		}
		r.sources = append(r.sources, source)
	}
	return nil
}

// checkKeys refuses a source with a key whose name or value a source before it
// has too: which of them counts must not depend on their order in silence.
func (r *resolved) checkKeys(source exchange.KeySource) error {
	list, ok := source.(exchange.KeyList)
	if !ok {
		return nil
	}
	names := r.keyNames()
	for key := range list.All() {
		if names[key.ID] {
			return fmt.Errorf("key '%s' is defined twice", key.ID)
		}
		if twin := r.key(key.Digest); twin != nil {
			return fmt.Errorf("key '%s' has the same value as key '%s'", key.ID, twin.ID)
		}
	}
	return nil
}

// keyNames are the names of all keys that the sources so far can list.
func (r *resolved) keyNames() map[string]bool {
	names := make(map[string]bool)
	for _, source := range r.sources {
		if list, ok := source.(exchange.KeyList); ok {
			for key := range list.All() {
				names[key.ID] = true
			}
		}
	}
	return names
}

// key looks a key up in every source, the inherited ones first.
func (r *resolved) key(digest exchange.Digest) *exchange.Key {
	for _, source := range r.sources {
		if key := source.Lookup(digest); key != nil {
			return key
		}
	}
	return nil
}
