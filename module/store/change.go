package store

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// change runs statements that change a user or keys of one, in one transaction,
// and makes the keys known that this user has then.
func (s *Store) change(ctx context.Context, doing string, change func(database.Statements) (user int64, err error)) error {
	var fresh *known
	err := s.db.Write(ctx, doing, func(tx database.Statements) error {
		user, err := change(tx)
		if err != nil {
			return err
		}
		from, err := advance(tx)
		if err != nil {
			return err
		}
		// Read before they are committed: afterwards the database could be
		// out of reach, and a revoked key would stay known.
		if fresh, err = readChanged(tx, user, from, s.known.Load()); err != nil {
			return err
		}
		return s.db.Notify(tx)
	})
	if err == nil {
		s.publish(fresh)
	}
	return err
}
