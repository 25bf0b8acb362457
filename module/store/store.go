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
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

const (
	// pollEvery is how often the follower looks for changes that nobody told.
	pollEvery = 500 * time.Millisecond
	// currentFor is how long what was read is taken for all there is.
	currentFor = 2 * time.Second
	// noteUsesEvery is how often the last uses of keys are written.
	noteUsesEvery = time.Minute
)

// Store implements aigateway.Store over a database.
type Store struct {
	db      *database.Database
	logger  func() *zap.Logger
	reading database.Outage // of the follower

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
func New(backend database.Backend, logger func() *zap.Logger) *Store {
	s := &Store{logger: logger, looked: make(chan struct{}), born: time.Now().Add(-currentFor)} // so that 0 is too long ago
	s.db = database.New("store", backend, logger, s.distrust)
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
			s.db.Listen(ctx, func() {
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
	return s.db.Close()
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

// Identity identifies the database among others.
func (s *Store) Identity() string { return s.db.Identity() }

// Interface guards
var (
	_ aigateway.Store         = (*Store)(nil)
	_ aigateway.StoreIdentity = (*Store)(nil)
	_ aigateway.StoreOpening  = (*Store)(nil)
)
