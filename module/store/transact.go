package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// query runs statements that change nothing.
func (s *Store) query(ctx context.Context, doing string, read func(statements) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	db, err := s.database(ctx)
	if err == nil {
		err = read(s.dialect.statements(ctx, db))
	}
	return s.explain(doing, err)
}

// change runs statements that change a user or keys of one, in one transaction,
// and makes the keys known that this user has then.
func (s *Store) change(ctx context.Context, doing string, change func(statements) (user int64, err error)) error {
	var fresh *known
	err := s.write(ctx, doing, func(tx statements) error {
		user, err := change(tx)
		if err != nil {
			return err
		}
		from, err := advance(tx)
		if err != nil {
			return err
		}
		// Read before they are committed: afterwards the database could be
		// out of reach, and a revoked key would stay known.
		if fresh, err = readChanged(tx, user, from, s.known.Load()); err != nil {
			return err
		}
		return tx.script(s.dialect.Notify)
	})
	if err == nil {
		s.publish(fresh)
	}
	return err
}

// write runs statements in one transaction, beside which no other one writes.
func (s *Store) write(ctx context.Context, doing string, write func(statements) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	db, err := s.database(ctx)
	if err == nil {
		err = s.transactInLine(ctx, db, write)
	}
	err = s.explain(doing, err)
	if errors.Is(err, aigateway.ErrUnavailable) && ctx.Err() != context.Canceled {
		s.writing.begin(s.logger, "store cannot be written", err)
	} else if err == nil {
		s.writing.end(s.logger, "store can be written again")
	}
	return err
}

// transactInLine refuses at once who would have to wait behind too many.
// Waiting here says nothing of the database, and is no outage of it.
func (s *Store) transactInLine(ctx context.Context, db *sql.DB, write func(statements) error) error {
	select {
	case s.line <- struct{}{}:
		defer release(s.line)
		return s.transact(ctx, db, s.dialect.LockWrites, write)
	default:
		return aigateway.ErrBusy
	}
}

// transact runs a transaction that takes a lock first. Those of this process
// wait for each other here: a database file is waited for by trying again.
func (s *Store) transact(ctx context.Context, db *sql.DB, lock string, write func(statements) error) error {
	err := acquire(ctx, s.changing)
	if errors.Is(err, context.DeadlineExceeded) {
		return aigateway.ErrBusy
	}
	if err != nil {
		return fmt.Errorf("waiting for others that write: %w", err)
	}
	defer release(s.changing)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	in := s.dialect.statements(ctx, tx)
	if err := in.script(lock); err != nil {
		return err
	}
	if err := write(in); err != nil {
		return err
	}
	return tx.Commit()
}

// refusal is an error of the caller, which is given back as it is.
type refusal struct{ error }

// errSlow is said instead of the many ways to say that a deadline has passed.
var errSlow = fmt.Errorf("no answer within %s", timeout)

// explain makes an error of this package one that aigateway.Store promises.
func (s *Store) explain(doing string, err error) error {
	var refused refusal
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
	return fmt.Errorf("%s: %w", doing, s.backend.Explain(err))
}
