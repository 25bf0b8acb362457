package keys

import (
	"fmt"
	"iter"
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// set is a set of keys with unique names and values.
type set struct {
	byDigest map[aigateway.Digest]*aigateway.Key
	lines    map[string]int // line of each name in its file; 0 without a file
	logger   *zap.Logger    // for warnings about short and expired keys
}

func newSet(logger *zap.Logger) *set {
	return &set{make(map[aigateway.Digest]*aigateway.Key), make(map[string]int), logger}
}

// add adds the key of an entry that has passed check. line is its line in the file, or 0.
func (s *set) add(entry Entry, line int) error {
	if _, found := s.lines[entry.Name]; found {
		return fmt.Errorf("key %s is defined twice", entry.Name)
	}
	key, length, err := entry.resolve()
	if err != nil {
		return fmt.Errorf("key %s: %w", entry.Name, err)
	}
	if same, ok := s.byDigest[key.Digest]; ok {
		return fmt.Errorf("key %s: has the same value as key %s", entry.Name, same.ID)
	}
	s.warn(key, length)
	s.lines[entry.Name], s.byDigest[key.Digest] = line, key
	return nil
}

func (s *set) warn(key *aigateway.Key, length int) {
	if length > 0 && length < recommendedLength {
		s.logger.Warn("key is short enough to be guessed",
			zap.String("key", key.ID), zap.Int("recommended_bytes", recommendedLength))
	}
	if key.Expired(time.Now()) {
		s.logger.Warn("key has expired", zap.String("key", key.ID), zap.Time("expires", key.Expires))
	}
}

func (s *set) lookup(digest aigateway.Digest) *aigateway.Key {
	key := s.byDigest[digest]
	if key == nil || !key.Matches(digest) {
		return nil
	}
	return key
}

func (s *set) all() iter.Seq[*aigateway.Key] { return maps.Values(s.byDigest) }
