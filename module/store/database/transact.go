package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Query runs statements that change nothing. Doing names them in the error:
// "reading user".
func (d *Database) Query(ctx context.Context, doing string, read func(Statements) error) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	db, err := d.Open(ctx)
	if err == nil {
		err = read(d.Statements(ctx, db))
	}
	return d.Explain(doing, err)
}

// Write runs statements in one transaction, beside which no other one writes. An
// outage is logged once, and its end.
func (d *Database) Write(ctx context.Context, doing string, write func(Statements) error) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	db, err := d.Open(ctx)
	if err == nil {
		err = d.transactInLine(ctx, db, write)
	}
	err = d.Explain(doing, err)
	if errors.Is(err, aigateway.ErrUnavailable) && ctx.Err() != context.Canceled {
		d.writing.Begin(d.logger, d.name+" cannot be written", err)
	} else if err == nil {
		d.writing.End(d.logger, d.name+" can be written again")
	}
	return err
}

// transactInLine refuses at once a call that would wait behind too many others.
// Waiting here is no outage of the database.
func (d *Database) transactInLine(ctx context.Context, db *sql.DB, write func(Statements) error) error {
	select {
	case d.line <- struct{}{}:
		defer release(d.line)
		return d.transact(ctx, db, d.dialect.LockWrites, write)
	default:
		return aigateway.ErrBusy
	}
}

// transact runs a transaction that takes a lock first. Those of this process
// wait for each other here: a database file is waited for by trying again.
func (d *Database) transact(ctx context.Context, db *sql.DB, lock string, write func(Statements) error) error {
	err := acquire(ctx, d.changing)
	if errors.Is(err, context.DeadlineExceeded) {
		return aigateway.ErrBusy
	}
	if err != nil {
		return fmt.Errorf("waiting for others that write: %w", err)
	}
	defer release(d.changing)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	in := d.Statements(ctx, tx)
	if err := in.Script(lock); err != nil {
		return err
	}
	if err := write(in); err != nil {
		return err
	}
	return tx.Commit()
}

// Refusal is an error of the caller of a transaction, which is returned to the
// caller as it is.
type Refusal struct{ error }

// Refuse returns a Refusal.
func Refuse(err error) error { return Refusal{err} }

// errSlow replaces the many errors of a deadline that has passed.
var errSlow = fmt.Errorf("no answer within %s", Timeout)

// Explain turns an error of this package into one that aigateway.Store promises.
func (d *Database) Explain(doing string, err error) error {
	var refused Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused.error
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", doing, aigateway.ErrNotFound)
	case errors.Is(err, aigateway.ErrLastRoot), errors.Is(err, aigateway.ErrTooMany), errors.Is(err, aigateway.ErrBusy):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(err, errClosed):
		return fmt.Errorf("%s: %w: %w", doing, aigateway.ErrUnavailable, err)
	case errors.Is(err, context.Canceled): // by the caller: there is no outage to explain
		return fmt.Errorf("%s: %w: %w", doing, aigateway.ErrUnavailable, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		err = errSlow
	}
	return fmt.Errorf("%s: %w", doing, d.backend.Explain(err))
}
