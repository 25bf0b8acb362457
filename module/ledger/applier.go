package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

const (
	// A transaction and its sums cost as much as hundreds of records. So the records of a
	// batch are collected for restFactor times as long as the batch before took, within
	// these bounds: batches take a small part of the time, and while little happens, a record
	// is in the database at once.
	restFactor      = 100
	shortestCollect = 20 * time.Millisecond
	longestCollect  = time.Second
	// retryAfter is the pause after a failure.
	retryAfter = time.Second
	// largestBatch is the largest number of records in a batch. A read of the journal has
	// fewer, unless the records are tiny.
	largestBatch = 1 << 16
	// pruneEvery is the time between two deletions of old records.
	pruneEvery = time.Minute
)

// applier writes the records of the journal to the database. One goroutine uses it.
type applier struct {
	ledger   *Ledger
	identity string // of the journal

	position     journal.Position // the journal has been read up to here
	largest      int              // the largest number of records in the next batch
	earlier      journal.Position // the end of the records of earlier processes; zero after they are counted
	registration                  // of the journal in the database
	names        names
	interned     internedNames
	outage       database.Outage // until records are written
	levelling    levelling

	records batch  // the memory of the batch before, for reuse
	page    []byte // the memory of one page, for reuse
}

// registration is what the database contains about a journal.
type registration struct {
	node int64            // 0 while it is unknown
	mark journal.Position // the records up to here are in the database
	zone *time.Location   // of the ledger
}

func newApplier(l *Ledger, identity string) *applier {
	return &applier{
		ledger: l, largest: largestBatch, identity: identity, names: make(names), interned: make(internedNames),
		page: make([]byte, 0, largestPage),
	}
}

// run applies records until the context ends, and then once more.
func (a *applier) run(ctx context.Context) {
	pruned := time.Now()
	for {
		start := time.Now()
		applied := a.applyAll(ctx)
		took := time.Since(start)
		if applied {
			a.fillLevels(ctx)
		}
		if time.Since(pruned) >= pruneEvery {
			pruned = time.Now()
			a.ledger.Prune(ctx)
		}
		select {
		case <-ctx.Done():
			a.applyAll(context.WithoutCancel(ctx))
			return
		case <-a.ledger.journal.Written():
		case <-time.After(pruneEvery):
		}
		a.pause(ctx, applied, took)
	}
}

// pause waits before the next call of applyAll, after one that took so long: while records
// are collected for it, which a caller of Settled ends, or after a failure.
func (a *applier) pause(ctx context.Context, applied bool, took time.Duration) {
	pause, hurry := min(max(restFactor*took, shortestCollect), longestCollect), a.ledger.waiters.hurry
	if !applied {
		pause, hurry = retryAfter, nil
	}
	select {
	case <-ctx.Done():
	case <-hurry:
	case <-time.After(pause):
	}
}

// applyAll applies the present entries of the journal in batches, until one fails, and
// reports whether none did. Later entries wait for the next call: under load, a few more
// entries would always follow.
func (a *applier) applyAll(ctx context.Context) (applied bool) {
	waiting := a.ledger.waiters.take()
	end := a.ledger.journal.State().End
	for {
		more, err := a.applyBatch(ctx)
		if err != nil {
			a.ledger.waiters.giveBack(waiting)
			a.fail(ctx, err)
			return false
		}
		if !more || !a.position.Before(end) {
			for _, settled := range waiting {
				close(settled)
			}
			return true
		}
	}
}

// fail handles a failure. It wakes the applier, so that applyAll is called again without a
// new entry in the journal.
func (a *applier) fail(ctx context.Context, err error) {
	a.logFailure(ctx, err)
	a.reset()
	if ctx.Err() == nil {
		a.ledger.journal.Wake()
	}
}

// logFailure logs the beginning of an outage. The outage lasts until records are written:
// a database that refuses records may still accept the registration of the journal.
func (a *applier) logFailure(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, errMarkMoved) && !errors.Is(err, aigateway.ErrBusy) {
		if a.outage.Begin(a.ledger.logger, "records cannot be written to the database; they wait in the journal", err) {
			events.Emit(events.LedgerBehind, map[string]any{"error": err.Error()})
		}
	}
}

// reset drops the cached contents of the database, because the transaction that read them
// may have been rolled back.
func (a *applier) reset() {
	a.registration, a.names, a.levelling.done = registration{}, make(names), false
	a.ledger.db.Follow()
}

// errMarkMoved is returned if the database has another mark than expected. The next call
// applies the records after that mark.
var errMarkMoved = errors.New("the mark of the journal has moved")

// applyBatch reads and applies one batch. If there was nothing to read, more is false.
func (a *applier) applyBatch(ctx context.Context) (more bool, err error) {
	if a.node == 0 {
		if err := a.register(ctx); err != nil {
			return false, err
		}
	}
	records, start := a.records[:0], a.position
	if a.position, err = a.ledger.journal.ReadWhile(start, func(e journal.Entry) (more bool) {
		records = a.collect(records, e)
		return len(records) < a.largest
	}); err != nil {
		return false, fmt.Errorf("reading journal: %w", err)
	}
	a.records = records
	if len(records) > 0 {
		records.sort()
		if err := a.write(ctx, records); err != nil {
			return false, err
		}
		a.mark = a.position
	}
	if err := a.ledger.journal.Release(a.position); err != nil {
		return false, fmt.Errorf("removing records from the journal that are in the database: %w", err)
	}
	return a.position != start, nil
}

// collect adds the record of an entry to a batch, if the entry is an end.
func (a *applier) collect(records batch, e journal.Entry) batch {
	if e.Kind != journal.Ended {
		return records
	}
	return append(records, entry{recordID(a.node, e.ID), e.Payload})
}

// write writes a batch to the database, and updates metrics and logs.
func (a *applier) write(ctx context.Context, records batch) error {
	a.ledger.backlog.begin(records)
	start := time.Now()
	err := a.ledger.db.Transact(ctx, "writing records", func(tx database.Statements) error { return a.apply(tx, records) })
	a.resize(len(records), time.Since(start), err)
	if err != nil {
		metrics.LedgerRecords(metrics.RecordsFailed, len(records))
		return err
	}
	if a.outage.End(a.ledger.logger, "records are written to the database again") {
		events.Emit(events.LedgerCaughtUp, nil)
	}
	a.ledger.backlog.applied(int64(len(records)))
	metrics.LedgerRecords(metrics.RecordsApplied, len(records))
	metrics.LedgerApply(time.Since(start))
	a.show(records)
	return nil
}

// resize chooses the largest size of the next batch, after one of n records. The database
// refuses a batch that takes too long: a batch that has failed is halved, until one passes.
// Batches grow again while they take a small part of the time that the database allows.
func (a *applier) resize(n int, took time.Duration, err error) {
	switch {
	case errors.Is(err, aigateway.ErrUnavailable):
		a.largest = max(1, n/2)
	case err == nil && took < database.Timeout/4:
		a.largest = min(largestBatch, 2*a.largest)
	}
}

// apply writes a batch, and moves the mark to the end of the batch.
func (a *applier) apply(tx database.Statements, records batch) error {
	if err := a.checkMark(tx); err != nil {
		return err
	}
	absent, err := records.absent(tx)
	if err != nil {
		return err
	}
	added, err := absent.contents(a.interned, a.page, func(p *page) error { return p.insert(tx) })
	if err != nil {
		return err
	}
	if added.unreadable > 0 {
		a.ledger.logger().Error("the journal contains records that cannot be read; they are lost", zap.Int("records", added.unreadable))
	}
	if err := added.write(tx, a.names, a.zone); err != nil {
		return err
	}
	return tx.Change(`UPDATE gateway_ledger_nodes SET segment = $1, position = $2, seen = $3 WHERE node = $4`,
		int64(a.position.Segment), a.position.Offset, time.Now().UnixMilli(), a.node)
}

// checkMark returns errMarkMoved if the database has another mark.
func (a *applier) checkMark(tx database.Statements) error {
	var stored journal.Position
	err := tx.Row(`SELECT segment, position FROM gateway_ledger_nodes WHERE node = $1 AND identity = $2`, a.node, a.identity).
		Scan(&stored.Segment, &stored.Offset)
	if err == nil && stored != a.mark {
		return database.Refuse(errMarkMoved)
	}
	return err
}

// register reads the registration of the journal, and creates it if it is missing.
func (a *applier) register(ctx context.Context) error {
	var earlier registration
	var zone string
	configured := a.ledger.options.Load().Zone
	err := a.ledger.db.Transact(ctx, "registering journal", func(tx database.Statements) (err error) {
		earlier, zone, err = findRegistration(tx, a.identity, configured)
		return err
	})
	if err != nil {
		return err
	}
	if earlier.node > maxNodes {
		return fmt.Errorf("the database has registered %d journals, and cannot register more", maxNodes)
	}
	if earlier.zone, err = time.LoadLocation(zone); err != nil {
		return err
	}
	if zone != configured {
		a.ledger.logger().Warn("the ledger keeps the time zone with which its database was created, not the configured one", zap.String("zone", zone))
	}
	a.registration, a.position = earlier, earlier.mark
	return a.countEarlier()
}

// countEarlier adds the records of earlier processes to the backlog, after the first
// registration: only the mark in the database separates them from those that it contains.
func (a *applier) countEarlier() error {
	earlier := int64(0)
	for position := a.mark; position.Before(a.earlier); {
		ended := int64(0)
		end, err := a.ledger.journal.ReadWhile(position, func(e journal.Entry) (more bool) {
			ended += integer(e.Kind == journal.Ended)
			return true
		})
		if err != nil {
			return fmt.Errorf("counting the records in the journal: %w", err)
		}
		if end == position || a.earlier.Before(end) { // the records of this process are in a segment of their own
			break
		}
		earlier += ended
		position = end
	}
	a.ledger.backlog.add(earlier)
	a.earlier = journal.Position{}
	return nil
}

// findRegistration returns the registration of a journal, without its zone, and the name of
// the zone. It creates what is missing, with the configured zone.
func findRegistration(tx database.Statements, identity, configured string) (stored registration, zone string, err error) {
	if _, err := tx.Exec(`INSERT INTO gateway_ledger_nodes (identity, segment, position, seen) VALUES ($1, 0, 0, 0)
		ON CONFLICT (identity) DO NOTHING`, identity); err != nil {
		return stored, "", err
	}
	if _, err := tx.Exec(`UPDATE gateway_ledger_state SET zone = $1 WHERE zone = ''`, configured); err != nil {
		return stored, "", err
	}
	if err := tx.Row(`SELECT zone FROM gateway_ledger_state`).Scan(&zone); err != nil {
		return stored, "", err
	}
	err = tx.Row(`SELECT node, segment, position FROM gateway_ledger_nodes WHERE identity = $1`, identity).
		Scan(&stored.node, &stored.mark.Segment, &stored.mark.Offset)
	return stored, zone, err
}
