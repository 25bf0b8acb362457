package store

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/database"
)

// change runs a transaction that changes a user or the user's keys, and then replaces
// the user's keys in the snapshot.
func (s *Store) change(ctx context.Context, action string, change func(database.Statements) (user int64, err error)) error {
	var next *snapshot
	err := s.db.Write(ctx, action, func(tx database.Statements) error {
		user, err := change(tx)
		if err != nil {
			return err
		}
		from, err := advance(tx)
		if err != nil {
			return err
		}
		// The keys are read before the commit. After it, the database might not
		// be reachable, and a revoked key would stay in the snapshot.
		if next, err = readSnapshotAfter(tx, user, from, s.snapshot.Load()); err != nil {
			return err
		}
		return s.db.Notify(tx)
	})
	if err == nil {
		s.publish(next)
	}
	return err
}
