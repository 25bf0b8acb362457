package storetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// A database without tables was once taken for a new one, so that every key and every
// session became invalid.
func emptiedElsewhere(t *testing.T, database Database) {
	s, logs := Observed(t, database())
	key := NewKey(t, s, NewUser(t, s, "alice", aigateway.RoleRoot).ID, "laptop")
	Current(t, s)
	db, err := database().Connect(t.Context())
	require.NoError(t, err)
	defer db.Close()
	for _, table := range []string{"gateway_audit", "gateway_audit_loads", "gateway_identities", "gateway_members", "gateway_teams", "gateway_devices", "gateway_keys", "gateway_sessions", "gateway_users", "gateway_state"} {
		_, err := db.ExecContext(t.Context(), `DROP TABLE `+table)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		return logs.FilterMessageSnippet("not available; known keys stay valid").Len() > 0 && !s.Complete()
	}, patience, tick)
	assert.ErrorIs(t, s.CreateUser(t.Context(), &aigateway.User{Name: "mallory"}), aigateway.ErrUnavailable)
	_, _, err = s.Users(t.Context(), all)
	assert.ErrorContains(t, err, "the database has become empty: restore a backup")
	assert.NotNil(t, s.Lookup(key.Digest))
	assert.False(t, s.Complete(), "an unknown key may be a valid one")
}
