package cache

import (
	"encoding/binary"
	"encoding/hex"
	"hash"
	"sync/atomic"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Shared has answers in a store that gateways with the same keys share. Who reads the store sees
// neither prompts nor answers, and whoever changes it makes answers disappear, but cannot make some
// up. While the store does not answer, the cache has no answers.
type Shared struct {
	store aigateway.AnswerCache
	seals func() *seal.Ring
	entry int64 // Bounds.Entry

	flights exchange.Flights

	keys atomic.Pointer[ringKeys] // of the last request
}

// ringKeys are the keys that are derived from a ring.
type ringKeys struct {
	ring  *seal.Ring
	vault seal.Vault
}

// vault returns the keys that names and values are made with. They change with the ring.
func (s *Shared) vault() seal.Vault {
	ring, keys := s.seals(), s.keys.Load()
	if keys == nil || keys.ring != ring {
		keys = &ringKeys{ring, ring.Vault("cached answers")}
		s.keys.Store(keys)
	}
	return keys.vault
}

// MAC implements exchange.CachedAnswers.
func (s *Shared) MAC() hash.Hash { return s.vault().MAC() }

// Largest implements exchange.CachedAnswers.
func (s *Shared) Largest() int64 { return s.entry }

// Flights implements exchange.CachedAnswers.
func (s *Shared) Flights() *exchange.Flights { return &s.flights }

// Get implements exchange.CachedAnswers.
func (s *Shared) Get(key exchange.CacheKey, maxAge time.Duration) (*exchange.CachedAnswer, time.Duration) {
	v := s.vault()
	name := nameOf(v, key)
	sealed, err := s.store.Get(name)
	if err != nil || sealed == nil {
		return nil, 0
	}
	value, ok := v.Open(name, sealed)
	if !ok {
		return nil, 0
	}
	answer, kept := decode(value)
	age := max(0, time.Since(kept)) // the clock of another gateway may be ahead
	if answer == nil || age >= maxAge {
		return nil, 0
	}
	return answer, age
}

// Put implements exchange.CachedAnswers.
func (s *Shared) Put(key exchange.CacheKey, answer *exchange.CachedAnswer, ttl time.Duration) {
	v := s.vault()
	name := nameOf(v, key)
	_ = s.store.Put(name, v.Seal(name, encode(answer, time.Now())), ttl) // the store reports its outages
}

// Clear implements exchange.CachedAnswers.
func (s *Shared) Clear(scopes ...exchange.CacheScope) (removed int, err error) {
	if len(scopes) == 0 {
		return s.store.Remove("")
	}
	v := s.vault()
	for _, scope := range scopes {
		n, err := s.store.Remove(folderOf(v, scope))
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// Degraded implements aigateway.Degradable.
func (s *Shared) Degraded() error {
	if store, ok := s.store.(aigateway.Degradable); ok {
		return store.Degraded()
	}
	return nil
}

// nameOf returns the name of an answer, in the folder of its scope.
func nameOf(v seal.Vault, key exchange.CacheKey) string {
	return folderOf(v, key.Scope) + hex.EncodeToString(key.Request[:])
}

func folderOf(v seal.Vault, scope exchange.CacheScope) string {
	mac := v.MAC()
	_, _ = mac.Write(scope[:])
	return hex.EncodeToString(mac.Sum(nil)[:16]) + "/"
}

// form is the version of what encode returns.
const form = 1

// encode returns an answer and its time as bytes.
func encode(answer *exchange.CachedAnswer, kept time.Time) []byte {
	dst := append(make([]byte, 0, len(answer.Body)+len(answer.ContentType)+32), form, 0)
	if answer.Stream {
		dst[1] = 1
	}
	dst = binary.AppendUvarint(dst, uint64(kept.UnixMilli()))
	dst = binary.AppendUvarint(dst, uint64(len(answer.ContentType)))
	return append(append(dst, answer.ContentType...), answer.Body...)
}

// decode reverses encode. answer is nil for bytes of another form.
func decode(value []byte) (answer *exchange.CachedAnswer, kept time.Time) {
	if len(value) < 2 || value[0] != form {
		return nil, kept
	}
	isStream, rest := value[1] == 1, value[2:]
	millis, n := binary.Uvarint(rest)
	if n <= 0 {
		return nil, kept
	}
	rest = rest[n:]
	length, n := binary.Uvarint(rest)
	if n <= 0 || length > uint64(len(rest)-n) {
		return nil, kept
	}
	rest = rest[n:]
	return &exchange.CachedAnswer{ContentType: string(rest[:length]), Stream: isStream, Body: rest[length:]}, time.UnixMilli(int64(millis))
}

// Interface guards
var (
	_ exchange.CachedAnswers = (*Shared)(nil)
	_ aigateway.Degradable   = (*Shared)(nil)
)
