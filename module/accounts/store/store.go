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
	"context"
	"sync"
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
	recorder // runs the changes, each with its row of the audit log

	follow sync.Once
	opened chan struct{} // closed after the first reading of the keys
	stop   context.CancelFunc
	done   sync.WaitGroup

	cache // answers lookups
}

// New returns a store that is not open yet. The store calls logger for each log message,
// because it may outlive the configuration that created it, and the logger of that
// configuration.
func New(backend database.Backend, logger func() *zap.Logger) *Store {
	s := &Store{opened: make(chan struct{})}
	s.checks = newChecks()
	s.recorder.logger = logger
	s.rows.Store(zap.NewNop())
	s.db = database.New("store", backend, logger, s.invalidate)
	s.created = time.Now().Add(-completeFor) // a verified of 0 is too old
	s.snapshot.Store(&snapshot{database: backend.Identity()})
	return s
}

// Open implements aigateway.Store. Close ends its goroutines.
func (s *Store) Open() {
	s.follow.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		s.stop = cancel
		wake := make(chan struct{}, 1)
		s.done.Go(func() { s.followChanges(ctx, wake) })
		s.done.Go(func() { s.db.WatchWrites(ctx) })
		s.done.Go(func() {
			s.db.Listen(ctx, func() {
				select {
				case wake <- struct{}{}:
				default: // followChanges has been woken already
				}
			})
		})
	})
}

// Close stops following the database, writes the last uses of keys, and closes the
// database. Afterwards, Lookup still returns the last known keys; all other methods
// fail.
func (s *Store) Close() error {
	s.follow.Do(func() { s.stop = func() {} })
	s.stop()
	s.done.Wait()
	writeUses(context.Background(), s)
	return s.db.Close()
}

// Opened implements aigateway.StoreOpening.
func (s *Store) Opened() <-chan struct{} { return s.opened }

// Identity implements aigateway.StoreIdentity.
func (s *Store) Identity() string { return s.db.Identity() }

// Interface guards
var (
	_ aigateway.Store           = (*Store)(nil)
	_ aigateway.StoreIdentity   = (*Store)(nil)
	_ aigateway.StoreOpening    = (*Store)(nil)
	_ aigateway.KeyFinder       = (*Store)(nil)
	_ aigateway.SharedKeySource = (*Store)(nil)
	_ aigateway.RuledUsers      = (*Store)(nil)
	_ aigateway.AuditLog        = (*Store)(nil)
)
