package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// usesPerStatement is the largest number of keys of one statement.
const usesPerStatement = 100

// writeUses sets the time of the last use of all keys that were used since the previous call. It writes
// the current time, which is at most a minute late. It does not change the revision, so that other
// gateways need not read all keys every minute. If writing fails, the keys stay marked as used.
func (t *tables) writeUses(ctx context.Context) {
	used := t.cache.newest.Load().takeUsed()
	if len(used) == 0 {
		return
	}
	moment := millis(time.Now())
	err := t.db.Write(ctx, "writing uses of keys", func(tx database.Statements) error {
		for keys := range slices.Chunk(used, usesPerStatement) {
			if err := writeUse(tx, moment, keys); err != nil {
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

func writeUse(tx database.Statements, moment int64, keys []*cachedKey) error {
	parameters, args := make([]string, len(keys)), []any{moment}
	for i, key := range keys {
		args = append(args, key.id)
		parameters[i] = "$" + strconv.Itoa(len(args))
	}
	_, err := tx.Exec(`UPDATE gateway_keys SET used = $1 WHERE used < $1 AND id IN (`+strings.Join(parameters, ", ")+`)`, args...)
	return err
}
