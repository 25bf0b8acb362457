package ledger

import (
	"context"
	"sync"
)

// waiters wait until all that the journal has is in the database.
type waiters struct {
	hurry chan struct{} // has an element while somebody has begun to wait

	mu      sync.Mutex // guards waiting
	waiting []chan struct{}
}

func newWaiters() *waiters { return &waiters{hurry: make(chan struct{}, 1)} }

// add adds a waiter, whose channel is closed at the end.
func (w *waiters) add() <-chan struct{} {
	end := make(chan struct{})
	w.mu.Lock()
	w.waiting = append(w.waiting, end)
	w.mu.Unlock()
	select {
	case w.hurry <- struct{}{}:
	default: // there is one
	}
	return end
}

// take returns those who wait, which now wait for the caller.
func (w *waiters) take() []chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.waiting
	w.waiting = nil
	return taken
}

// giveBack undoes take.
func (w *waiters) giveBack(taken []chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, taken...)
}

// Settled implements aigateway.Ledger.
func (l *Ledger) Settled(ctx context.Context) error {
	end := l.waiters.add()
	l.journal.Wake()
	select {
	case <-end:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
