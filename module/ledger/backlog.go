package ledger

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// backlog counts the records in the journal that are not in the database yet. It contains
// the records of earlier processes as soon as the database could be read.
type backlog struct {
	mu      sync.Mutex // guards the fields below
	records int64
	oldest  time.Time // when the oldest record of the current batch was admitted; zero without a batch
}

// add adds n records that have ended.
func (b *backlog) add(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records += n
}

// begin sets the oldest record to that of a batch, which is written next.
func (b *backlog) begin(records batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.oldest = timeOf(records[0].id)
}

// applied removes n records that are in the database now.
func (b *backlog) applied(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records, b.oldest = max(0, b.records-n), time.Time{}
}

// state returns the state of the journal for metrics.
func (l *Ledger) state() metrics.LedgerState {
	l.backlog.mu.Lock()
	defer l.backlog.mu.Unlock()
	return metrics.LedgerState{Pending: l.backlog.records, Bytes: l.journal.Size(), Oldest: l.backlog.oldest}
}

// Behind implements accounting.LaggingReader.
func (r *Reader) Behind() (age time.Duration, known bool) {
	open.Lock()
	defer open.Unlock()
	for _, l := range open.ledgers {
		if l.db.Identity() != r.db.Identity() {
			continue
		}
		known = true
		if oldest := l.state().Oldest; !oldest.IsZero() {
			age = max(age, time.Since(oldest))
		}
	}
	return age, known
}

// timeAppend counts the time that an exchange has waited for the journal.
func timeAppend(start time.Time) { metrics.LedgerAppend(time.Since(start)) }

// blocked logs an error of the journal, and emits an event if it begins an outage.
func (l *Ledger) blocked(err error) {
	if l.failing.Begin(l.logger, "ledger cannot be written", err) {
		events.Emit(events.LedgerBlocked, map[string]any{"error": err.Error()})
	}
}

// damaged counts skipped bytes of the journal, and emits an event.
func damaged(path string, offset, bytes int64) {
	metrics.LedgerDamaged()
	events.Emit(events.JournalDamaged, map[string]any{"path": path, "offset": offset, "bytes": bytes})
}
