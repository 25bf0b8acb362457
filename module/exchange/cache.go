package exchange

import (
	"crypto/sha256"
	"hash"
	"time"
)

// Cache is the cache of answers, for an exchange whose model has one and whose request asks for
// what can be repeated.
type Cache struct {
	Answers   CachedAnswers
	Scope     CacheScope
	TTL       time.Duration // of an answer that is kept
	MaxAge    time.Duration // of an answer that the client accepts
	Refresh   bool          // the client wants a fresh answer, which is kept
	ToolCalls bool          // answers that call tools are kept, too
}

// CacheScope identifies those who share answers.
type CacheScope [sha256.Size]byte

// CacheKey identifies equal requests of a scope. Nobody without the secret of the store can
// compute it for a prompt.
type CacheKey struct {
	Scope   CacheScope
	Request [sha256.Size]byte // the sum of the store's MAC
}

// CachedAnswers is a store of answers. Its methods may be called concurrently.
type CachedAnswers interface {
	// MAC returns the keyed hash whose sum is CacheKey.Request.
	MAC() hash.Hash
	// Largest returns the largest size of an answer, in bytes.
	Largest() int64
	// Flights returns the running calls of this process whose answers will be kept.
	Flights() *Flights
	// Get returns an answer that is at most so old, and its age; nil if there is none.
	Get(key CacheKey, maxAge time.Duration) (answer *CachedAnswer, age time.Duration)
	// Put keeps an answer for a time, in place of an earlier one. Nothing changes the answer.
	Put(key CacheKey, answer *CachedAnswer, ttl time.Duration)
	// Clear removes the answers of some scopes, of all without one, and returns their number.
	Clear(scopes ...CacheScope) (removed int, err error)
}

// CachedAnswer is a whole answer of a provider with status 200.
type CachedAnswer struct {
	ContentType string
	Stream      bool // of events
	Body        []byte
}

// CacheHeader is the header, in canonical form, by which clients see whether an answer is from
// the cache: hit, miss, refresh, or bypass.
const CacheHeader = "X-Gateway-Cache"

// The values of CacheHeader.
const (
	CacheHit     = "hit"
	CacheMiss    = "miss"
	CacheRefresh = "refresh"
	CacheBypass  = "bypass"
)
