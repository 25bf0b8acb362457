package redis

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

const (
	// maxWaiting is the largest number of changes that wait. Further changes are dropped.
	maxWaiting = 65536
	// maxBatch is the largest number of changes that are sent together.
	maxBatch = 128
	// retryAfter is the pause after changes have failed.
	retryAfter = redisclient.Rest / 4
)

// backlog contains the changes that wait for the server, in the order in which they were
// added. While it is not empty, a goroutine sends the changes, and repeats those that fail.
type backlog struct {
	send    func([]change) (failed []change)
	logger  *zap.Logger
	closing chan struct{} // is closed by close
	worker  sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	closed   bool
	working  bool          // the goroutine runs
	waiting  []change      // includes the changes that are being sent
	dropped  int           // number of dropped changes since the backlog was empty
	added    int64         // number of all changes that were added
	progress chan struct{} // is closed and replaced after changes have been sent
}

func newBacklog(send func([]change) []change, logger *zap.Logger) *backlog {
	return &backlog{send: send, logger: logger, closing: make(chan struct{}), progress: make(chan struct{})}
}

// add adds a change, unless too many wait.
func (b *backlog) add(c change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= maxWaiting {
		if b.dropped++; b.dropped == 1 {
			b.logger.Warn("too many settlements wait for the Redis server: further settlements are dropped, and the reserved amounts of their requests stay counted")
		}
		return
	}
	b.added++
	b.waiting = append(b.waiting, c)
	if !b.working {
		b.working = true
		b.worker.Go(b.work)
	}
}

// pending reports whether any change waits.
func (b *backlog) pending() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) > 0
}

// flush waits until all changes that were added before have been sent, or until a timeout.
func (b *backlog) flush(ctx context.Context, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	for added := b.added; b.added-int64(len(b.waiting)) < added && ctx.Err() == nil; {
		progress := b.progress
		b.mu.Unlock()
		select {
		case <-progress:
		case <-ctx.Done():
		}
		b.mu.Lock()
	}
}

// close waits until all changes have been sent. If the server fails, it drops the rest.
func (b *backlog) close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.closing)
	}
	b.mu.Unlock()
	b.worker.Wait()
}

// work sends changes until the backlog is empty.
func (b *backlog) work() {
	for {
		changes := b.next()
		if len(changes) == 0 {
			return
		}
		failed := b.send(changes)
		b.sent(len(changes), failed)
		if len(failed) > 0 {
			b.pause()
		}
	}
}

// next returns the changes of the next batch. It ends the work if there are none.
func (b *backlog) next() []change {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		if b.dropped > 0 {
			b.logger.Warn("settlements were dropped", zap.Int("number", b.dropped))
		}
		b.working, b.waiting, b.dropped = false, nil, 0
	}
	return b.waiting[:min(len(b.waiting), maxBatch)]
}

// sent removes the first n changes, which have been sent, except for those that failed. If
// the backlog is closing and a change has failed, sent drops all changes.
func (b *backlog) sent(n int, failed []change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.waiting[:n-len(failed)])
	b.waiting = b.waiting[n-len(failed):]
	copy(b.waiting, failed)
	if b.closed && len(failed) > 0 {
		b.dropped += len(b.waiting)
		b.waiting = nil
	}
	close(b.progress)
	b.progress = make(chan struct{})
}

// pause waits for retryAfter, or until the backlog closes.
func (b *backlog) pause() {
	select {
	case <-time.After(retryAfter):
	case <-b.closing:
	}
}
