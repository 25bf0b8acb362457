// Package database connects to a SQL database of a Backend, migrates it, and runs
// statements and transactions in it. The store and the ledger each use one.
//
// A Database is opened by the first call that needs it, and again by the next call
// after a failure. Transactions of this process run one after the other; each
// happens whole or not at all. A method returns within seconds. It refuses a
// database of a newer schema, and one that has become empty: new tables there
// would be in the way of a copy that is put back.
package database

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	// Timeout is how long a method may take, connecting included.
	Timeout = 5 * time.Second
	// migrationTimeout is how long a migration may take, with the copy before it.
	migrationTimeout = 2 * time.Minute
	// writersAtOnce is how many calls may write or wait to write: as many as
	// finish well before the timeout of the last one.
	writersAtOnce = 50
)

// Database is a database of a Backend. Its methods may be called at once.
type Database struct {
	name      string // in log messages: "store"
	backend   Backend
	dialect   Dialect
	logger    func() *zap.Logger
	connected func()
	writing   Outage

	// connecting and changing are locks of the connection and of transactions;
	// they are channels so that waiting for them can end early. line has those
	// who run a transaction or wait for one.
	connecting, changing chan struct{}
	line                 chan struct{}
	warned               string                 // the last warning of the backend
	migrated             atomic.Bool            // a connection had all tables
	db                   atomic.Pointer[sql.DB] // nil while not connected
	closed               atomic.Bool
}

// New returns a database that is not connected yet. The name is that of log
// messages. The logger is asked for with each message, because a database outlives
// the configuration that made it. The function connected is called after each
// connection, before it is used.
func New(name string, backend Backend, logger func() *zap.Logger, connected func()) *Database {
	return &Database{
		name: name, backend: backend, dialect: backend.Dialect(), logger: logger, connected: connected,
		connecting: make(chan struct{}, 1), changing: make(chan struct{}, 1),
		line: make(chan struct{}, writersAtOnce),
	}
}

// Identity identifies the database among others.
func (d *Database) Identity() string { return d.backend.Identity() }

// Notify is the last statement of a transaction that others listen for.
func (d *Database) Notify(tx Statements) error { return tx.Script(d.dialect.Notify) }

// Listen calls changed when it hears of a change, until the context ends.
func (d *Database) Listen(ctx context.Context, changed func()) { d.backend.Listen(ctx, changed) }
