package ledger

import (
	"context"
	"sync"
)

// waiters are the callers of Settled, which wait until all records of the journal are in
// the database.
type waiters struct {
	hurry chan struct{} // has an element after a call of add

	mu      sync.Mutex // guards waiting
	waiting []chan struct{}
}

func newWaiters() *waiters { return &waiters{hurry: make(chan struct{}, 1)} }

// add adds a waiter. The channel is closed when the records are in the database.
func (w *waiters) add() <-chan struct{} {
	settled := make(chan struct{})
	w.mu.Lock()
	w.waiting = append(w.waiting, settled)
	w.mu.Unlock()
	select {
	case w.hurry <- struct{}{}:
	default: // the channel has an element
	}
	return settled
}

// take removes and returns all waiters. The caller must close their channels, or give them
// back.
func (w *waiters) take() []chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.waiting
	w.waiting = nil
	return taken
}

// giveBack adds waiters that take has removed.
func (w *waiters) giveBack(taken []chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, taken...)
}

// Settled implements accounting.Ledger.
func (l *Ledger) Settled(ctx context.Context) error {
	settled := l.waiters.add()
	l.journal.Wake()
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
