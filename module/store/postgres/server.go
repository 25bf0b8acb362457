package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

//go:embed migrations
var migrations embed.FS

const (
	// connections bounds the pool; one more listens.
	connections = 4
	// idle connections are closed before most firewalls forget them.
	idleFor = time.Minute
	// connectTimeout is for one address of the DSN, unless it sets its own.
	connectTimeout = 3 * time.Second
	// listenAgain is the pause before a lost connection is made anew.
	listenAgain = time.Second
)

// server is a PostgreSQL database.
type server struct {
	identity string
	config   *pgx.ConnConfig
}

// errDSN hides why a DSN is wrong: the reason repeats parts of it.
var errDSN = errors.New("the value is neither a postgres:// URL nor a list of key=value that PostgreSQL knows")

func newServer(dsn aigateway.Secret) (*server, error) {
	config, err := pgx.ParseConfig(string(dsn))
	if err != nil {
		return nil, errDSN
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	// Statements that are prepared once and kept would be unknown behind a pool
	// of connections that are shared between transactions.
	if config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	digest := sha256.Sum256([]byte(dsn))
	return &server{identity: "postgres " + string(digest[:]), config: config}, nil
}

// Identity implements database.Backend.
func (s *server) Identity() string { return s.identity }

// Dialect implements database.Backend. A gateway that vanishes while it holds the
// lock, and a lock that cannot be had, are for the server to end: the
// connection may look alive for long.
func (*server) Dialect() database.Dialect {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is a constant
	}
	return database.Dialect{
		State: "gateway_state",
		// Not to_regclass: what it remembers from before waiting for a lock may
		// no longer be so.
		Exists:     `SELECT count(*) FROM pg_class WHERE relname = 'gateway_state' AND pg_table_is_visible(oid)`,
		Migrations: files,
		LockSchema: `SELECT pg_advisory_xact_lock(7163384699739267428)`, // a number that nothing else takes
		LockWrites: `SET LOCAL statement_timeout = '5s';
			SET LOCAL idle_in_transaction_session_timeout = '5s';
			SELECT revision FROM gateway_state FOR UPDATE`,
		Notify: `NOTIFY gateway_changes`,
	}
}

// always has every connection tried before it is used again: one that the
// server closed meanwhile would fail whoever comes next, and only then be made
// anew. Nobody is waiting for microseconds here.
func always(context.Context, stdlib.ShouldPingParams) bool { return true }

// Connect implements database.Backend.
func (s *server) Connect(ctx context.Context) (*sql.DB, error) {
	db := stdlib.OpenDB(*s.config, stdlib.OptionShouldPing(always))
	db.SetMaxOpenConns(connections)
	db.SetConnMaxIdleTime(idleFor)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close() // the first error says more
		return nil, err
	}
	return db, nil
}

// Disconnect implements database.Backend.
func (*server) Disconnect(db *sql.DB) error { return db.Close() }

// Warning implements database.Backend.
func (*server) Warning() string { return "" }

// Backup implements database.Backend: what runs a server also copies it.
func (*server) Backup(context.Context, *sql.DB, int) error { return nil }

// Moved implements database.Backend: a server that moved closes its connections.
func (*server) Moved() bool { return false }

// Listen implements database.Backend. Errors are not told: the follower meets the
// same ones, and looks by itself meanwhile.
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

// listen returns when the connection is lost.
func (s *server) listen(ctx context.Context, changed func()) error {
	conn, err := pgx.ConnectConfig(ctx, s.config.Copy())
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
		defer cancel()
		_ = conn.Close(ctx) // it may be broken already
	}()
	if _, err := conn.Exec(ctx, `LISTEN gateway_changes`); err != nil {
		return err
	}
	for {
		changed() // first for what was missed until now
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}
