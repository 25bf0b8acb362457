package keys

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
)

// set is a set of keys with unique names and values. The value of a key changes with the
// file of its secret.
type set struct {
	byDigest atomic.Pointer[digests]
	file     string         // path of the file of the keys; "" without one
	lines    map[string]int // line of each name in the file; 0 without a file
	logger   *zap.Logger

	ctx  context.Context // ends the following of secrets
	stop context.CancelFunc

	mu    sync.Mutex // guards allow, and makes check and change of byDigest one step
	allow check      // of changed keys, called with mu held; nil while the set is built
}

// digests are keys by their digests.
type digests map[aigateway.Digest]*aigateway.Key

// check returns an error for keys that must not replace those of a set.
type check = func(iter.Seq[*aigateway.Key]) error

// newSet returns an empty set that follows secrets until ctx ends or stop is called.
func newSet(ctx context.Context, logger *zap.Logger) *set {
	s := &set{lines: make(map[string]int), logger: logger}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.byDigest.Store(&digests{})
	return s
}

// add adds the key of an entry that has passed check. line is its line in the file, or 0.
func (s *set) add(entry Entry, line int) error {
	if _, found := s.lines[entry.Name]; found {
		return fmt.Errorf("key %s is defined twice", entry.Name)
	}
	s.lines[entry.Name] = line
	key, err := entry.key()
	if err == nil {
		err = s.setValue(entry, key)
	}
	if err != nil {
		return fmt.Errorf("key %s: %w", entry.Name, err)
	}
	if key.Expired(time.Now()) {
		s.logger.Warn("key has expired", zap.String("key", key.ID), zap.Time("expires", key.Expires))
	}
	return nil
}

// setValue adds a key with the value of its entry, and follows the value.
func (s *set) setValue(entry Entry, key *aigateway.Key) error {
	if strings.HasPrefix(entry.Key, digestPrefix) {
		digest, err := parseDigest(entry.Key)
		if err != nil {
			return err
		}
		return s.put(key, digest)
	}
	logger := s.logger.With(zap.String("key", key.ID))
	return secrets.Follow(s.ctx, entry.Key, logger, func(secret aigateway.Secret) error {
		digest, err := digestOf(secret)
		if err != nil {
			return err
		}
		if len(secret) < recommendedLength {
			logger.Warn("key is short enough to be guessed", zap.Int("recommended_bytes", recommendedLength))
		}
		return s.put(key, digest)
	})
}

// put adds a copy of a key with a digest, which replaces the digest that the key has.
func (s *set) put(key *aigateway.Key, digest aigateway.Digest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := *s.byDigest.Load()
	if same, ok := keys[digest]; ok {
		return fmt.Errorf("has the same value as key %s", same.ID)
	}
	if s.allow != nil { // lookups use the map
		keys = maps.Clone(keys)
	}
	changed := *key
	changed.Digest = digest
	delete(keys, key.Digest)
	keys[digest] = &changed
	if s.allow != nil {
		if err := s.allow(maps.Values(keys)); err != nil {
			return err
		}
	}
	key.Digest = digest
	s.byDigest.Store(&keys)
	return nil
}

// guard sets the check of later changes. Lookups may begin after it.
func (s *set) guard(allow check) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allow = allow
}

func (s *set) lookup(digest aigateway.Digest) *aigateway.Key {
	key := (*s.byDigest.Load())[digest]
	if key == nil || !key.Matches(digest) {
		return nil
	}
	return key
}

// withLine adds the line of the key to an error about one key.
func (s *set) withLine(err error) error {
	var about *aigateway.KeyError
	if errors.As(err, &about) && s.lines[about.ID] > 0 {
		return fmt.Errorf("%w, at %s:%d", err, s.file, s.lines[about.ID])
	}
	return err
}

func (s *set) all() iter.Seq[*aigateway.Key] { return maps.Values(*s.byDigest.Load()) }
