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

// follower follows the changes of the tables, by this process and by others.
type follower struct {
	tables  *tables
	started sync.Once
	opened  chan struct{} // closed after the first reading of the keys
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// start starts the goroutines, once.
func (f *follower) start() {
	f.started.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		f.cancel = cancel
		wake := make(chan struct{}, 1)
		f.running.Go(func() { f.follow(ctx, wake) })
		f.running.Go(func() { f.tables.db.WatchWrites(ctx) })
		f.running.Go(func() {
			f.tables.db.Listen(ctx, func() {
				select {
				case wake <- struct{}{}:
				default: // follow has been woken already
				}
			})
		})
	})
}

// end ends the goroutines, and keeps them from starting.
func (f *follower) end() {
	f.started.Do(func() { f.cancel = func() {} })
	f.cancel()
	f.running.Wait()
}

// follow keeps the snapshot up to date until the context ends.
func (f *follower) follow(ctx context.Context, wake <-chan struct{}) {
	tables := f.tables
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	written, pruned := time.Now(), time.Time{}
	tables.refresh(ctx)
	close(f.opened)
	for {
		if time.Since(written) >= usesInterval {
			written = time.Now()
			tables.writeUses(ctx)
		}
		if tables.recorder.options.Load() != nil && time.Since(pruned) >= pruneInterval {
			pruned = time.Now()
			tables.recorder.prune(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-poll.C:
		case <-tables.cache.checks.asked:
			rest(ctx)
		}
		tables.refresh(ctx)
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
func (t *tables) refresh(ctx context.Context) {
	defer close(t.cache.checks.begin())
	ctx, cancel := context.WithTimeout(ctx, database.Timeout)
	defer cancel()
	t.db.Follow()
	began := time.Since(t.cache.created)
	db, err := t.db.Open(ctx)
	if err == nil {
		err = t.cache.newest.reload(t.db.Statements(ctx, db))
	}
	switch {
	case err == nil:
		t.cache.verified.Store(int64(began))
		t.outage.End(t.recorder.logger, "store is available again")
	case ctx.Err() != context.Canceled:
		t.cache.verified.Store(0)
		t.db.Disconnect(db)
		t.outage.Begin(t.recorder.logger, "store is not available; known keys stay valid", t.db.Explain("following keys", err))
	}
}
