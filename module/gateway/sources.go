package gateway

import (
	"fmt"
	"iter"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// sources are the places where keys are looked up, in this order.
type sources []aigateway.KeySource

// addKeySources provisions the key sources of c.
func (r *resolved) addKeySources(ctx caddy.Context, c *Config) error {
	if c.KeySourcesRaw == nil {
		return nil
	}
	mods, err := ctx.LoadModule(c, "KeySourcesRaw")
	if err != nil {
		return fmt.Errorf("loading key sources: %w", err)
	}
	for _, mod := range mods.([]any) {
		source := mod.(aigateway.KeySource)
		if list, ok := source.(aigateway.KeyLister); ok {
			if err := r.checkKeys(r.sources, list.All()); err != nil {
				return err
			}
		}
		r.sources = append(r.sources, source)
	}
	r.checkChanges()
	return nil
}

// check refuses keys whose name or value a source already has: the order of sources
// must not decide in silence which of them counts.
func (s sources) check(keys iter.Seq[*aigateway.Key]) error {
	names := s.names()
	for key := range keys {
		if names[key.ID] {
			return &aigateway.KeyError{ID: key.ID, Problem: "is defined twice"}
		}
		if twin := s.key(key.Digest); twin != nil {
			return &aigateway.KeyError{ID: key.ID, Problem: "has the same value as key '" + twin.ID + "'"}
		}
	}
	return nil
}

// checkKeys refuses keys that are in conflict with those of other sources, and keys
// whose limit is not defined.
func (r *resolved) checkKeys(others sources, keys iter.Seq[*aigateway.Key]) error {
	if err := others.check(keys); err != nil {
		return err
	}
	return r.limiters.check(keys)
}

// checkChanges has sources check changed keys against those of the other sources.
// Otherwise a conflict would show at the next reload, when nobody thinks of it.
func (r *resolved) checkChanges() {
	for i, source := range r.sources {
		if live, ok := source.(aigateway.LiveKeyLister); ok {
			others := slices.Delete(slices.Clone(r.sources), i, i+1)
			live.CheckChanges(func(keys iter.Seq[*aigateway.Key]) error { return r.checkKeys(others, keys) })
		}
	}
}

// names returns the names of all keys that the sources can list.
func (s sources) names() map[string]bool {
	names := make(map[string]bool)
	for key := range s.all() {
		names[key.ID] = true
	}
	return names
}

// all returns the keys of the sources that can list theirs.
func (s sources) all() iter.Seq[*aigateway.Key] {
	return func(yield func(*aigateway.Key) bool) {
		for _, source := range s {
			list, ok := source.(aigateway.KeyLister)
			if !ok {
				continue
			}
			for key := range list.All() {
				if !yield(key) {
					return
				}
			}
		}
	}
}

// key returns the key with a digest, nil if no source has it.
func (s sources) key(digest aigateway.Digest) *aigateway.Key {
	for _, source := range s {
		if key := source.Lookup(digest); key != nil {
			return key
		}
	}
	return nil
}

// complete reports whether every source has all of its keys, so that an unknown key
// is an invalid one.
func (s sources) complete() bool {
	for _, source := range s {
		if doubt, ok := source.(aigateway.PartialKeySource); ok && !doubt.Complete() {
			return false
		}
	}
	return true
}
