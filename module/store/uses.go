package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// usesAtOnce is how many keys one statement notes the use of.
const usesAtOnce = 100

// noteUses writes when keys were last used: now, to the minute. That is no
// change of a key: the revision stays, or every gateway would read all keys
// anew every minute. What cannot be written is noted again.
func (s *Store) noteUses(ctx context.Context) {
	used := s.known.Load().takeUses()
	if len(used) == 0 {
		return
	}
	at := millis(time.Now())
	err := s.db.Write(ctx, "noting uses of keys", func(tx database.Statements) error {
		for keys := range slices.Chunk(used, usesAtOnce) {
			if err := noteUse(tx, at, keys); err != nil {
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

func noteUse(tx database.Statements, at int64, keys []*followed) error {
	parameters, args := make([]string, len(keys)), []any{at}
	for i, key := range keys {
		args = append(args, key.id)
		parameters[i] = "$" + strconv.Itoa(len(args))
	}
	_, err := tx.Exec(`UPDATE gateway_keys SET used = $1 WHERE used < $1 AND id IN (`+strings.Join(parameters, ", ")+`)`, args...)
	return err
}
