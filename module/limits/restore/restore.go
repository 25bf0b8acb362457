// Package restore asks the ledger what was spent of budgets, for counters that do not
// know it: after a start, or after a loss of their data.
//
// It promises that the ledger is asked once for all requests that need the same budget,
// that no client which leaves ends the question of the others, that a question ends within
// a bound, a panic included, and that a ledger which does not answer is asked once in
// Rest. It refuses to remember answers: the counters have them.
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
	// Rest is how long a failure is the answer to those who ask for the same budget.
	Rest = time.Second

	// bound is how long a budget may take.
	bound = 10 * time.Second
)

// Group lets requests wait together for budgets, each of which has a key. The zero Group
// is ready for use.
type Group[K comparable] struct {
	mu    sync.Mutex // guards calls
	calls map[K]*call
}

// call is one run of a function. A call that has failed stays in its group for Rest.
type call struct {
	done chan struct{} // closed at the end
	err  error         // valid then
}

// Do returns the error of fill, which fills a budget, or the error of ctx if that ends
// earlier. While a call of fill runs for the key, and for Rest after one that failed, Do
// returns the error of that call instead. fill has a context of its own, so that it may
// outlast the request that began it; it has to check whether the budget was filled since
// the caller found it missing. A panic of fill becomes an error with its stack.
func (g *Group[K]) Do(ctx context.Context, key K, fill func(context.Context) error) error {
	c, mine := g.join(key)
	if mine {
		go g.run(key, c, fill)
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the call for a key, and whether the caller has to run it.
func (g *Group[K]) join(key K) (c *call, mine bool) {
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

// Spent returns what the ledger has of the budget of a limit at a moment, which is in the
// zone of the ledger. A soft budget that the ledger does not know begins with nothing: a
// warning is not worth an outage.
func Spent(ctx context.Context, l *aigateway.Limit, d *aigateway.Demand, at time.Time) ([]aigateway.Spent, error) {
	spent, err := d.Spending.Spent(ctx, l, d.Key, l.Budget.Since(at))
	switch {
	case err == nil:
		return spent, nil
	case l.Budget.Soft:
		return nil, nil
	}
	return nil, fmt.Errorf("restoring a budget: %w", err)
}
