package limits

import (
	"context"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// counter counts for one limit.
type counter struct {
	rules aigateway.LimitRules
	born  time.Time

	mu       sync.RWMutex // guards what follows; who uses an account holds it for reading
	accounts map[subject]*account
	room     int // for how many accounts there is room before the idle ones are looked for
}

// subject is whose use is counted: that of a key, by its digest, or that of a
// name which several keys have in common.
type subject struct {
	digest aigateway.Digest
	name   string
}

func subjectOf(key *aigateway.Key) subject {
	if key.Subject != "" {
		return subject{name: key.Subject}
	}
	return subject{digest: key.Digest}
}

// leastRoom is how many accounts there may be before any is looked at.
const leastRoom = 1024

func newCounter(rules aigateway.LimitRules) *counter {
	return &counter{rules: rules, born: time.Now(), accounts: make(map[subject]*account), room: leastRoom}
}

// Admit decides about a request. There is no I/O in it.
func (c *counter) Admit(_ context.Context, key *aigateway.Key, tokens int64) aigateway.Admission {
	who, now := subjectOf(key), time.Since(c.born)
	c.mu.RLock()
	defer c.mu.RUnlock()
	known := c.accounts[who]
	for known == nil {
		c.mu.RUnlock()
		c.open(who, now)
		c.mu.RLock()
		known = c.accounts[who]
	}
	return known.admit(now, tokens)
}

// open adds an account, after idle ones have made room for it. Looking for those
// costs as much as there are accounts, and is done once for as many new ones.
func (c *counter) open(who subject, now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.accounts[who] != nil {
		return
	}
	if len(c.accounts) >= c.room {
		c.sweep(now)
	}
	c.accounts[who] = newAccount(c.rules)
}

func (c *counter) sweep(now time.Duration) {
	for who, known := range c.accounts {
		if known.idle(now) {
			delete(c.accounts, who)
		}
	}
	c.room = max(leastRoom, 2*len(c.accounts))
}

// Destruct has nothing to release but memory.
func (*counter) Destruct() error { return nil }
