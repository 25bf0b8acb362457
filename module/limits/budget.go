package limits

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// budget counts the money of one subject. Before the first decision it is filled with
// what the ledger has.
type budget struct {
	*window
	restored  bool
	restoring *restoration // nil while nobody asks the ledger
	reported  int          // level of the last aigateway.BudgetMove
	reached   int          // highest level in the period
}

func newBudget(b *aigateway.Budget, created time.Time, zone *time.Location) *budget {
	var p pace = periodic{b, zone}
	if b.Calendar == "" {
		p = newSliding(time.Duration(b.Per), created)
	}
	return &budget{window: newWindow(p), reported: aigateway.Unknown}
}

// advance clears what no longer counts. What was spent in a period that comes again
// because the clock was set back has to be read again.
func (b *budget) advance(now time.Time) {
	before := b.newest
	if b.window.advance(now) {
		b.restored = false
	}
	if b.newest != before {
		b.reached = 0
	}
}

// move returns the levels that were reported last and that the budget has reached, and
// whether they differ.
func (b *budget) move(rule *aigateway.Budget) (from, to int, moved bool) {
	b.reached = max(b.reached, rule.Level(b.used))
	from, b.reported = b.reported, b.reached
	return from, b.reported, from != b.reported
}

// fill counts what the ledger has. Moments that are later than now count as now.
func (b *budget) fill(spent []aigateway.Spent, now time.Time) {
	b.advance(now)
	for _, s := range spent {
		if len(b.counts) == 1 || s.By.After(now) {
			s.By = now
		}
		b.addAt(s.Nanos, b.pace.slot(s.By))
	}
	b.restored = true
}

// restoration is a question to the ledger.
type restoration struct {
	done chan struct{} // closed when the ledger has answered
	err  error         // valid then
}

// restore fills the budget with what the ledger has. One request asks it, even if its
// client leaves, and the others get the same answer: a ledger that is not available would
// otherwise let each of them wait in turn. A soft budget that cannot be restored counts
// from now on.
func (b *budget) restore(ctx context.Context, l *aigateway.Limit, d *aigateway.Demand) error {
	mu.Lock()
	r := b.restoring
	if b.restored || r != nil {
		mu.Unlock()
		return r.wait(ctx)
	}
	r = &restoration{done: make(chan struct{})}
	b.restoring = r
	mu.Unlock()
	spent, err := d.Spending.Spent(context.WithoutCancel(ctx), l, d.Key, l.Budget.Since(time.Now().In(d.Spending.Zone())))
	mu.Lock()
	defer mu.Unlock()
	if err == nil || l.Budget.Soft {
		b.fill(spent, time.Now())
		err = nil
	}
	b.restoring, r.err = nil, err
	close(r.done)
	return err
}

// wait waits for the answer. That of a nil restoration is there.
func (r *restoration) wait(ctx context.Context) error {
	if r == nil {
		return nil
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
