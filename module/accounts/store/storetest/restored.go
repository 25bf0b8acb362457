package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// A database that was restored from a backup has an older revision. When it reached the
// revision of the snapshot, it once counted as unchanged, and deleted keys stayed valid
// until the next change.
func restoredElsewhere(t *testing.T, database Database) {
	here, there, later := store.New(database(), nop), database.Open(t), store.New(database(), nop)
	alice := NewUser(t, here, "alice", aigateway.RoleUser)
	laptop, tower := NewKey(t, here, alice.ID, "laptop"), NewKey(t, here, alice.ID, "tower")
	require.Eventually(t, func() bool { return there.Lookup(tower.Digest) != nil }, patience, tick)
	db, err := database().Connect(t.Context())
	require.NoError(t, err)
	defer db.Close()
	var revision int64
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT revision FROM gateway_state`).Scan(&revision))
	for _, statement := range []string{
		fmt.Sprintf(`DELETE FROM gateway_keys WHERE id = %d`, tower.ID),
		fmt.Sprintf(`UPDATE gateway_state SET revision = %d, stamp = 'of the copy'`, revision-1),
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	NewUser(t, later, "bob", aigateway.RoleUser)
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT revision - $1 FROM gateway_state`, revision).Scan(&revision))
	require.Zero(t, revision, "the revision is the same again")
	require.Eventually(t, func() bool { return there.Lookup(tower.Digest) == nil }, patience, tick)
	assert.NotNil(t, there.Lookup(laptop.Digest))
	require.NoError(t, here.Close())
	require.NoError(t, later.Close())
}

// A restored backup counted the ids of new keys on from those that it knew. A new key got the
// id of a lost key of another user, and so its usage in the ledger, and its spent budget.
func idsAfterARestore(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	assert.Equal(t, int64(1), NewKey(t, s, alice.ID, "kept").ID)
	db, err := database().Connect(t.Context())
	require.NoError(t, err)
	defer db.Close()
	change := func(statement string) {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	change(`UPDATE gateway_state SET created = created - 86400000`) // the store is a day old
	lost := NewKey(t, s, alice.ID, "lost")
	change(fmt.Sprintf(`DELETE FROM gateway_keys WHERE id = %d`, lost.ID)) // as if a backup of before were restored, a second later
	change(`UPDATE gateway_state SET created = created - 1000, last_key = 1`)
	next := NewKey(t, s, alice.ID, "next")
	assert.Greater(t, next.ID, lost.ID)
	assert.Greater(t, NewKey(t, s, alice.ID, "last").ID, next.ID)
}
