package counters

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/restore"
)

// budget counts the money that one subject has spent. Before the first decision, the money
// that was spent before is read from the ledger.
type budget struct {
	*window
	restored time.Time // when the ledger was read last; zero before
	reported int       // level of the last aigateway.BudgetMove
	peak     int64     // the largest amount of the period
	peakAt   int64     // the slot of peak
}

func newBudget(b *aigateway.Budget, created time.Time, zone *time.Location) *budget {
	var p pace = &periodic{budget: b, zone: zone}
	if b.Calendar == "" {
		p = newSliding(time.Duration(b.Per), created)
	}
	return &budget{window: newWindow(p), reported: aigateway.Unknown}
}

// advance makes a slot the current one. If the clock was set back to an earlier
// period, the money of that period has to be read from the ledger again.
func (b *budget) advance(slot int64) {
	if b.window.advance(slot) {
		b.restored = time.Time{}
	}
}

// move returns the last reported level and the present one, and whether they differ. The
// present level includes that the budget lacks the money for a request of n nanos.
func (b *budget) move(rule *aigateway.Budget, n int64) (old, level int, moved bool) {
	b.reach(b.used)
	if rule.Lacks(n, b.used) {
		b.reach(rule.Nanos())
	}
	old, b.reported = b.reported, rule.Level(b.peak)
	return old, b.reported, old != b.reported
}

// reach raises the peak to an amount. A peak is kept while its slot counts, so that a level
// is reported once in a period. It is an amount, and not a level, so that a reload with a
// larger budget lowers the level.
func (b *budget) reach(nanos int64) {
	if nanos >= b.peak || !b.counted(b.peakAt) {
		b.peak, b.peakAt = nanos, b.newest
	}
}

// fill counts the money that the ledger has recorded, and what running requests have reserved, which it
// lacks, unless more is counted already. Times after now count as now. The ledger was read after read.
func (b *budget) fill(spent []aigateway.Spent, held *window, read, now time.Time) {
	slot := b.pace.slot(now)
	b.advance(slot)
	held.advance(slot)
	known := newWindow(b.pace)
	known.advance(slot)
	for _, s := range spent {
		if len(known.counts) == 1 || s.By.After(now) {
			s.By = now
		}
		known.addAt(s.Nanos, b.pace.slot(s.By))
	}
	for i := range b.pace.slots() {
		known.addAt(*held.count(slot - i), slot-i)
	}
	if known.used > b.used {
		b.window = known
	}
	b.restored = read
}

// amend changes the cost of a request that has ended, unless the ledger was read afterwards, or at the
// same time: the budget then counts too much rather than too little.
func (b *budget) amend(c aigateway.Amendment) {
	if b.restored.IsZero() || b.restored.After(c.At) {
		return
	}
	if counted := c.Admitted.Truncate(time.Hour).Add(time.Hour); c.Admitted.Before(b.restored) && len(b.counts) > 1 {
		c.Admitted = counted // the ledger has the costs of whole hours
		if counted.After(b.restored) {
			c.Admitted = b.restored
		}
	}
	b.addAt(c.Nanos, b.pace.slot(c.Admitted))
}

// restores contains the budgets that are being restored.
var restores restore.Group[*budget]

// restore fills the budget from the ledger. A soft budget that cannot be restored begins
// with nothing.
func (t *tally) restore(ctx context.Context, l *aigateway.Limit, d *aigateway.Demand) error {
	return restores.Do(ctx, t.budget, func(ctx context.Context) error {
		if t.budget.isRestored(l) {
			return nil // another request has restored it meanwhile
		}
		read := time.Now()
		spent, err := restore.Spent(ctx, l, d, read.In(d.Spending.Zone()))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		t.budget.fill(spent, t.heldMoney, read, time.Now())
		return nil
	})
}

// isRestored is knows for callers that do not hold mu.
func (b *budget) isRestored(l *aigateway.Limit) bool {
	mu.Lock()
	defer mu.Unlock()
	return b.knows(l)
}

// knows reports whether the budget has what was spent in a limit: the ledger was read, and each request
// has counted since then. While a limit had no budget, or one of another period, none did.
func (b *budget) knows(l *aigateway.Limit) bool {
	return !b.restored.IsZero() && !b.restored.Before(l.BudgetSince)
}
