package store

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// cache answers lookups from the newest snapshot of the keys. They do no I/O.
type cache struct {
	newest   newest
	created  time.Time
	verified atomic.Int64 // time of the last successful check, since created
	checks   checks
}

// newest is the newest snapshot of the keys.
type newest struct {
	atomic.Pointer[snapshot]
	mu sync.Mutex // held to replace the snapshot
}

// Lookup implements aigateway.KeySource.
func (c *cache) Lookup(digest aigateway.Digest) *aigateway.Key {
	return c.newest.Load().lookup(digest)
}

// KeyByID implements aigateway.KeyFinder. The key does not count as used.
func (c *cache) KeyByID(id string) *aigateway.Key {
	if cached := c.newest.Load().byID(id); cached != nil {
		return &cached.key
	}
	return nil
}

// Known implements aigateway.KeyFinder. The keys do not count as used.
func (c *cache) Known() iter.Seq[*aigateway.Key] {
	return func(yield func(*aigateway.Key) bool) {
		for _, cached := range c.newest.Load().keys {
			if !cached.replaced && !yield(&cached.key) {
				return
			}
		}
	}
}

// LimitOfUser implements aigateway.RuledUsers.
func (c *cache) LimitOfUser(name string) *aigateway.Limit { return c.newest.Load().rules[name].limit }

// Complete implements aigateway.PartialKeySource.
func (c *cache) Complete() bool {
	return time.Since(c.created)-time.Duration(c.verified.Load()) < completeFor
}

// reload replaces the snapshot if the state of the database has changed.
func (n *newest) reload(db database.Statements) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := n.Load()
	current, err := readState(db)
	if err != nil || old.loaded && old.state == current {
		return err
	}
	next, err := readSnapshot(db, old)
	if err == nil {
		n.replace(old, next)
	}
	return err
}

// replace replaces the snapshot. Requests run with the rules of the old one until then.
func (n *newest) replace(old, next *snapshot) {
	next.dateBudgets(old)
	n.Store(next)
}

// invalidate makes the next reload read all keys, even if the state is unchanged. A new
// connection may lead to a copy of the database that was edited by hand.
func (n *newest) invalidate() {
	n.mu.Lock()
	defer n.mu.Unlock()
	stale := *n.Load()
	stale.loaded = false
	n.Store(&stale)
}

// publish replaces the snapshot by the snapshot of a transaction, unless the current one
// is newer.
func (n *newest) publish(next *snapshot) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.Load(); !old.loaded || old.revision < next.revision {
		n.replace(old, next)
	}
}
