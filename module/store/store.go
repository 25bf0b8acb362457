// Package store keeps users, sessions and keys in a database, and the keys in
// memory beside it.
//
// It promises that a key is looked up without any I/O; that a change made here
// is seen at once and one made elsewhere within two seconds; that a change
// happens whole or not at all; and that an outage of the database changes
// nothing for the keys that are known, is told once, and ends by itself. It
// keeps digests, never keys or tokens, and refuses a database that a newer
// gateway has made. It never repairs, deletes or overwrites a damaged one, nor
// begins anew in one that has become empty.
//
// What SQLite and PostgreSQL each do in their own way is in the packages below.
package store

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const (
	// timeout is how long a method may take, connecting included.
	timeout = 5 * time.Second
	// migrationTimeout is how long a migration may take, a copy before included.
	migrationTimeout = 2 * time.Minute
	// pollEvery is how often the follower looks for changes that nobody told.
	pollEvery = 500 * time.Millisecond
	// currentFor is how long what was read is taken for all there is.
	currentFor = 2 * time.Second
	// writersAtOnce is how many may be writing or wait for it: as many as are
	// done long before the last one's timeout.
	writersAtOnce = 50
	// noteUsesEvery is how often the last uses of keys are written.
	noteUsesEvery = time.Minute
)

// Store implements aigateway.Store over a database.
type Store struct {
	backend Backend
	dialect Dialect
	logger  func() *zap.Logger
	reading outage // of the follower
	writing outage

	// connecting and changing are held by whoever opens the database, and
	// whoever changes it: one at a time, and as channels so that waiting for
	// them can end early. Who changes it, or waits to, stands in the line.
	connecting, changing chan struct{}
	line                 chan struct{}
	warned               string                 // by whoever was last connecting
	db                   atomic.Pointer[sql.DB] // nil while not connected
	closed               atomic.Bool

	follow sync.Once
	looked chan struct{} // closed behind the first look
	stop   context.CancelFunc
	done   sync.WaitGroup

	// publishing guards the replacement of known.
	publishing sync.Mutex
	known      atomic.Pointer[known]
	born       time.Time
	checked    atomic.Int64 // when known was last seen to be all there is, since born
}

// New returns a store that is not open yet. The logger is asked for whenever
// something is to be said, because a store outlives the configuration that
// made it.
func New(backend Backend, logger func() *zap.Logger) *Store {
	s := &Store{
		backend: backend, dialect: backend.Dialect(), logger: logger,
		connecting: make(chan struct{}, 1), changing: make(chan struct{}, 1),
		line: make(chan struct{}, writersAtOnce), looked: make(chan struct{}),
		born: time.Now().Add(-currentFor), // so that 0 is too long ago
	}
	s.known.Store(&known{database: backend.Identity()})
	return s
}

// Open begins to follow the database, in goroutines that Close ends.
func (s *Store) Open() {
	s.follow.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		s.stop = cancel
		wake := make(chan struct{}, 1)
		s.done.Go(func() { s.followChanges(ctx, wake) })
		s.done.Go(func() {
			s.backend.Listen(ctx, func() {
				select {
				case wake <- struct{}{}:
				default: // it is going to look anyway
				}
			})
		})
	})
}

// Close ends the following, writes the last uses of keys and closes the
// database. What was known stays known; every other method fails then.
func (s *Store) Close() error {
	s.follow.Do(func() { s.stop = func() {} })
	s.stop()
	s.done.Wait()
	s.noteUses(context.Background())
	s.closed.Store(true)
	s.connecting <- struct{}{} // nobody is connecting
	defer func() { <-s.connecting }()
	if db := s.db.Swap(nil); db != nil {
		return s.backend.Disconnect(db)
	}
	return nil
}

// Lookup returns the key with this digest, nil when none is known.
func (s *Store) Lookup(digest aigateway.Digest) *aigateway.Key {
	return s.known.Load().lookup(digest)
}

// Complete reports whether Lookup knows all keys.
func (s *Store) Complete() bool {
	return time.Since(s.born)-time.Duration(s.checked.Load()) < currentFor
}

// Opened is closed once the keys were read for the first time after Open, or
// could not be.
func (s *Store) Opened() <-chan struct{} { return s.looked }

// Identity is that of the database.
func (s *Store) Identity() string { return s.backend.Identity() }

// Interface guards
var (
	_ aigateway.Store         = (*Store)(nil)
	_ aigateway.StoreIdentity = (*Store)(nil)
	_ aigateway.StoreOpening  = (*Store)(nil)
)
