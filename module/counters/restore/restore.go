// Package restore reads from the ledger how much of a budget is spent, for counters that
// lack it: after a start, or after a loss of their data.
//
// The ledger is read once for all requests that need the same budget. A client that leaves
// does not cancel that for the others. A read ends within a bound, and a panic ends it with
// an error. After a failure, the ledger is not read again for Rest. The package does not
// store results: the counters do.
package restore

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const (
	// Rest is the time after a failure in which Do returns the same error.
	Rest = time.Second

	// bound is the largest duration of a call of fill.
	bound = 10 * time.Second
)

// Group lets requests with the same key share one call. The zero Group is ready for use.
type Group[K comparable] struct {
	mu    sync.Mutex // guards calls
	calls map[K]*call
}

// call is one call of fill. A call that has failed stays in its group for Rest.
type call struct {
	done chan struct{} // is closed at the end
	err  error         // valid after done is closed
}

// Do calls fill, which fills a budget, and returns its error, or the error of ctx if ctx
// ends first. While another call of fill runs for the key, and for Rest after it has
// failed, Do returns the error of that call instead.
//
// The context of fill is independent of ctx, so that fill can outlast the request that
// began it. The function fill must check whether the budget was filled after its caller
// found it missing. If fill panics, the error contains the stack.
func (g *Group[K]) Do(ctx context.Context, key K, fill func(context.Context) error) error {
	c, created := g.join(key)
	if created {
		go g.run(key, c, fill)
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the call for a key. If created is true, the caller must run it.
func (g *Group[K]) join(key K) (c *call, created bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c = g.calls[key]; c != nil {
		return c, false
	}
	if g.calls == nil {
		g.calls = make(map[K]*call)
	}
	c = &call{done: make(chan struct{})}
	g.calls[key] = c
	return c, true
}

// run calls fill, and closes done.
func (g *Group[K]) run(key K, c *call, fill func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	c.err = recovered(ctx, fill)
	if c.err == nil {
		g.forget(key)
	} else {
		time.AfterFunc(Rest, func() { g.forget(key) })
	}
	close(c.done)
}

func (g *Group[K]) forget(key K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.calls, key)
}

// recovered calls fill, and returns a panic as an error.
func recovered(ctx context.Context, fill func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("restoring a budget: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return fill(ctx)
}

// Spent returns the money that counts for the budget of a limit at a point in time, which
// must be in the zone of the ledger. If the ledger cannot be read, a soft budget begins
// with nothing: an exceeded soft budget is only a warning, which is not worth an outage.
func Spent(ctx context.Context, l *aigateway.Limit, d *aigateway.Demand, moment time.Time) ([]aigateway.Spent, error) {
	spent, err := d.Spending.Spent(ctx, l, d.Key, l.Budget.Since(moment))
	switch {
	case err == nil:
		return spent, nil
	case l.Budget.Soft:
		return nil, nil
	}
	return nil, fmt.Errorf("restoring a budget: %w", err)
}
