package store

import (
	"crypto/rand"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// state tells what a database holds of users and keys from what it held before
// and after. The number alone does not: one that was restored from a copy, and
// changed, counts up to the same number again.
type state struct {
	revision int64
	stamp    string // a random one for each revision
}

func readState(in database.Statements) (now state, err error) {
	err = in.Row(`SELECT revision, stamp FROM gateway_state`).Scan(&now.revision, &now.stamp)
	return now, err
}

// advance notes in a transaction that it changes users or keys, and returns the
// state from before.
func advance(tx database.Statements) (before state, err error) {
	if before, err = readState(tx); err != nil {
		return before, err
	}
	return before, tx.Change(`UPDATE gateway_state SET revision = revision + 1, stamp = $1`, rand.Text())
}
