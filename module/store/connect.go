package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"go.uber.org/zap"
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
	s.warn()
	return db, nil
}

// warn is called by one goroutine at a time.
func (s *Store) warn() {
	if warning := s.backend.Warning(); warning != "" && warning != s.warned {
		s.warned = warning
		s.logger().Warn("store needs attention", zap.String("reason", warning))
	}
}

// disconnect closes a database that does not answer, unless somebody did
// before. What runs on it still fails, or ends first. Nobody connects before it
// is closed: the backend may have to put in order what both would use.
func (s *Store) disconnect(db *sql.DB) {
	if db == nil {
		return
	}
	s.connecting <- struct{}{} // which nobody holds for long while there is a database
	defer release(s.connecting)
	if s.db.CompareAndSwap(db, nil) {
		_ = s.backend.Disconnect(db) // nothing is lost: what was committed is
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
