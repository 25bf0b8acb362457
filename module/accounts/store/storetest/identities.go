package storetest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func keep(*aigateway.User) error { return nil }

func nobody() (*aigateway.User, error) { return nil, errRefused }

// identity returns an identity at an issuer.
func identity(subject string, groups ...string) aigateway.Identity {
	return aigateway.Identity{Issuer: "https://login.example.com", Subject: subject, Groups: groups}
}

func identitiesAreLinked(t *testing.T, database Database) {
	s := database.Open(t)
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleUser)
	_, err := s.SignIn(t.Context(), identity("7"), nobody, keep)
	assert.Equal(t, errRefused, err, "the error is returned unchanged")
	link := identity("7")
	link.UserID = alice.ID
	require.NoError(t, s.LinkIdentity(t.Context(), link, 1))
	user, err := s.SignIn(t.Context(), identity("7", "dev", "ops"), nobody, func(u *aigateway.User) error { u.Role = aigateway.RoleAdmin; return nil })
	require.NoError(t, err)
	assert.Equal(t, []any{alice.ID, aigateway.RoleAdmin}, []any{user.ID, user.Role})
	all, err := s.IdentitiesOf(t.Context(), alice.ID)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, []string{"dev", "ops"}, all[0].Groups)
	assert.WithinRange(t, all[0].Used, all[0].Created, time.Now())

	_, err = s.SignIn(t.Context(), identity("7", "none"), nobody, func(u *aigateway.User) error { u.Role = aigateway.RoleRoot; return errRefused })
	assert.Equal(t, errRefused, err)
	identities, err := s.IdentitiesOf(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Equal(t, all, identities, "a refused sign-in changes nothing")
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

func membershipsFollowGroups(t *testing.T, database Database) {
	s := database.Open(t)
	for _, team := range []string{"ops", "research", "support"} {
		NewTeam(t, s, team)
	}
	create := func() (*aigateway.User, error) {
		return &aigateway.User{Name: "alice", Role: aigateway.RoleUser}, nil
	}
	enter := func(limit int, groups ...string) string {
		identity := identity("7", groups...)
		identity.MaxTeams = limit
		user, err := s.SignIn(t.Context(), identity, create, keep)
		require.NoError(t, err)
		return teamsOf(t, s, user.ID)
	}
	const alice = 1
	assert.Empty(t, enter(0, "research", "ops"), "only if memberships follow groups")
	assert.Equal(t, "ops research", enter(9, "research", "Support", "ops", "ops", "none"), "the case counts, and no team is created")
	assert.Equal(t, "ops research", enter(0), "nor do they end otherwise")
	assert.Equal(t, "ops research", enter(2, "ops", "research", "support"), "no more than the bound")

	require.NoError(t, s.Teams().SetMember(t.Context(), "support", alice, false, plenty))
	require.NoError(t, s.Teams().SetMember(t.Context(), "ops", alice, true, plenty))
	own, key := NewKey(t, s, alice, "own"), teamKey(&aigateway.User{ID: alice}, "laptop")
	require.NoError(t, s.CreateKey(t.Context(), key, plenty))
	assert.Equal(t, "ops (admin) support", enter(9), "what somebody has set stays")
	assert.Nil(t, s.Lookup(key.Digest), "the key of the team ends, at once")
	assert.NotNil(t, s.Lookup(own.Digest))
	rows, err := s.AuditEntries(t.Context(), aigateway.AuditQuery{Object: "user/alice", Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "user.update", rows[0].Action)
	assert.Equal(t, []aigateway.AuditChange{{Field: "team research", Before: "member"}, {Field: "keys", Before: "2"}}, rows[0].Changes)

	other := aigateway.Identity{Issuer: "https://other.example", Subject: "x", UserID: alice, MaxTeams: 9}
	require.NoError(t, s.LinkIdentity(t.Context(), other, 9))
	assert.Equal(t, "ops (admin) research support", enter(9, "research"))
	_, err = s.SignIn(t.Context(), other, nobody, keep)
	require.NoError(t, err)
	assert.Equal(t, "ops (admin) research support", teamsOf(t, s, alice), "an issuer takes what it has given")
	second := teamKey(&aigateway.User{ID: alice}, "again")
	require.NoError(t, s.CreateKey(t.Context(), second, plenty))
	require.NoError(t, s.DeleteIdentities(t.Context(), alice))
	assert.Equal(t, "ops (admin) support", teamsOf(t, s, alice))
	assert.Nil(t, s.Lookup(second.Digest))
}

// teamsOf returns the teams of a user.
func teamsOf(t *testing.T, s aigateway.Store, user int64) string {
	t.Helper()
	teams, err := s.Teams().Of(t.Context(), user)
	require.NoError(t, err)
	var names []string
	for _, team := range teams {
		if team.Admin {
			team.Name += " (admin)"
		}
		names = append(names, team.Name)
	}
	return strings.Join(names, " ")
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
			user, err := stores[n%2].SignIn(t.Context(), identity("7", "dev"), create, keep)
			if assert.NoError(t, err) {
				assert.EqualValues(t, 1, user.ID)
			}
		})
	}
	wg.Wait()
	_, err := stores[0].SignIn(t.Context(), identity("8"), create, keep)
	assert.ErrorIs(t, err, aigateway.ErrTaken)
	_, err = stores[0].SignIn(t.Context(), identity("8"), nobody, keep)
	assert.Equal(t, errRefused, err, "the identity was not stored either")
	s := stores[0].(aigateway.Store)
	require.NoError(t, s.DeleteUser(t.Context(), 1, keep))
	all, err := stores[0].IdentitiesOf(t.Context(), 1)
	require.NoError(t, err)
	assert.Empty(t, all, "a deleted user has no identity")
}
