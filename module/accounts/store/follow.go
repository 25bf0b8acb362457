package store

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// followChanges keeps the snapshot up to date until the context ends.
func (s *Store) followChanges(ctx context.Context, wake <-chan struct{}) {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	written, pruned := time.Now(), time.Time{}
	s.refresh(ctx)
	close(s.opened)
	for {
		if time.Since(written) >= usesInterval {
			written = time.Now()
			writeUses(ctx, s)
		}
		if s.options.Load() != nil && time.Since(pruned) >= pruneInterval {
			pruned = time.Now()
			s.prune(ctx)
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

// refresh reads the keys if the database has changed. If it fails, it closes the
// connection, and the keys count as incomplete until a later refresh succeeds.
func (s *Store) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, database.Timeout)
	defer cancel()
	s.db.Follow()
	began := time.Since(s.created)
	db, err := s.db.Open(ctx)
	if err == nil {
		err = s.reload(s.db.Statements(ctx, db))
	}
	switch {
	case err == nil:
		s.verified.Store(int64(began))
		s.outage.End(s.logger, "store is available again")
	case ctx.Err() != context.Canceled:
		s.verified.Store(0)
		s.db.Disconnect(db)
		s.outage.Begin(s.logger, "store is not available; known keys stay valid", s.db.Explain("following keys", err))
	}
}
