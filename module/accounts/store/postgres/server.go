package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

//go:embed migrations ledger
var migrations embed.FS

// schema identifies a group of tables: the folder of their migrations, the table with
// their version, and the number of the advisory lock of migrations, which no other
// program is likely to use.
type schema struct {
	folder, state string
	lock          int64
}

var (
	accounts = schema{"migrations", "gateway_state", 7163384699739267428}
	records  = schema{"ledger", "gateway_ledger_state", 7163384699739267429}
)

const (
	// connections is the size of the pool. One more connection listens.
	connections = 4
	// idleFor is the time after which idle connections are closed. Firewalls drop idle
	// connections later.
	idleFor = time.Minute
	// connectTimeout is the default timeout for each address of the DSN.
	connectTimeout = 3 * time.Second
	// lifetime is the longest time for which a connection is used. What a name or a proxy leads
	// to may be another server by then.
	lifetime = 5 * time.Minute
	// listenAgain is the pause after the listening connection was lost.
	listenAgain = time.Second
)

// server is a PostgreSQL database.
type server struct {
	schema
	identity string
	config   *pgx.ConnConfig
	unfit    atomic.Int64 // how many connections were found unfit
}

// errDSN replaces the errors of the parser, which contain parts of the DSN.
var errDSN = errors.New("the value is neither a postgres:// URL nor a list of key=value that PostgreSQL knows")

func newServer(tables schema, dsn aigateway.Secret) (*server, error) {
	config, err := pgx.ParseConfig(string(dsn))
	if err != nil {
		return nil, errDSN
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	// A proxy that shares connections between transactions, such as PgBouncer, does not
	// support prepared statements.
	if config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	digest := sha256.Sum256([]byte(dsn))
	s := &server{schema: tables, identity: "postgres " + string(digest[:]), config: config}
	config.OnPgError = s.keeps
	return s, nil
}

// Identity implements database.Backend.
func (s *server) Identity() string { return s.identity }

// Dialect implements database.Backend. LockWrites sets timeouts, with which the server
// ends the transaction of a gateway that has vanished, and a wait for a lock that takes
// too long. Without them, a dead connection could hold its locks for a long time.
func (s *server) Dialect() database.Dialect {
	files, err := fs.Sub(migrations, s.folder)
	if err != nil {
		panic(err) // the name is a constant
	}
	return database.Dialect{
		State: s.state,
		// The cached result of to_regclass may be wrong after a wait for a lock.
		Exists:     `SELECT count(*) FROM pg_class WHERE relname = '` + s.state + `' AND pg_table_is_visible(oid)`,
		Migrations: files,
		LockSchema: fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, s.lock),
		ReadOnly:   `SELECT count(*) FROM pg_settings WHERE name = 'transaction_read_only' AND setting = 'on'`,
		LockWrites: `SET LOCAL statement_timeout = '5s';
			SET LOCAL idle_in_transaction_session_timeout = '5s';
			SELECT version FROM ` + s.state + ` FOR UPDATE`,
		Notify: `NOTIFY gateway_changes`,
	}
}

// Connect implements database.Backend.
func (s *server) Connect(ctx context.Context) (*sql.DB, error) {
	db := sql.OpenDB(s.connector())
	db.SetMaxOpenConns(connections)
	db.SetConnMaxIdleTime(idleFor)
	db.SetConnMaxLifetime(lifetime)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close() // the first error is returned
		return nil, err
	}
	return db, nil
}

// Disconnect implements database.Backend.
func (*server) Disconnect(db *sql.DB) error { return db.Close() }

// Close implements database.Backend.
func (*server) Close() error { return nil }

// Warning implements database.Backend.
func (*server) Warning() string { return "" }

// Backup implements database.Backend. Operators of a server make its backups.
func (*server) Backup(context.Context, *sql.DB, int) error { return nil }

// Moved implements database.Backend. A server that moves closes its connections.
func (*server) Moved() bool { return false }

// Listen implements database.Backend. It ignores errors: the store polls in the
// meantime, and logs the same errors.
func (s *server) Listen(ctx context.Context, changed func()) {
	for {
		_ = s.listen(ctx, changed)
		select {
		case <-ctx.Done():
			return
		case <-time.After(listenAgain):
		}
	}
}

// listen calls changed after each notification, until the connection is lost.
func (s *server) listen(ctx context.Context, changed func()) error {
	conn, err := pgx.ConnectConfig(ctx, s.config.Copy())
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
		defer cancel()
		_ = conn.Close(ctx) // the connection may be broken
	}()
	if _, err := conn.Exec(ctx, `LISTEN gateway_changes`); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lifetime)
	defer cancel()
	for {
		changed() // the first call is for changes before LISTEN
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}
