package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"go.uber.org/zap"
)

var errClosed = errors.New("the database is closed")

// Open returns the connected and migrated database.
func (d *Database) Open(ctx context.Context) (*sql.DB, error) {
	if db := d.db.Load(); db != nil {
		return db, nil
	}
	if err := acquire(ctx, d.connecting); err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	defer release(d.connecting)
	if db := d.db.Load(); db != nil {
		return db, nil
	}
	if d.closed.Load() {
		return nil, errClosed
	}
	db, err := d.connect(ctx)
	if err == nil {
		d.connected()
		d.db.Store(db)
	}
	return db, err
}

func (d *Database) connect(ctx context.Context) (*sql.DB, error) {
	db, err := d.backend.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.migrate(ctx, db); err != nil {
		_ = db.Close() // the first error is returned
		return nil, err
	}
	d.warn()
	return db, nil
}

// warn logs a new warning of the backend. Its caller holds connecting.
func (d *Database) warn() {
	if warning := d.backend.Warning(); warning != "" && warning != d.warned {
		d.warned = warning
		d.logger().Warn(d.name+" needs attention", zap.String("reason", warning))
	}
}

// Follow disconnects if the database has moved. The next use then connects to the
// database that has replaced it.
func (d *Database) Follow() {
	if d.backend.Moved() {
		d.Disconnect(d.db.Load())
	}
}

// Disconnect closes a database after a failure, unless it is closed already. It waits for
// running statements. Open does not connect again before the database is closed, because
// the backend may have to clean up files that a new connection would use.
func (d *Database) Disconnect(db *sql.DB) {
	if db == nil {
		return
	}
	d.connecting <- struct{}{} // others hold it briefly while the database is open
	defer release(d.connecting)
	if d.db.CompareAndSwap(db, nil) {
		_ = d.backend.Disconnect(db) // an error loses no committed change
	}
}

// Close closes the database. All further calls fail.
func (d *Database) Close() error {
	d.closed.Store(true)
	d.connecting <- struct{}{} // waits for a connection in progress
	defer release(d.connecting)
	var err error
	if db := d.db.Swap(nil); db != nil {
		err = d.backend.Disconnect(db)
	}
	return errors.Join(err, d.backend.Close())
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
