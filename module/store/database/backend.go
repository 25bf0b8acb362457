package database

import (
	"context"
	"database/sql"
	"io/fs"
)

// Backend opens one database of a kind, such as SQLite or PostgreSQL. Its methods may
// be called from several goroutines at once.
type Backend interface {
	// Identity returns a text that is different for each database. It is never
	// shown.
	Identity() string
	// Dialect returns the SQL of the kind of database.
	Dialect() Dialect
	// Connect opens the database, and creates it if it is missing and the backend
	// can create it. It does not migrate it.
	Connect(context.Context) (*sql.DB, error)
	// Disconnect closes a database that Connect has opened, or keeps it until the next
	// Connect, or until Close, if it has vanished.
	Disconnect(*sql.DB) error
	// Close closes what Disconnect has kept. Connect and Disconnect are not called
	// afterwards.
	Close() error
	// Warning returns a warning for the operator about the open database, such as
	// one about its permissions, empty for none. It is logged once.
	Warning() string
	// Backup copies a database of an older version of the schema, while the caller
	// holds the lock of writers. It may do nothing.
	Backup(ctx context.Context, db *sql.DB, version int) error
	// Explain returns an error for the operator, with the name of the database and
	// the reason, and without credentials. It wraps aigateway.ErrTaken if a value
	// is not unique, and otherwise aigateway.ErrUnavailable.
	Explain(error) error
	// Moved reports whether the open database is no longer the one that Connect
	// would open, or has become empty.
	Moved() bool
	// Listen calls changed after each notification of a change, until the context
	// ends. A backend without notifications does nothing.
	Listen(ctx context.Context, changed func())
}

// Dialect contains the differences in SQL and schema between kinds of databases.
type Dialect struct {
	// Bind rewrites the parameters of a statement. Nil leaves them unchanged.
	Bind func(string) string
	// Prepare makes transactions parse a statement once that they run several
	// times. It is for drivers that would parse it each time.
	Prepare bool
	// State is the name of the table that contains the version of the schema, in
	// one row.
	State string
	// Exists is a query of the number of tables with that name: 0 or 1.
	Exists string
	// Migrations are the files NNNN_<name>.sql. The file 0001 creates all tables.
	Migrations fs.FS
	// LockSchema and LockWrites are the first statements of a transaction that
	// migrates or writes. They wait for other such transactions. They are empty if
	// the start of a transaction waits already.
	LockSchema, LockWrites string
	// Notify is the last statement of a transaction for whose changes others
	// listen, empty for none.
	Notify string
}
