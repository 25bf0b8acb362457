package jwt

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const (
	// mostKnown bounds the tokens that are remembered.
	mostKnown = 10_000
	// knownFor is the time after which a token is verified again, so that a key that the
	// issuer has withdrawn ends soon.
	knownFor = 5 * time.Minute
)

// cache contains the keys of tokens that were verified. The zero cache is empty.
type cache struct {
	mu   sync.RWMutex // guards keys
	keys map[aigateway.Digest]verified
}

// verified is the key of a token, and the time until which it is known.
type verified struct {
	key     *aigateway.Key
	expires time.Time
}

// get returns the key with a digest, nil if there is none any more.
func (c *cache) get(digest aigateway.Digest, now time.Time) *aigateway.Key {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if v, ok := c.keys[digest]; ok && v.key.Matches(digest) && now.Before(v.expires) {
		return v.key
	}
	return nil
}

// put adds a key, for knownFor, but not beyond its expiry. A full cache is emptied: the tokens
// are verified again.
func (c *cache) put(key *aigateway.Key, now, expiry time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil || len(c.keys) >= mostKnown {
		c.keys = make(map[aigateway.Digest]verified)
	}
	expires := now.Add(knownFor)
	if expiry.Before(expires) {
		expires = expiry
	}
	c.keys[key.Digest] = verified{key, expires}
}

// clear removes all keys.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = nil
}
