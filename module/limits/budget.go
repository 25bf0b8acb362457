package limits

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/restore"
)

// budget counts the money of one subject. Before the first decision it is filled with
// what the ledger has.
type budget struct {
	*window
	restored bool
	reported int   // level of the last aigateway.BudgetMove
	peak     int64 // the largest amount of reach in the period
	peakAt   int64 // the slot of the last amount that large
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
	if b.window.advance(now) {
		b.restored = false
	}
}

// move returns the levels that were reported last and that the budget has reached with a
// request of n nanos, and whether they differ.
func (b *budget) move(rule *aigateway.Budget, n int64) (from, to int, moved bool) {
	b.reach(b.used)
	if rule.Lacks(n, b.used) {
		b.reach(rule.Nanos())
	}
	from, b.reported = b.reported, rule.Level(b.peak)
	return from, b.reported, from != b.reported
}

// reach raises the peak to an amount. A peak lasts as long as its slot counts, so that a
// level is reported once in a period; and it is an amount, not a level, so that a reload
// with a larger budget lowers the level.
func (b *budget) reach(nanos int64) {
	if nanos >= b.peak || !b.counted(b.peakAt) {
		b.peak, b.peakAt = nanos, b.newest
	}
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

// restores has the budgets that are being restored.
var restores restore.Group[*budget]

// restore fills the budget with what the ledger has. A soft budget that cannot be restored
// counts from now on.
func (b *budget) restore(ctx context.Context, l *aigateway.Limit, d *aigateway.Demand) error {
	return restores.Do(ctx, b, func(ctx context.Context) error {
		if b.known() {
			return nil // another request has restored it since
		}
		spent, err := restore.Spent(ctx, l, d, time.Now().In(d.Spending.Zone()))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		b.fill(spent, time.Now())
		return nil
	})
}

// known reports whether the budget has what the ledger has.
func (b *budget) known() bool {
	mu.Lock()
	defer mu.Unlock()
	return b.restored
}
