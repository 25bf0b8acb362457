package database

import (
	"context"
	"database/sql"
	"io/fs"
)

// Backend opens one database of a kind, such as SQLite or PostgreSQL. Its methods may
// be called from several goroutines at once.
type Backend interface {
	// Identity returns a text that is different for each database. The text may
	// contain secrets, and must not be shown.
	Identity() string
	// Dialect returns the SQL of the kind of database.
	Dialect() Dialect
	// Connect opens the database, and creates it if it is missing and the backend
	// can create it. It does not migrate it.
	Connect(context.Context) (*sql.DB, error)
	// Disconnect closes a database that Connect has opened. If the database has
	// vanished, Disconnect may keep it open until the next Connect or Close.
	Disconnect(*sql.DB) error
	// Close closes a database that Disconnect has kept open. It is the last call
	// after Connect and Disconnect.
	Close() error
	// Warning returns a warning for the operator about the open database, for example
	// about its permissions, or "". The caller logs the same warning only once.
	Warning() string
	// Backup copies a database of an older version of the schema, while the caller
	// holds the lock of writers. It may do nothing.
	Backup(ctx context.Context, db *sql.DB, version int) error
	// Explain returns an error for the operator, with the name of the database and
	// the reason, and without credentials. It wraps aigateway.ErrTaken if a value
	// is not unique, and otherwise aigateway.ErrUnavailable.
	Explain(error) error
	// Moved reports whether Connect would open another database than the open one, or
	// the database has become empty.
	Moved() bool
	// Listen calls changed after each notification of a change, until the context
	// ends. A backend without notifications does nothing.
	Listen(ctx context.Context, changed func())
}

// Dialect contains the differences in SQL and schema between kinds of databases.
type Dialect struct {
	// Bind rewrites the parameters of a statement. Nil leaves them unchanged.
	Bind func(string) string
	// Prepare makes a transaction parse each statement only once. It is for drivers
	// that otherwise parse a statement each time they run it.
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
	// already the start of a transaction waits.
	LockSchema, LockWrites string
	// ReadOnly is a query of a number that is not 0 if the database cannot be written, or "".
	ReadOnly string
	// Notify is a statement that notifies listeners of a transaction, or "".
	Notify string
}
