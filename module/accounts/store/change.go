package store

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// changed is what a transaction has done: its row of the audit log, and the user whose
// keys may be others now.
type changed struct {
	user int64
	row  aigateway.AuditEntry // without an action if nothing has changed
}

// change runs a transaction that changes a user or the user's keys, and then replaces
// the user's keys in the snapshot.
func (t *tables) change(ctx context.Context, action string, change func(database.Statements) (changed, error)) error {
	var next *snapshot
	err := t.recorder.write(ctx, action, func(tx database.Statements) (changed, error) {
		done, err := change(tx)
		if err != nil {
			return done, err
		}
		current, err := advance(tx)
		if err != nil {
			return done, err
		}
		// The keys are read before the commit. After it, the database might not
		// be reachable, and a revoked key would stay in the snapshot.
		if next, err = readSnapshotAfter(tx, done.user, current, t.cache.newest.Load()); err != nil {
			return done, err
		}
		return done, t.db.Notify(tx)
	})
	if err == nil {
		t.cache.newest.publish(next)
	}
	return err
}

// write runs a transaction that changes something, with its row of the audit log. All
// changes of callers pass here.
func (r *recorder) write(ctx context.Context, action string, change func(database.Statements) (changed, error)) error {
	var row aigateway.AuditEntry
	err := r.db.Write(ctx, action, func(tx database.Statements) error {
		done, err := change(tx)
		if err != nil {
			return err
		}
		row = done.row
		row.At = now()
		row.Actor, _ = aigateway.ActorOf(ctx)
		return r.addRow(tx, &row)
	})
	if err == nil {
		r.logRow(&row)
	}
	return err
}
