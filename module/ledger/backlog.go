package ledger

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
)

// backlog is what has ended and is not in the database yet, as far as this process has
// seen it: records that an earlier process left are not in the number.
type backlog struct {
	mu      sync.Mutex // guards all below
	records int64
	oldest  time.Time // of the batch that is being applied
}

// add adds records that have ended.
func (b *backlog) add(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records += n
}

// apply notes the oldest record of a batch that is going to be applied.
func (b *backlog) apply(records batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.oldest = timeOf(records[0].id)
}

// applied removes records that are in the database.
func (b *backlog) applied(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records, b.oldest = max(0, b.records-n), time.Time{}
}

// state returns what waits in the journal, for metrics.
func (l *Ledger) state() metrics.LedgerState {
	l.backlog.mu.Lock()
	defer l.backlog.mu.Unlock()
	return metrics.LedgerState{Pending: l.backlog.records, Bytes: l.journal.Size(), Oldest: l.backlog.oldest}
}

// timeAppend counts how long an exchange has waited for the journal.
func timeAppend(start time.Time) { metrics.LedgerAppend(time.Since(start)) }

// blocked reports that the journal cannot be written.
func (l *Ledger) blocked(err error) {
	if l.failing.Begin(l.logger, "ledger cannot be written", err) {
		events.Emit(events.LedgerBlocked, map[string]any{"error": err.Error()})
	}
}

// damaged reports bytes of the journal that are passed over.
func damaged(path string, offset, bytes int64) {
	metrics.LedgerDamaged()
	events.Emit(events.JournalDamaged, map[string]any{"path": path, "offset": offset, "bytes": bytes})
}
