package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

const (
	// keepAudit is how long rows are kept unless the options set another time: a year, and
	// the time to look at it.
	keepAudit = 400 * 24 * time.Hour
	// maxAuditValue is the largest size of a value in a row, in bytes.
	maxAuditValue = 1000
	// maxLoadChanges is the largest number of parts of a configuration in a row.
	maxLoadChanges = 200
	// pruneBatch is the largest number of rows that one transaction deletes.
	pruneBatch = 5000
)

// recorder runs the transactions of changes, each with its row of the audit log.
type recorder struct {
	db      *database.Database
	logger  func() *zap.Logger
	rows    atomic.Pointer[zap.Logger] // logs the rows
	options atomic.Pointer[aigateway.AuditOptions]
}

// audit implements aigateway.AuditLog.
type audit struct{ recorder recorder }

// UseAudit implements aigateway.AuditLog.
func (a *audit) UseAudit(options aigateway.AuditOptions) { a.recorder.options.Store(&options) }

func (r *recorder) auditOptions() (options aigateway.AuditOptions) {
	if set := r.options.Load(); set != nil {
		options = *set
	}
	options.Keep = cmp.Or(options.Keep, keepAudit)
	return options
}

// addRow writes the row of a change in its transaction, and sets its ID. A row without an
// action is not written. With lenient options, the change is made without its row if that
// cannot be written.
func (r *recorder) addRow(tx database.Statements, row *aigateway.AuditEntry) error {
	if row.Action == "" {
		return nil
	}
	if !r.auditOptions().Lenient {
		return insertRow(tx, row)
	}
	if err := tx.Script(`SAVEPOINT audit`); err != nil { // PostgreSQL refuses statements after a failed one
		return err
	}
	err := insertRow(tx, row)
	if err == nil {
		return tx.Script(`RELEASE SAVEPOINT audit`)
	}
	r.logger().Error("a change is made without its row of the audit log", zap.String("action", row.Action), zap.Error(r.db.Explain("writing row", err)))
	return tx.Script(`ROLLBACK TO SAVEPOINT audit`)
}

func insertRow(tx database.Statements, row *aigateway.AuditEntry) error {
	for i := range row.Changes {
		c := &row.Changes[i]
		c.Before, c.After = shorten(c.Before), shorten(c.After)
	}
	changes, err := encodeList(row.Changes)
	if err != nil {
		return err
	}
	return tx.Row(`INSERT INTO gateway_audit (at, actor, role, address, request, action, object, changes, failed)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
		millis(row.At), database.Text(row.Actor.Name), int64(row.Role), database.Text(row.Address), database.Text(row.Request),
		row.Action, database.Text(row.Object), database.Text(changes), row.Failed).Scan(&row.ID)
}

// shorten returns a value, or its beginning and its digest.
func shorten(value string) string {
	if len(value) <= maxAuditValue {
		return value
	}
	return strings.ToValidUTF8(value[:maxAuditValue], "") + "… " + shortDigest(value)
}

// logRow writes a row to the log, from which programs can take it elsewhere.
func (r *recorder) logRow(row *aigateway.AuditEntry) {
	if row.Action == "" {
		return
	}
	r.rows.Load().Info(row.Action, zap.Int64("id", row.ID), zap.String("actor", row.Actor.Name),
		zap.Stringer("role", row.Role), zap.String("address", row.Address), zap.String("request_id", row.Request),
		zap.String("object", row.Object), zap.Any("changes", row.Changes), zap.Bool("failed", row.Failed))
}

// Audit implements aigateway.AuditLog.
func (a *audit) Audit(ctx context.Context, entry aigateway.AuditEntry) error {
	return a.recorder.write(ctx, "writing row of the audit log", func(database.Statements) (changed, error) {
		return changed{row: entry}, nil
	})
}

// AuditLoad implements aigateway.AuditLog.
func (a *audit) AuditLoad(ctx context.Context, parts map[string]string) error {
	actor, _ := aigateway.ActorOf(ctx)
	return a.recorder.write(ctx, "writing row of the audit log", func(tx database.Statements) (changed, error) {
		var old string
		err := tx.Row(`SELECT parts FROM gateway_audit_loads ORDER BY CASE WHEN actor = $1 THEN 1 ELSE 0 END DESC, at DESC LIMIT 1`, database.Text(actor.Name)).Scan(&old)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return changed{}, err
		}
		known := make(map[string]string)
		_ = json.Unmarshal([]byte(old), &known) // nothing is known after a manual change
		now, err := json.Marshal(parts)
		if err != nil {
			return changed{}, database.Refuse(err)
		}
		_, err = tx.Exec(`INSERT INTO gateway_audit_loads (actor, at, parts) VALUES ($1, $2, $3)
			ON CONFLICT (actor) DO UPDATE SET at = $2, parts = $3`, database.Text(actor.Name), millis(time.Now()), database.Text(string(now)))
		return changed{row: aigateway.AuditEntry{Action: "config.load", Object: "config", Changes: loadChanges(known, parts)}}, err
	})
}

// loadChanges returns the parts of a configuration that differ, by their names.
func loadChanges(old, next map[string]string) (changes []aigateway.AuditChange) {
	names := slices.Collect(maps.Keys(old))
	names = slices.AppendSeq(names, maps.Keys(next))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if old[name] != next[name] {
			changes = append(changes, aigateway.AuditChange{Field: name, Before: old[name], After: next[name]})
		}
	}
	if more := len(changes) - maxLoadChanges; more > 0 {
		changes = append(changes[:maxLoadChanges], aigateway.AuditChange{Field: "…", After: fmt.Sprint(more, " more")})
	}
	return changes
}

// AuditEntries implements aigateway.AuditLog.
func (a *audit) AuditEntries(ctx context.Context, q aigateway.AuditQuery) (entries []aigateway.AuditEntry, err error) {
	limit := int64(math.MaxInt64)
	if !q.To.IsZero() {
		limit = millis(q.To)
	}
	err = a.recorder.db.Query(ctx, "reading the audit log", func(db database.Statements) error {
		return db.Each(func(row database.Scanner) error {
			var e aigateway.AuditEntry
			var changes string
			err := row.Scan(&e.ID, timeColumn{&e.At}, &e.Actor.Name, &e.Role, &e.Address, &e.Request, &e.Action, &e.Object, &changes, &e.Failed)
			if err == nil {
				err = json.Unmarshal([]byte(changes), &e.Changes)
			}
			entries = append(entries, e)
			return err
		}, `SELECT id, at, actor, role, address, request, action, object, changes, failed FROM gateway_audit
			WHERE id < $1 AND at >= $2 AND at < $3 AND (actor = $4 OR actor LIKE $5 ESCAPE '\') AND (object = $6 OR object LIKE $7 ESCAPE '\')
				AND (action = $8 OR action LIKE $9 ESCAPE '\') ORDER BY id DESC LIMIT $10`,
			cmp.Or(q.Before, math.MaxInt64), millis(q.From), limit, database.Text(q.Actor), prefixPattern(q.Actor, "/"), database.Text(q.Object), prefixPattern(q.Object, "/"),
			q.Action, prefixPattern(q.Action, "."), q.Limit)
	})
	return entries, err
}

// prefixPattern returns the LIKE pattern of what a name contains: everything for "".
func prefixPattern(name, separator string) string {
	if name == "" {
		return "%"
	}
	return escapeLike(database.Text(name)) + separator + "%"
}

// prune deletes the rows whose time is over. If it fails, the next call deletes them.
func (r *recorder) prune(ctx context.Context) {
	limit := millis(time.Now().Add(-r.auditOptions().Keep))
	for n := int64(pruneBatch); n == pruneBatch; {
		err := r.db.Write(ctx, "deleting old rows of the audit log", func(tx database.Statements) (err error) {
			n, err = tx.Exec(`DELETE FROM gateway_audit WHERE id IN (SELECT id FROM gateway_audit WHERE at < $1 ORDER BY id LIMIT $2)`, limit, pruneBatch)
			if err == nil {
				_, err = tx.Exec(`DELETE FROM gateway_audit_loads WHERE at < $1`, limit)
			}
			return err
		})
		if err != nil {
			return
		}
	}
}
