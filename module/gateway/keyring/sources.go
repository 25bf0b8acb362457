// Package keyring is where the keys of clients are looked up: the sources of a site in
// their order. It refuses sources that contradict each other, since their order must
// not decide in silence which key counts.
package keyring

import (
	"iter"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Sources are the places where keys are looked up, in this order.
type Sources []aigateway.KeySource

// Check returns an error for keys that a site refuses.
type Check func(iter.Seq[*aigateway.Key]) error

// Add returns the sources with one more. It refuses a source whose keys contradict
// those of the others, or do not pass the check.
func (s Sources) Add(source aigateway.KeySource, check Check) (Sources, error) {
	if list, ok := source.(aigateway.KeyLister); ok {
		if err := s.allow(list.All(), check); err != nil {
			return nil, err
		}
	}
	return append(s, source), nil
}

// CheckChanges makes sources check changed keys against those of the other sources, and
// with check. Otherwise a conflict would show at the next reload, when nobody thinks of
// it.
func (s Sources) CheckChanges(check Check) {
	for i, source := range s {
		if live, ok := source.(aigateway.LiveKeyLister); ok {
			others := slices.Delete(slices.Clone(s), i, i+1)
			live.CheckChanges(func(keys iter.Seq[*aigateway.Key]) error { return others.allow(keys, check) })
		}
	}
}

// allow returns an error for keys that contradict those of the sources, or do not pass
// the check.
func (s Sources) allow(keys iter.Seq[*aigateway.Key], check Check) error {
	if err := s.unique(keys); err != nil {
		return err
	}
	return check(keys)
}

// unique returns an error for keys whose name or value a source already has.
func (s Sources) unique(keys iter.Seq[*aigateway.Key]) error {
	names := s.names()
	for key := range keys {
		if names[key.ID] {
			return &aigateway.KeyError{ID: key.ID, Problem: "is defined twice"}
		}
		if twin := s.Find(key.Digest); twin != nil {
			return &aigateway.KeyError{ID: key.ID, Problem: "has the same value as key '" + twin.ID + "'"}
		}
	}
	return nil
}

// names returns the names of all keys that the sources can list.
func (s Sources) names() map[string]bool {
	names := make(map[string]bool)
	for key := range s.All() {
		names[key.ID] = true
	}
	return names
}

// All returns the keys of the sources that can list theirs.
func (s Sources) All() iter.Seq[*aigateway.Key] {
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

// Find returns the key with a digest, nil if no source has it.
func (s Sources) Find(digest aigateway.Digest) *aigateway.Key {
	for _, source := range s {
		if key := source.Lookup(digest); key != nil {
			return key
		}
	}
	return nil
}

// Complete reports whether every source has all of its keys, so that an unknown key
// is an invalid one.
func (s Sources) Complete() bool {
	for _, source := range s {
		if doubt, ok := source.(aigateway.PartialKeySource); ok && !doubt.Complete() {
			return false
		}
	}
	return true
}
