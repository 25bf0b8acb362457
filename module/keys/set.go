package keys

import (
	"crypto/subtle"
	"fmt"
	"iter"
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// set are keys of which no two have the same name or the same value.
type set struct {
	byDigest map[aigateway.Digest]*aigateway.Key
	names    map[string]int // with the lines that they stand in; 0 in no file
	logger   *zap.Logger    // told of keys that will be of little use
}

func newSet(logger *zap.Logger) *set {
	return &set{make(map[aigateway.Digest]*aigateway.Key), make(map[string]int), logger}
}

// add adds the key of an entry that passed check, and stands in this line.
func (s *set) add(entry Entry, line int) error {
	if _, twice := s.names[entry.Name]; twice {
		return fmt.Errorf("key %s is defined twice", entry.Name)
	}
	key, length, err := entry.resolve()
	if err != nil {
		return fmt.Errorf("key %s: %w", entry.Name, err)
	}
	if twin, ok := s.byDigest[key.Digest]; ok {
		return fmt.Errorf("key %s: has the same value as key %s", entry.Name, twin.ID)
	}
	s.warn(key, length)
	s.names[entry.Name], s.byDigest[key.Digest] = line, key
	return nil
}

func (s *set) warn(key *aigateway.Key, length int) {
	if length > 0 && length < guessable {
		s.logger.Warn("key is short enough to be guessed",
			zap.String("key", key.ID), zap.Int("recommended_bytes", guessable))
	}
	if key.Expired(time.Now()) {
		s.logger.Warn("key has expired", zap.String("key", key.ID), zap.Time("expires", key.Expires))
	}
}

func (s *set) lookup(digest aigateway.Digest) *aigateway.Key {
	key := s.byDigest[digest]
	// A map compares with an early exit. What that shows is about digests and
	// of no use to find a key; the second comparison says so without argument.
	if key == nil || subtle.ConstantTimeCompare(key.Digest[:], digest[:]) != 1 {
		return nil
	}
	return key
}

func (s *set) all() iter.Seq[*aigateway.Key] { return maps.Values(s.byDigest) }
