package store

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// followChanges keeps the snapshot up to date until the context ends.
func (s *Store) followChanges(ctx context.Context, wake <-chan struct{}) {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	written, pruned := time.Now(), time.Time{}
	s.refresh(ctx)
	close(s.opened)
	for {
		if time.Since(written) >= usesInterval {
			written = time.Now()
			writeUses(ctx, s)
		}
		if s.options.Load() != nil && time.Since(pruned) >= pruneInterval {
			pruned = time.Now()
			s.prune(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-poll.C:
		case <-s.checks.asked:
			rest(ctx)
		}
		s.refresh(ctx)
	}
}

const (
	// askedPause is the time before a check that a lookup has asked for, so that invented
	// access tokens cause no more than twenty checks a second. All lookups meanwhile share one.
	askedPause = 50 * time.Millisecond
	// longestAsk is the longest time that a lookup waits for a check.
	longestAsk = time.Second
)

// rest waits for askedPause, or until the context ends.
func rest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askedPause)
	defer cancel()
	<-ctx.Done()
}

// checks are the checks for changes, for lookups that wait for one.
type checks struct {
	asked chan struct{} // makes a check begin; holds one

	mu   sync.Mutex
	next chan struct{} // closed when the check that has not begun yet has ended
}

func newChecks() checks { return checks{asked: make(chan struct{}, 1), next: make(chan struct{})} }

// begin begins a check, and returns the channel to close at its end.
func (c *checks) begin() (ended chan<- struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended, c.next = c.next, make(chan struct{})
	return ended
}

// wait waits for the end of a check that has not begun yet.
func (c *checks) wait(ctx context.Context) {
	c.mu.Lock()
	next := c.next
	c.mu.Unlock()
	select {
	case c.asked <- struct{}{}:
	default: // another lookup has asked already
	}
	select {
	case <-next:
	case <-ctx.Done():
	}
}

// LookupIssued implements aigateway.SharedKeySource.
func (c *cache) LookupIssued(ctx context.Context, credential string) *aigateway.Key {
	if !strings.HasPrefix(credential, aigateway.AccessTokenPrefix) || !c.Complete() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, longestAsk)
	defer cancel()
	c.checks.wait(ctx)
	return c.Lookup(sha256.Sum256([]byte(credential)))
}

// refresh reads the keys if the database has changed. If it fails, it closes the
// connection, and the keys count as incomplete until a later refresh succeeds.
func (s *Store) refresh(ctx context.Context) {
	defer close(s.checks.begin())
	ctx, cancel := context.WithTimeout(ctx, database.Timeout)
	defer cancel()
	s.db.Follow()
	began := time.Since(s.created)
	db, err := s.db.Open(ctx)
	if err == nil {
		err = s.reload(s.db.Statements(ctx, db))
	}
	switch {
	case err == nil:
		s.verified.Store(int64(began))
		s.outage.End(s.logger, "store is available again")
	case ctx.Err() != context.Canceled:
		s.verified.Store(0)
		s.db.Disconnect(db)
		s.outage.Begin(s.logger, "store is not available; known keys stay valid", s.db.Explain("following keys", err))
	}
}
