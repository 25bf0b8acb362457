package redis

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// mostWaiting bounds the changes that wait for the server. Those beyond it are dropped.
	mostWaiting = 65536
	// mostAtOnce bounds the changes that are sent together.
	mostAtOnce = 128
	// retry is how long the backlog waits after changes have failed.
	retry = rest / 4
)

// backlog is the changes that wait for the server, in their order. While there are any, a
// goroutine sends them, and those that fail again.
type backlog struct {
	send    func([]change) (failed []change)
	logger  *zap.Logger
	closing chan struct{} // closed by close
	worker  sync.WaitGroup

	mu       sync.Mutex // guards all below
	closed   bool
	working  bool
	waiting  []change      // those that are being sent included
	dropped  int           // changes since the backlog was empty
	added    int64         // changes ever
	progress chan struct{} // closed and replaced when changes have been sent
}

func newBacklog(send func([]change) []change, logger *zap.Logger) *backlog {
	return &backlog{send: send, logger: logger, closing: make(chan struct{}), progress: make(chan struct{})}
}

// add adds a change, unless too many wait.
func (b *backlog) add(c change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= mostWaiting {
		if b.dropped++; b.dropped == 1 {
			b.logger.Warn("too many settlements wait for the Redis server: further ones are dropped, and what their requests had reserved stays counted")
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

// waits reports whether any change waits.
func (b *backlog) waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) > 0
}

// flush waits until all changes that were added before have been sent, at most for a time.
func (b *backlog) flush(ctx context.Context, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
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

// close waits until all changes have been sent, or have failed.
func (b *backlog) close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.closing)
	}
	b.mu.Unlock()
	b.worker.Wait()
}

// work sends changes until there are none.
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

// next returns the changes to be sent now.
func (b *backlog) next() []change {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		if b.dropped > 0 {
			b.logger.Warn("settlements were dropped", zap.Int("number", b.dropped))
		}
		b.working, b.waiting, b.dropped = false, nil, 0
	}
	return b.waiting[:min(len(b.waiting), mostAtOnce)]
}

// sent notes that the first n changes were sent, some of which have failed. These are sent
// again, unless the backlog is closing: then all others are dropped with them.
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

// pause waits before failed changes are sent again.
func (b *backlog) pause() {
	select {
	case <-time.After(retry):
	case <-b.closing:
	}
}
