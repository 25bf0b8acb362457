package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Query runs statements that change nothing. Errors begin with the action, such as
// "reading user".
func (d *Database) Query(ctx context.Context, action string, read func(Statements) error) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	db, err := d.Open(ctx)
	if err == nil {
		err = read(d.Statements(ctx, db))
	}
	return d.Explain(action, err)
}

// Write is Transact, and logs the beginning and the end of an outage.
func (d *Database) Write(ctx context.Context, action string, write func(Statements) error) error {
	err := d.Transact(ctx, action, write)
	if errors.Is(err, aigateway.ErrUnavailable) && ctx.Err() != context.Canceled {
		d.writing.Begin(d.logger, d.name+" cannot be written", err)
	} else if err == nil {
		d.writing.End(d.logger, d.name+" can be written again")
	}
	return err
}

// WriteProblem returns why the database cannot be written, nil if the last call of Write did not
// fail.
func (d *Database) WriteProblem() error { return d.writing.Problem() }

// WatchWrites finds the beginning of an outage of a database that nothing else writes, and its
// end, until the context ends. It writes only during an outage, whose reason is the result.
func (d *Database) WatchWrites(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if d.WriteProblem() != nil || d.isReadOnly(ctx) {
			_ = d.Write(ctx, "checking that it can be written", func(tx Statements) error {
				return tx.Change("UPDATE " + d.dialect.State + " SET version = version")
			})
		}
	}
}

// isReadOnly reports whether the database is read-only, as far as it can be asked.
func (d *Database) isReadOnly(ctx context.Context) bool {
	if d.dialect.ReadOnly == "" {
		return false
	}
	var setting int64
	err := d.Query(ctx, "checking whether it is read-only", func(db Statements) (err error) {
		setting, err = db.Number(d.dialect.ReadOnly)
		return err
	})
	return err == nil && setting > 0
}

// Transact runs statements in one transaction. Other writing transactions wait. Callers
// use Transact instead of Write if they log outages themselves, for example because a
// success need not end an outage.
func (d *Database) Transact(ctx context.Context, action string, write func(Statements) error) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	db, err := d.Open(ctx)
	if err == nil {
		err = d.turns.inLine(func() error { return d.transact(ctx, db, d.dialect.LockWrites, write) })
	}
	return d.Explain(action, err)
}

// turns are the turns of the transactions of a process. They are channels so that waiting for
// them can be cancelled.
type turns struct {
	line    chan struct{} // has an element for each call that runs a transaction or waits for one
	current chan struct{} // has an element while a transaction runs
}

// inLine runs a transaction after those that wait already. It returns aigateway.ErrBusy if
// too many wait, which is not an outage of the database.
func (t turns) inLine(transact func() error) error {
	select {
	case t.line <- struct{}{}:
		defer release(t.line)
		return transact()
	default:
		return aigateway.ErrBusy
	}
}

// begin waits until no other transaction runs. The caller ends its turn with release.
func (t turns) begin(ctx context.Context) error {
	err := acquire(ctx, t.current)
	if errors.Is(err, context.DeadlineExceeded) {
		return aigateway.ErrBusy
	}
	if err != nil {
		return fmt.Errorf("waiting for other transactions: %w", err)
	}
	return nil
}

// transact runs a transaction, whose first statement is lock. Transactions of this
// process wait for each other before they begin, because SQLite waits for a locked file
// by polling.
func (d *Database) transact(ctx context.Context, db *sql.DB, lock string, write func(Statements) error) error {
	if err := d.turns.begin(ctx); err != nil {
		return err
	}
	defer release(d.turns.current)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	statements := d.preparing(ctx, tx)
	if err := statements.Script(lock); err != nil {
		return err
	}
	if err := write(statements); err != nil {
		return err
	}
	return tx.Commit()
}

// Refusal wraps an error with which the caller's function ends a transaction. Explain
// returns the error unchanged.
type Refusal struct{ error }

// Refuse returns a Refusal.
func Refuse(err error) error { return Refusal{err} }

// refusals are the errors of stores that are no failure of the database.
var refusals = []error{aigateway.ErrLastRoot, aigateway.ErrTooMany, aigateway.ErrBusy, aigateway.ErrNoMember, aigateway.ErrHasKeys}

// errSlow replaces the errors of exceeded deadlines, which differ between drivers.
var errSlow = fmt.Errorf("no answer within %s", Timeout)

// Explain returns an error that wraps one of the errors of aigateway.Store.
func (d *Database) Explain(action string, err error) error {
	var refused Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused.error
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", action, aigateway.ErrNotFound)
	case slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(err, r) }):
		return fmt.Errorf("%s: %w", action, err)
	case errors.Is(err, errClosed):
		return fmt.Errorf("%s: %w: %w", action, aigateway.ErrUnavailable, err)
	case errors.Is(err, context.Canceled): // the caller has left; this is not an outage
		return fmt.Errorf("%s: %w: %w", action, aigateway.ErrUnavailable, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		err = errSlow
	}
	return fmt.Errorf("%s: %w", action, d.backend.Explain(err))
}
