package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// deferPatience is the longest time for which an exchange waits until its charge is deferred.
const deferPatience = 5 * time.Second

// Defer implements accounting.DeferringLedger. It does not wait for the record, which may be in the
// journal yet: sums are the same in every order.
func (l *Ledger) Defer(d accounting.Deferred) {
	ctx, cancel := context.WithTimeout(context.Background(), deferPatience)
	defer cancel()
	err := l.db.Transact(ctx, "deferring a charge", func(tx database.Statements) error {
		stored, _, err := findRegistration(tx, l.applier.identity, l.options.Load().Zone)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO gateway_ledger_deferred (account, object, id, record, due, expires)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account, object) DO NOTHING`,
			d.Account, database.Text(d.Object), recordID(stored.node, journal.ID(d.Record.ID)), appendRecord(nil, &d.Record),
			d.Due.UnixMilli(), d.Expires.UnixMilli())
		return err
	})
	if err != nil {
		l.logger().Error("a charge cannot be deferred; it stays what was reserved", zap.String("request_id", d.Record.Request), zap.Error(err))
	}
}

// Deferred implements accounting.DeferringLedger.
func (l *Ledger) Deferred(ctx context.Context, account, object string) (*accounting.Deferred, error) {
	var found []accounting.Deferred
	err := l.db.Query(ctx, "reading a deferred charge", func(db database.Statements) (err error) {
		found, err = readDeferred(db, `account = $1 AND object = $2`, account, database.Text(object))
		return err
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// mostClaimed is the largest number of charges that one call of Claim reads.
const mostClaimed = 100

// Claim implements accounting.DeferringLedger.
func (l *Ledger) Claim(ctx context.Context, next func(*accounting.Deferred) (time.Time, bool)) (claimed []accounting.Deferred, err error) {
	now := time.Now().UnixMilli()
	var due []accounting.Deferred
	err = l.db.Query(ctx, "reading deferred charges", func(db database.Statements) (err error) {
		due, err = readDeferred(db, `due <= $1 ORDER BY due LIMIT $2`, now, mostClaimed)
		return err
	})
	for _, d := range due {
		again, ok := next(&d)
		if !ok {
			continue
		}
		err = l.db.Transact(ctx, "claiming a deferred charge", func(tx database.Statements) error {
			return tx.Change(`UPDATE gateway_ledger_deferred SET due = $1 WHERE account = $2 AND object = $3 AND due = $4`,
				again.UnixMilli(), d.Account, d.Object, d.Due.UnixMilli())
		})
		switch {
		case errors.Is(err, aigateway.ErrNotFound): // another gateway has claimed or settled it
			err = nil
		case err != nil:
			return claimed, err
		default:
			claimed = append(claimed, d)
		}
	}
	return claimed, err
}

// readDeferred returns the deferred charges that a condition selects.
func readDeferred(db database.Statements, where string, args ...any) (all []accounting.Deferred, err error) {
	err = db.Each(func(row database.Scanner) error {
		var d accounting.Deferred
		var record []byte
		var due, expires int64
		if err := row.Scan(&d.Account, &d.Object, &d.Record.ID, &record, &due, &expires); err != nil {
			return err
		}
		d.Due, d.Expires, d.Record.Admitted = time.UnixMilli(due), time.UnixMilli(expires), timeOf(d.Record.ID).UTC()
		if err := readRecord(&d.Record, record, nil); err != nil {
			return err
		}
		all = append(all, d)
		return nil
	}, `SELECT account, object, id, record, due, expires FROM gateway_ledger_deferred WHERE `+where, args...)
	return all, err
}

// SettleDeferred implements accounting.DeferringLedger. The charge is deleted, and the sums are
// changed, in one transaction.
func (l *Ledger) SettleDeferred(ctx context.Context, d *accounting.Deferred, calls []accounting.Call) (settled bool, err error) {
	next := d.Record
	next.Calls = calls
	err = l.db.Transact(ctx, "settling a deferred charge", func(tx database.Statements) error {
		deleted, err := tx.Exec(`DELETE FROM gateway_ledger_deferred WHERE account = $1 AND object = $2`, d.Account, d.Object)
		if settled = deleted > 0; err != nil || !settled || calls == nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO gateway_ledger_settled (id, record) VALUES ($1, $2)`, next.ID, appendRecord(nil, &next)); err != nil {
			return err
		}
		return replaceSums(tx, &d.Record, &next)
	})
	return settled && err == nil, err
}

// replaceSums subtracts a record from the sums, and adds its new form.
func replaceSums(tx database.Statements, old, next *accounting.Record) error {
	state, err := readState(tx)
	if err != nil {
		return err
	}
	changes := make(sums)
	changes.addRecord(old)
	for _, sum := range changes {
		for _, n := range sumsOf(sum) {
			*n = -*n
		}
	}
	changes.addRecord(next)
	known := make(names)
	if err := known.add(tx, changes.texts()); err != nil {
		return err
	}
	return changes.write(tx, known, state.zone)
}

// replaceSettled gives records the calls that they have since their charges were settled, and batches
// the numbers of their requests.
func replaceSettled(db database.Statements, records []accounting.Record) error {
	for some := range slices.Chunk(records, rowsPerStatement) {
		var ids []any
		for i := range some {
			ids = append(ids, some[i].ID)
		}
		err := db.Each(func(row database.Scanner) error {
			var id int64
			var text []byte
			if err := row.Scan(&id, &text); err != nil {
				return err
			}
			settled, err := parseRecord(text)
			if err != nil {
				return err
			}
			clean(settled)
			i := slices.IndexFunc(some, func(r accounting.Record) bool { return r.ID == id })
			some[i].Calls, some[i].Batch = settled.Calls, settled.Batch
			return nil
		}, `SELECT id, record FROM gateway_ledger_settled WHERE id IN `+placeholders(1, len(ids)), ids...)
		if err != nil {
			return err
		}
	}
	return nil
}

var _ accounting.DeferringLedger = (*Ledger)(nil)
