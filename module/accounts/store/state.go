package store

import (
	"crypto/rand"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// state identifies a version of the users and keys of a database. The revision alone is
// not enough: a database that was restored from a copy, and then changed, reaches the
// same revision again.
type state struct {
	revision int64
	stamp    string // random, new for each revision
}

func readState(db database.Statements) (now state, err error) {
	err = db.Row(`SELECT revision, stamp FROM gateway_state`).Scan(&now.revision, &now.stamp)
	return now, err
}

// advance changes the state in a transaction that changes users or keys, and returns
// the previous state.
func advance(tx database.Statements) (old state, err error) {
	if old, err = readState(tx); err != nil {
		return old, err
	}
	return old, tx.Change(`UPDATE gateway_state SET revision = revision + 1, stamp = $1`, rand.Text())
}
