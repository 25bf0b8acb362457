// Package database connects to a SQL database of a Backend, migrates it, and runs
// statements and transactions in it.
//
// It promises that methods connect when they need the connection, also after a failure;
// that the writing transactions of a process run one after the other; and that methods
// return within seconds. It refuses databases of a newer schema. It also refuses
// databases that have become empty, because new tables would have to be removed before a
// backup can be restored.
package database

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	// Timeout bounds the duration of a method, including the time to connect.
	Timeout = slowness * 5 * time.Second
	// migrationTimeout bounds the duration of a migration with its backup.
	migrationTimeout = 2 * time.Minute
	// watchEvery is the time between two looks of WatchWrites.
	watchEvery = 2 * time.Second
	// writersAtOnce is the largest number of calls that write or wait to write.
	// All of them finish well before the timeout of the last one.
	writersAtOnce = 50
)

// Database is a database of a Backend. Its methods may be called from several
// goroutines at once.
type Database struct {
	name      string // the database in log messages, such as "store"
	backend   Backend
	dialect   Dialect
	logger    func() *zap.Logger
	connected func()
	writing   Outage

	turns      turns                  // of transactions
	connecting chan struct{}          // the lock of the connection; waiting for it can be cancelled
	warned     string                 // the last warning of the backend
	migrated   atomic.Bool            // the database had all tables before
	db         atomic.Pointer[sql.DB] // nil while not connected
	closed     atomic.Bool
}

// New returns a database that is not connected yet. Log messages contain the name.
// The function logger is called for each message, because a database may outlive the
// configuration that created it, and its logger. The function connected is called
// after each connection, before the connection is used.
func New(name string, backend Backend, logger func() *zap.Logger, connected func()) *Database {
	return &Database{
		name: name, backend: backend, dialect: backend.Dialect(), logger: logger, connected: connected,
		connecting: make(chan struct{}, 1), turns: turns{make(chan struct{}, writersAtOnce), make(chan struct{}, 1)},
	}
}

// Identity returns Backend.Identity.
func (d *Database) Identity() string { return d.backend.Identity() }

// Notify runs Dialect.Notify in a transaction.
func (d *Database) Notify(tx Statements) error { return tx.Script(d.dialect.Notify) }

// Listen calls Backend.Listen.
func (d *Database) Listen(ctx context.Context, changed func()) { d.backend.Listen(ctx, changed) }
