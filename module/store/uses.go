package store

import (
	"context"
	"time"
)

// noteUses writes when keys were last used: now, to the minute. That is no
// change of a key: the revision stays, or every gateway would read all keys
// anew every minute. What cannot be written is noted again.
func (s *Store) noteUses(ctx context.Context) {
	used := s.known.Load().takeUses()
	if len(used) == 0 {
		return
	}
	at := millis(time.Now())
	err := s.write(ctx, "noting uses of keys", func(tx statements) error {
		for _, key := range used {
			if _, err := tx.exec(`UPDATE gateway_keys SET used = $1 WHERE id = $2 AND used < $1`, at, key.id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for _, key := range used {
			key.used.Store(true)
		}
	}
}
