package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func keep(*aigateway.User) error { return nil }

func nobody() (*aigateway.User, error) { return nil, errRefused }

// of returns an identity at an issuer.
func of(subject string, groups ...string) aigateway.Identity {
	return aigateway.Identity{Issuer: "https://login.example.com", Subject: subject, Groups: groups}
}

func identitiesAreLinked(t *testing.T, database Database) {
	s := database.Open(t)
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleUser)
	_, err := s.SignIn(t.Context(), of("7"), nobody, keep)
	assert.Equal(t, errRefused, err, "the error is returned unchanged")
	link := of("7")
	link.UserID = alice.ID
	require.NoError(t, s.LinkIdentity(t.Context(), link, 1))
	user, err := s.SignIn(t.Context(), of("7", "dev", "ops"), nobody, func(u *aigateway.User) error { u.Role = aigateway.RoleAdmin; return nil })
	require.NoError(t, err)
	assert.Equal(t, []any{alice.ID, aigateway.RoleAdmin}, []any{user.ID, user.Role})
	all, err := s.IdentitiesOf(t.Context(), alice.ID)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, []string{"dev", "ops"}, all[0].Groups)
	assert.WithinRange(t, all[0].Used, all[0].Created, time.Now())

	_, err = s.SignIn(t.Context(), of("7", "none"), nobody, func(u *aigateway.User) error { u.Role = aigateway.RoleRoot; return errRefused })
	assert.Equal(t, errRefused, err)
	again, err := s.IdentitiesOf(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Equal(t, all, again, "a refused sign-in changes nothing")
	stored, err := s.User(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Equal(t, aigateway.RoleAdmin, stored.Role)

	link.UserID = bob.ID
	assert.ErrorIs(t, s.LinkIdentity(t.Context(), link, 9), aigateway.ErrTaken)
	link.Subject, link.UserID = "8", alice.ID
	assert.ErrorIs(t, s.LinkIdentity(t.Context(), link, 1), aigateway.ErrTooMany)
	link.UserID = 99
	assert.ErrorIs(t, s.LinkIdentity(t.Context(), link, 9), aigateway.ErrNotFound)
	_, err = s.SignIn(t.Context(), aigateway.Identity{Issuer: "https://other.example", Subject: "7"}, nobody, keep)
	assert.Equal(t, errRefused, err, "the subject of another issuer is another person")

	NewSession(t, s, alice.ID, "alice's", time.Hour)
	bobs := NewSession(t, s, bob.ID, "bob's", time.Hour)
	require.NoError(t, s.DeleteIdentities(t.Context(), alice.ID))
	all, err = s.IdentitiesOf(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Empty(t, all)
	assert.Empty(t, sessionsOf(t, s, alice.ID))
	assert.Equal(t, []aigateway.Session{*bobs}, sessionsOf(t, s, bob.ID))
}

// Two sign-ins of a new person must not create two accounts, nor fail because the name is taken.
func personsAreCreatedOnce(t *testing.T, database Database) {
	stores := []aigateway.IdentityStore{database.Open(t), database.Open(t)}
	create := func() (*aigateway.User, error) {
		return &aigateway.User{Name: "alice", Role: aigateway.RoleUser}, nil
	}
	var wg sync.WaitGroup
	for n := range 10 {
		wg.Go(func() {
			user, err := stores[n%2].SignIn(t.Context(), of("7", "dev"), create, keep)
			if assert.NoError(t, err) {
				assert.EqualValues(t, 1, user.ID)
			}
		})
	}
	wg.Wait()
	_, err := stores[0].SignIn(t.Context(), of("8"), create, keep)
	assert.ErrorIs(t, err, aigateway.ErrTaken)
	_, err = stores[0].SignIn(t.Context(), of("8"), nobody, keep)
	assert.Equal(t, errRefused, err, "the identity was not stored either")
	s := stores[0].(aigateway.Store)
	require.NoError(t, s.DeleteUser(t.Context(), 1, keep))
	all, err := stores[0].IdentitiesOf(t.Context(), 1)
	require.NoError(t, err)
	assert.Empty(t, all, "a deleted user has no identity")
}
