package keys

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// source is a key source whose keys change while requests look them up.
type source struct {
	ctx    context.Context // ends the following of secrets
	logger *zap.Logger
	keys   atomic.Pointer[set]

	mu     sync.Mutex // guards checks, and makes check and replacement one step
	checks []check
}

// replace replaces the keys by those that build adds to an empty set, if every check allows
// it. Calls do not overlap.
func (s *source) replace(build func(*set) error) error {
	keys := newSet(s.ctx, s.logger)
	if err := build(keys); err != nil {
		keys.stop()
		return err
	}
	keys.guard(s.check)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkLocked(keys.all()); err != nil {
		keys.stop()
		return keys.withLine(err)
	}
	if previous := s.keys.Swap(keys); previous != nil {
		previous.stop()
	}
	return nil
}

// check returns an error for keys that a check does not allow.
func (s *source) check(keys iter.Seq[*aigateway.Key]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkLocked(keys)
}

func (s *source) checkLocked(keys iter.Seq[*aigateway.Key]) error {
	for _, check := range s.checks {
		if err := check(keys); err != nil {
			return err
		}
	}
	return nil
}

// Lookup implements aigateway.KeySource.
func (s *source) Lookup(digest aigateway.Digest) *aigateway.Key { return s.keys.Load().lookup(digest) }

// All implements aigateway.KeyLister.
func (s *source) All() iter.Seq[*aigateway.Key] { return s.keys.Load().all() }

// CheckChanges implements aigateway.LiveKeyLister.
func (s *source) CheckChanges(check func(iter.Seq[*aigateway.Key]) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = append(s.checks, check)
}
