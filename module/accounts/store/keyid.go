package store

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// Ledgers and counters know a key by its id, and are not part of every backup of a store. In
// a store that was restored, the next free id may be that of a lost key, whose usage and
// spending a new key would get. So the ids of keys grow with time as well: a second takes
// the place of a key that may be lost.

// smallIDs is the time after the creation of a store in which ids are numbers without gaps.
const smallIDs = time.Hour

// nextKeyID returns the id of a new key in a transaction: more than any before, and at least
// the seconds since the store was an hour old.
func nextKeyID(tx database.Statements) (int64, error) {
	var created, last int64
	if err := tx.Row(`SELECT created, last_key FROM gateway_state`).Scan(&created, &last); err != nil {
		return 0, err
	}
	age := time.Since(time.UnixMilli(created))
	id := max(last+1, int64((age-smallIDs)/time.Second))
	return id, tx.Change(`UPDATE gateway_state SET last_key = $1`, id)
}
