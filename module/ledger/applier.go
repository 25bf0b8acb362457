package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

const (
	// gatherFor is how long records gather before they are applied together. A
	// transaction and its sums cost as much as hundreds of records.
	gatherFor = time.Second
	// retryAfter is the pause behind a failure.
	retryAfter = time.Second
	// pruneEvery is how often old records are looked for.
	pruneEvery = time.Minute
)

// applier brings what the journal has to the database. It is used by one goroutine.
type applier struct {
	ledger   *Ledger
	identity string // of the journal

	at     journal.Position // behind what was read
	place                   // in the database, as far as known
	names  names
	shared sharedNames
	away   database.Outage // until records are written
}

// place is the position up to which a database has a journal.
type place struct {
	node int64 // 0 while it is unknown
	mark journal.Position
	zone *time.Location
}

func newApplier(l *Ledger, identity string) *applier {
	return &applier{ledger: l, identity: identity, names: make(names), shared: make(sharedNames)}
}

// run applies until the context ends, and then once more.
func (a *applier) run(ctx context.Context) {
	pruned := time.Now()
	for {
		pause := a.applyAll(ctx)
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
		var hurry <-chan struct{} // a failure is not repeated any sooner
		if pause == gatherFor {
			hurry = a.ledger.waiters.hurry
		}
		select {
		case <-ctx.Done():
		case <-hurry:
		case <-time.After(pause):
		}
	}
}

// applyAll applies what the journal has now in batches, until one fails, and returns how
// long to wait before the next. What is written meanwhile gathers again: under load,
// there would always be a few records more.
func (a *applier) applyAll(ctx context.Context) time.Duration {
	waiting := a.ledger.waiters.take()
	end := a.ledger.journal.State().End
	for {
		more, err := a.applyBatch(ctx)
		if err != nil {
			a.ledger.waiters.giveBack(waiting)
			a.failed(ctx, err)
			a.forget()
			return a.retry(ctx)
		}
		if !more || !a.at.Before(end) {
			for _, settled := range waiting {
				close(settled)
			}
			return gatherFor
		}
	}
}

// failed logs the beginning of an outage. It lasts until records are written: a database
// that refuses them may still accept the registration of the journal.
func (a *applier) failed(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, errMoved) && !errors.Is(err, aigateway.ErrBusy) {
		a.away.Begin(a.ledger.logger, "records cannot go from the journal to the database", err)
	}
}

// retry has the next batch tried again without anything new in the journal.
func (a *applier) retry(ctx context.Context) time.Duration {
	if ctx.Err() == nil {
		a.ledger.journal.Wake()
	}
	return retryAfter
}

// forget makes nothing known of the database: a transaction that failed may have
// taken back what was learned in it.
func (a *applier) forget() {
	a.place, a.names = place{}, make(names)
	a.ledger.db.Follow()
}

// errMoved is returned when the database has another mark than it should: what
// follows that one is applied next.
var errMoved = errors.New("the mark has moved")

// applyBatch reads and applies one batch; more is false if there was nothing to
// read.
func (a *applier) applyBatch(ctx context.Context) (more bool, err error) {
	if a.node == 0 {
		if err := a.register(ctx); err != nil {
			return false, err
		}
	}
	var records batch
	from := a.at
	if a.at, err = a.ledger.journal.Read(from, func(e journal.Entry) { records = a.take(records, e) }); err != nil {
		return false, fmt.Errorf("reading journal: %w", err)
	}
	if len(records) == 0 {
		return a.at != from, nil
	}
	records.sort()
	if err := a.write(ctx, records); err != nil {
		return false, err
	}
	a.mark = a.at
	if err := a.ledger.journal.Release(a.mark); err != nil {
		return false, fmt.Errorf("removing what the database has from the journal: %w", err)
	}
	return a.at != from, nil
}

// write writes a batch to the database.
func (a *applier) write(ctx context.Context, records batch) error {
	a.ledger.backlog.apply(records)
	start := time.Now()
	err := a.ledger.db.Transact(ctx, "writing records", func(tx database.Statements) error { return a.apply(tx, records) })
	if err != nil {
		metrics.LedgerRecords(metrics.RecordsFailed, len(records))
		return err
	}
	a.away.End(a.ledger.logger, "records go from the journal to the database again")
	a.ledger.backlog.applied(int64(len(records)))
	metrics.LedgerRecords(metrics.RecordsApplied, len(records))
	metrics.LedgerApply(time.Since(start))
	return nil
}

// take adds what has ended to a batch.
func (a *applier) take(records batch, e journal.Entry) batch {
	if e.Kind != journal.Ended {
		return records
	}
	return append(records, entry{a.id(e.ID), e.Payload})
}

// An id in the database has the milliseconds since 2020, the node, and the number
// of the entry within its millisecond.
const (
	sequenceBits = 8
	nodeBits     = 14
	mostNodes    = 1<<nodeBits - 1
)

func (a *applier) id(id journal.ID) int64 {
	return int64(id)>>sequenceBits<<(nodeBits+sequenceBits) | a.node<<sequenceBits | int64(id.Sequence())
}

// nodeOf returns the node of an id.
func nodeOf(id int64) int64 { return id >> sequenceBits & mostNodes }

// idAt returns the smallest id of a moment.
func idAt(t time.Time) int64 {
	return int64(journal.At(t)) >> sequenceBits << (nodeBits + sequenceBits)
}

// timeOf returns the moment of an id.
func timeOf(id int64) time.Time {
	return journal.ID(id >> (nodeBits + sequenceBits) << sequenceBits).Time()
}

// apply writes a batch and the mark behind it.
func (a *applier) apply(tx database.Statements, records batch) error {
	var found journal.Position
	err := tx.Row(`SELECT segment, position FROM gateway_ledger_nodes WHERE node = $1 AND identity = $2`, a.node, a.identity).
		Scan(&found.Segment, &found.Offset)
	if err == nil && found != a.mark {
		err = database.Refuse(errMoved)
	}
	if err != nil {
		return err
	}
	absent, err := records.absent(tx)
	if err != nil {
		return err
	}
	added := absent.contents(a.shared)
	if added.unreadable > 0 {
		a.ledger.logger().Error("the journal has records that cannot be read; they are lost", zap.Int("records", added.unreadable))
	}
	if err := added.write(tx, a.names, a.zone); err != nil {
		return err
	}
	return tx.Change(`UPDATE gateway_ledger_nodes SET segment = $1, position = $2, seen = $3 WHERE node = $4`,
		int64(a.at.Segment), a.at.Offset, time.Now().UnixMilli(), a.node)
}

// register finds the place of the journal in the database, or makes it.
func (a *applier) register(ctx context.Context) error {
	var found place
	var zone string
	err := a.ledger.db.Transact(ctx, "registering journal", func(tx database.Statements) error {
		if _, err := tx.Exec(`INSERT INTO gateway_ledger_nodes (identity, segment, position, seen) VALUES ($1, 0, 0, 0)
			ON CONFLICT (identity) DO NOTHING`, a.identity); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE gateway_ledger_state SET zone = $1 WHERE zone = ''`, a.ledger.options.Load().Zone); err != nil {
			return err
		}
		if err := tx.Row(`SELECT zone FROM gateway_ledger_state`).Scan(&zone); err != nil {
			return err
		}
		return tx.Row(`SELECT node, segment, position FROM gateway_ledger_nodes WHERE identity = $1`, a.identity).
			Scan(&found.node, &found.mark.Segment, &found.mark.Offset)
	})
	if err != nil {
		return err
	}
	if found.node > mostNodes {
		return fmt.Errorf("the database has seen %d journals; no more have a place in it", mostNodes)
	}
	if found.zone, err = time.LoadLocation(zone); err != nil {
		return err
	}
	if zone != a.ledger.options.Load().Zone {
		a.ledger.logger().Warn("days of the ledger are those of another zone than configured, in which it was made", zap.String("zone", zone))
	}
	a.place, a.at = found, found.mark
	return nil
}
