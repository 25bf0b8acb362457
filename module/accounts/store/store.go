// Package store implements the store of users, sessions and keys over a SQL database,
// with a copy of all keys in memory. The packages below it open SQLite and PostgreSQL
// databases.
//
// It promises that the lookup of a key does no I/O; that lookups find changes of this
// process at once, and changes of other processes within two seconds, but a new access token
// of another process at once, for which a lookup waits; that a change is
// made completely or not at all; and that known keys stay valid during an outage of the
// database. It logs an outage once, and recovers without a restart.
//
// Each change writes its row of the audit log in the same transaction: what cannot be
// recorded is not done, unless the options allow it.
//
// It stores the digests of keys and of session tokens, never a key or a token. It
// refuses databases of newer gateways, and databases that have become empty. It never
// repairs, deletes or overwrites a damaged database.
package store

import (
	"cmp"
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

const (
	// pollInterval is the time between two checks for changes. The store also polls if
	// the database sends notifications, because notifications may be lost.
	pollInterval = 500 * time.Millisecond
	// completeFor is the time after a check in which the snapshot counts as complete.
	completeFor = 2 * time.Second
	// usesInterval is the time between two writes of the last uses of keys.
	usesInterval = time.Minute
	// pruneInterval is the time between two deletions of rows of the audit log.
	pruneInterval = time.Hour
)

// Store implements aigateway.Store over a database.
type Store struct {
	cache            // answers lookups
	audit            // answers questions about changes
	tables   *tables // have the users, sessions and keys
	follower follower
}

// tables are the tables of a store, with the copy of their keys.
type tables struct {
	db       *database.Database
	outage   database.Outage // failures to read changes
	recorder *recorder
	cache    *cache
}

// New returns a store that is not open yet. The store calls logger for each log message,
// because it may outlive the configuration that created it, and the logger of that
// configuration.
func New(backend database.Backend, logger func() *zap.Logger) *Store {
	s := new(Store)
	s.cache.checks = newChecks()
	s.cache.created = time.Now().Add(-completeFor) // a verified of 0 is too old
	s.cache.newest.Store(&snapshot{database: backend.Identity()})
	db := database.New("store", backend, logger, s.cache.newest.invalidate)
	s.audit.recorder = recorder{db: db, logger: logger}
	s.audit.recorder.rows.Store(zap.NewNop())
	s.tables = &tables{db: db, recorder: &s.audit.recorder, cache: &s.cache}
	s.follower = follower{tables: s.tables, opened: make(chan struct{})}
	return s
}

// Open implements aigateway.Store. Close ends its goroutines.
func (s *Store) Open() { s.follower.start() }

// Close stops following the database, writes the last uses of keys, and closes the
// database. Afterwards, Lookup still returns the last known keys; all other methods
// fail.
func (s *Store) Close() error {
	s.follower.end()
	s.tables.writeUses(context.Background())
	return s.tables.db.Close()
}

// Opened implements aigateway.StoreOpening.
func (s *Store) Opened() <-chan struct{} { return s.follower.opened }

// Identity implements aigateway.StoreIdentity.
func (s *Store) Identity() string { return s.tables.db.Identity() }

// Degraded implements aigateway.Degradable: the database cannot be read, or not be written.
func (s *Store) Degraded() error {
	return cmp.Or(s.tables.outage.Problem(), s.tables.db.WriteProblem())
}

// Interface guards
var (
	_ aigateway.Store           = (*Store)(nil)
	_ aigateway.StoreIdentity   = (*Store)(nil)
	_ aigateway.StoreOpening    = (*Store)(nil)
	_ aigateway.KeyFinder       = (*Store)(nil)
	_ aigateway.SharedKeySource = (*Store)(nil)
	_ aigateway.RuledUsers      = (*Store)(nil)
	_ aigateway.AuditLog        = (*Store)(nil)
	_ aigateway.Degradable      = (*Store)(nil)
	_ aigateway.DeviceStore     = (*Store)(nil)
)
