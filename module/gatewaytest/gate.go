package gatewaytest

import (
	"context"
	"sync"
	"testing"
)

// Gate is a point at which calls wait until the test opens it.
type Gate struct {
	once    sync.Once
	arrived chan struct{} // gets one value for each call that waits
	open    chan struct{}
}

// NewGate returns a closed gate. It opens at the end of the test at the latest.
func NewGate(t testing.TB) *Gate {
	g := &Gate{arrived: make(chan struct{}, 1024), open: make(chan struct{})}
	t.Cleanup(g.Open)
	return g
}

// Open lets all waiting and later calls continue.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// WaitArrived waits until one more call waits at the gate.
func (g *Gate) WaitArrived(ctx context.Context) error {
	select {
	case <-g.arrived:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pass waits for the gate. It reports false if the context ends first.
func (g *Gate) pass(ctx context.Context) bool {
	select {
	case g.arrived <- struct{}{}:
	default: // no test counts so many calls
	}
	select {
	case <-g.open:
		return true
	case <-ctx.Done():
		return false
	}
}
