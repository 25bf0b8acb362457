package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func sessionsAreKept(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	bob := NewUser(t, s, "bob", aigateway.RoleUser)
	first := NewSession(t, s, alice.ID, "first", time.Hour)
	second := NewSession(t, s, alice.ID, "second", time.Hour)
	third := NewSession(t, s, alice.ID, "third", time.Hour)
	bobs := NewSession(t, s, bob.ID, "bob's", time.Hour)

	session, user, err := s.Session(t.Context(), second.Digest)
	require.NoError(t, err)
	assert.Equal(t, second, session)
	assert.Equal(t, "alice", user.Name)
	assert.Equal(t, third.Created, user.LastLogin, "a login sets the time of the last login")
	assert.Equal(t, []aigateway.Session{*third, *second, *first}, sessionsOf(t, s, alice.ID))

	assert.ErrorIs(t, s.DeleteSession(t.Context(), alice.ID, bobs.ID), aigateway.ErrNotFound)
	require.NoError(t, s.DeleteSession(t.Context(), alice.ID, second.ID))
	assert.ErrorIs(t, s.DeleteSession(t.Context(), alice.ID, second.ID), aigateway.ErrNotFound)
	_, _, err = s.Session(t.Context(), second.Digest)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)

	require.NoError(t, s.DeleteSessionsOf(t.Context(), alice.ID, third.ID))
	assert.Equal(t, []aigateway.Session{*third}, sessionsOf(t, s, alice.ID))
	require.NoError(t, s.DeleteSessionsOf(t.Context(), alice.ID, 0))
	assert.Empty(t, sessionsOf(t, s, alice.ID))
	assert.Equal(t, []aigateway.Session{*bobs}, sessionsOf(t, s, bob.ID))

	err = s.CreateSession(t.Context(), &aigateway.Session{UserID: 99}, plenty, agree)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
}

func sessionsOf(t *testing.T, s aigateway.Store, user int64) []aigateway.Session {
	t.Helper()
	sessions, err := s.SessionsOf(t.Context(), user)
	require.NoError(t, err)
	return sessions
}

func expiredSessionsAreForgotten(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	old := NewSession(t, s, alice.ID, "old", -time.Minute)
	assert.Empty(t, sessionsOf(t, s, alice.ID))
	session, _, err := s.Session(t.Context(), old.Digest)
	require.NoError(t, err, "expired sessions are deleted at the next login")
	assert.Equal(t, old, session)

	NewSession(t, s, alice.ID, "new", time.Minute)
	_, _, err = s.Session(t.Context(), old.Digest)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
}

func rehash(user *aigateway.User) error { user.Password = "another hash"; return nil }

// Sessions once ended in another transaction, after the change of the user. If that
// transaction failed, a stolen session stayed valid although the password had changed.
func changesEndSessions(t *testing.T, database Database) {
	s := database.Open(t)
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleUser)
	NewSession(t, s, alice.ID, "first", time.Hour)
	second := NewSession(t, s, alice.ID, "second", time.Hour)
	bobs := NewSession(t, s, bob.ID, "bob's", time.Hour)

	_, err := s.ChangeUser(t.Context(), alice.ID, 0, func(user *aigateway.User) error {
		user.DisplayName, user.Role = "Alice A.", aigateway.RoleAdmin
		return nil
	})
	require.NoError(t, err)
	assert.Len(t, sessionsOf(t, s, alice.ID), 2, "a new display name or role ends no session")
	_, err = s.ChangeUser(t.Context(), alice.ID, second.ID, rehash)
	require.NoError(t, err)
	assert.Equal(t, []aigateway.Session{*second}, sessionsOf(t, s, alice.ID))
	_, err = s.ChangeUser(t.Context(), alice.ID, 0, disable)
	require.NoError(t, err)
	assert.Empty(t, sessionsOf(t, s, alice.ID))
	assert.Equal(t, []aigateway.Session{*bobs}, sessionsOf(t, s, bob.ID))
}

func changesWithoutEndingSessionsFail(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	session := NewSession(t, s, alice.ID, "token", time.Hour)
	db, err := database().Connect(t.Context())
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `ALTER TABLE gateway_sessions RENAME TO elsewhere`)
	require.NoError(t, err)
	for _, change := range []func(*aigateway.User) error{rehash, disable} {
		_, err = s.ChangeUser(t.Context(), alice.ID, 0, change)
		assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	}
	_, err = db.ExecContext(t.Context(), `ALTER TABLE elsewhere RENAME TO gateway_sessions`)
	require.NoError(t, err)

	kept, user, err := s.Session(t.Context(), session.Digest)
	require.NoError(t, err)
	assert.Equal(t, session, kept)
	assert.Equal(t, alice.Password, user.Password, "the user did not change either")
	assert.False(t, user.Disabled)
}

// A login with the old password once got a session if the password changed meanwhile.
func sessionsAreChecked(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	_, err := s.ChangeUser(t.Context(), alice.ID, 0, rehash)
	require.NoError(t, err)
	err = s.CreateSession(t.Context(), &aigateway.Session{UserID: alice.ID}, plenty, func(user *aigateway.User) error {
		assert.Equal(t, "another hash", user.Password)
		return errRefused
	})
	assert.Equal(t, errRefused, err, "the error is returned unchanged")
	assert.Empty(t, sessionsOf(t, s, alice.ID))
	user, err := s.User(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Zero(t, user.LastLogin)
}
