// Package keyring finds the keys of clients in the key sources of a site.
//
// It refuses sources that contain the same key name or value, because otherwise their
// order would decide in silence which key is valid.
package keyring

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Sources are the key sources of a site, in the order of lookup.
type Sources []aigateway.KeySource

// Check returns an error for keys that a site refuses.
type Check func(iter.Seq[*aigateway.Key]) error

// Add returns the sources and one more. It returns an error if a key of the new source
// has the name or value of another key, or does not pass the check.
func (s Sources) Add(source aigateway.KeySource, check Check) (Sources, error) {
	if list, ok := source.(aigateway.KeyLister); ok {
		if err := s.allow(list.All(), check); err != nil {
			return nil, err
		}
	}
	if tokens, ok := source.(aigateway.TokenSource); ok {
		if err := check(tokens.Rights()); err != nil {
			return nil, err
		}
	}
	return append(s, source), nil
}

// CheckChanges makes each source check its changed keys against the keys of the other
// sources, and with check. Without this, a conflict would appear only at the next reload.
func (s Sources) CheckChanges(check Check) {
	for i, source := range s {
		if live, ok := source.(aigateway.LiveKeyLister); ok {
			others := slices.Delete(slices.Clone(s), i, i+1)
			live.CheckChanges(func(keys iter.Seq[*aigateway.Key]) error { return others.allow(keys, check) })
		}
	}
}

// allow returns an error if one of the keys has the name or value of a key of the sources,
// or does not pass the check.
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

// Known returns the keys of the sources that can list or find theirs.
func (s Sources) Known() iter.Seq[*aigateway.Key] {
	return func(yield func(*aigateway.Key) bool) {
		for key := range s.All() {
			if !yield(key) {
				return
			}
		}
		for _, source := range s {
			finder, ok := source.(aigateway.KeyFinder)
			if !ok {
				continue
			}
			for key := range finder.Known() {
				if !yield(key) {
					return
				}
			}
		}
	}
}

// HasOwner reports whether a key of the sources that can list theirs has this owner. Letter
// case does not matter, as in usernames.
func (s Sources) HasOwner(name string) bool {
	for key := range s.All() {
		if strings.EqualFold(key.Owner, name) {
			return true
		}
	}
	return false
}

// ByID returns the key with an id, nil if no source that can list or find its keys has it.
func (s Sources) ByID(id string) *aigateway.Key {
	for key := range s.All() {
		if key.ID == id {
			return key
		}
	}
	for _, source := range s {
		if finder, ok := source.(aigateway.KeyFinder); ok {
			if key := finder.KeyByID(id); key != nil {
				return key
			}
		}
	}
	return nil
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

// verifiesTokens reports whether a source verifies tokens.
func (s Sources) verifiesTokens() bool {
	return slices.ContainsFunc(s, func(source aigateway.KeySource) bool {
		_, ok := source.(aigateway.TokenSource)
		return ok
	})
}

// Verify returns the key of a signed token that Find does not find, or of an access token that
// another process has issued a moment ago. Both results are nil for
// a credential that is no token of a source; see aigateway.TokenSource for errors.
func (s Sources) Verify(ctx context.Context, credential string) (*aigateway.Key, error) {
	for _, source := range s {
		switch source := source.(type) {
		case aigateway.TokenSource:
			if key, err := source.Verify(ctx, credential); key != nil || err != nil {
				return key, err
			}
		case aigateway.SharedKeySource:
			if key := source.LookupIssued(ctx, credential); key != nil {
				return key, nil
			}
		}
	}
	return nil, nil
}

// Complete reports whether every source has read all of its keys. Only then is an unknown
// key certainly invalid.
func (s Sources) Complete() bool {
	for _, source := range s {
		if doubt, ok := source.(aigateway.PartialKeySource); ok && !doubt.Complete() {
			return false
		}
	}
	return true
}
