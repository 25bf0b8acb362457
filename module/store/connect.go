package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var errClosed = errors.New("the store is closed")

// database returns the database, connected and migrated.
func (s *Store) database(ctx context.Context) (*sql.DB, error) {
	if db := s.db.Load(); db != nil {
		return db, nil
	}
	if err := acquire(ctx, s.connecting); err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	defer release(s.connecting)
	if db := s.db.Load(); db != nil {
		return db, nil
	}
	if s.closed.Load() {
		return nil, errClosed
	}
	db, err := s.connect(ctx)
	if err == nil {
		s.distrust()
		s.db.Store(db)
	}
	return db, err
}

func (s *Store) connect(ctx context.Context) (*sql.DB, error) {
	db, err := s.backend.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx, db); err != nil {
		_ = db.Close() // the first error says more
		return nil, err
	}
	return db, nil
}

// disconnect closes a database that does not answer, unless somebody did
// before. What runs on it still fails, or ends first.
func (s *Store) disconnect(db *sql.DB) {
	if db != nil && s.db.CompareAndSwap(db, nil) {
		_ = db.Close() // nothing is lost: what was committed is
	}
}

// acquire waits for a lock, as long as the context lasts.
func acquire(ctx context.Context, lock chan struct{}) error {
	select {
	case lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func release(lock chan struct{}) { <-lock }
