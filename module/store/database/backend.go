package database

import (
	"context"
	"database/sql"
	"io/fs"
)

// Backend is a kind of database: what SQLite and PostgreSQL do each in its own
// way. Its methods may be called at once from several goroutines.
type Backend interface {
	// Identity tells databases from each other. It is never shown.
	Identity() string
	// Dialect is how the database is spoken to.
	Dialect() Dialect
	// Connect opens the database, and makes it where it is missing and can be
	// made. Migrations are not its task.
	Connect(context.Context) (*sql.DB, error)
	// Disconnect closes what Connect has opened.
	Disconnect(*sql.DB) error
	// Warning is what whoever runs the gateway should know of the database
	// that Connect opened; empty for nothing. It is said once.
	Warning() string
	// Backup keeps a copy of a database of an older version, while the caller
	// holds the lock of writers. It may do nothing.
	Backup(ctx context.Context, db *sql.DB, version int) error
	// Explain returns an error for people: it names the database, says what is
	// wrong and carries no credential. It wraps aigateway.ErrTaken for what has
	// to be unique and is not, and else aigateway.ErrUnavailable.
	Explain(error) error
	// Moved reports whether what is open is no longer the database that
	// Connect would open, or holds nothing any more.
	Moved() bool
	// Listen calls changed whenever it hears of a change, until the context
	// ends. It may hear nothing: the store also looks by itself.
	Listen(ctx context.Context, changed func())
}

// Dialect is what differs in the SQL of two kinds of databases, and in their
// schemas.
type Dialect struct {
	// Bind rewrites the parameters of a statement; nil leaves them.
	Bind func(string) string
	// State is the table of one row with the version of the schema.
	State string
	// Exists counts the tables of that name: 0 or 1.
	Exists string
	// Migrations are files NNNN_<name>.sql, of which 0001 makes all tables.
	Migrations fs.FS
	// LockSchema and LockWrites are the first statements of a transaction that
	// migrates or writes: they wait until no other one does. Empty where
	// beginning the transaction waits already.
	LockSchema, LockWrites string
	// Notify is the last statement of a transaction that changes users or
	// keys; empty for none.
	Notify string
}
