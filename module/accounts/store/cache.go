package store

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// cache contains the newest snapshot of the keys. Lookups do no I/O.
type cache struct {
	mu       sync.Mutex // held to replace snapshot
	snapshot atomic.Pointer[snapshot]
	created  time.Time
	verified atomic.Int64 // time of the last successful check, since created
	checks   checks
}

// Lookup implements aigateway.KeySource.
func (c *cache) Lookup(digest aigateway.Digest) *aigateway.Key {
	return c.snapshot.Load().lookup(digest)
}

// KeyByID implements aigateway.KeyFinder. The key does not count as used.
func (c *cache) KeyByID(id string) *aigateway.Key {
	if cached := c.snapshot.Load().byID(id); cached != nil {
		return &cached.key
	}
	return nil
}

// Known implements aigateway.KeyFinder. The keys do not count as used.
func (c *cache) Known() iter.Seq[*aigateway.Key] {
	return func(yield func(*aigateway.Key) bool) {
		for _, cached := range c.snapshot.Load().keys {
			if !cached.replaced && !yield(&cached.key) {
				return
			}
		}
	}
}

// LimitOfUser implements aigateway.RuledUsers.
func (c *cache) LimitOfUser(name string) *aigateway.Limit { return c.snapshot.Load().rules[name].limit }

// Complete implements aigateway.PartialKeySource.
func (c *cache) Complete() bool {
	return time.Since(c.created)-time.Duration(c.verified.Load()) < completeFor
}

// reload replaces the snapshot if the state of the database has changed.
func (c *cache) reload(db database.Statements) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.snapshot.Load()
	current, err := readState(db)
	if err != nil || old.loaded && old.state == current {
		return err
	}
	next, err := readSnapshot(db, old)
	if err == nil {
		c.replace(old, next)
	}
	return err
}

// replace replaces the snapshot. Requests run with the rules of the old one until then.
func (c *cache) replace(old, next *snapshot) {
	next.dateBudgets(old)
	c.snapshot.Store(next)
}

// invalidate makes the next reload read all keys, even if the state is unchanged. A new
// connection may lead to a copy of the database that was edited by hand.
func (c *cache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	stale := *c.snapshot.Load()
	stale.loaded = false
	c.snapshot.Store(&stale)
}

// publish replaces the snapshot by the snapshot of a transaction, unless the current one
// is newer.
func (c *cache) publish(next *snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.snapshot.Load(); !old.loaded || old.revision < next.revision {
		c.replace(old, next)
	}
}
