package store

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// followChanges keeps known up to date, until the context ends.
func (s *Store) followChanges(ctx context.Context, wake <-chan struct{}) {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	noted := time.Now()
	s.refresh(ctx)
	close(s.looked)
	for {
		if time.Since(noted) >= noteUsesEvery {
			noted = time.Now()
			s.noteUses(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-poll.C:
		}
		s.refresh(ctx)
	}
}

// refresh looks whether the database has changed and reads the keys anew if it
// has. After a failure the next look has a new connection, and until it has
// succeeded a key that is not known may still be a valid one.
func (s *Store) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, database.Timeout)
	defer cancel()
	s.db.Follow()
	began := time.Since(s.born)
	db, err := s.db.Open(ctx)
	if err == nil {
		err = s.reload(s.db.Statements(ctx, db))
	}
	switch {
	case err == nil:
		s.checked.Store(int64(began))
		s.reading.End(s.logger, "store is available again")
	case ctx.Err() != context.Canceled:
		s.checked.Store(0)
		s.db.Disconnect(db)
		s.reading.Begin(s.logger, "store is not available; keys that are known go on to work", s.db.Explain("following keys", err))
	}
}

// reload replaces what is known if the state of the database is another.
func (s *Store) reload(in database.Statements) error {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	before := s.known.Load()
	now, err := readState(in)
	if err != nil || before.loaded && before.state == now {
		return err
	}
	fresh, err := readKnown(in, before)
	if err == nil {
		s.known.Store(fresh)
	}
	return err
}

// distrust has all keys read anew, whatever the state: what is behind a new
// connection may be a copy of the database that was edited by hand.
func (s *Store) distrust() {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	stale := *s.known.Load()
	stale.loaded = false
	s.known.Store(&stale)
}

// publish makes what a transaction has changed known, unless later changes are
// known already.
func (s *Store) publish(fresh *known) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	if before := s.known.Load(); !before.loaded || before.revision < fresh.revision {
		s.known.Store(fresh)
	}
}
