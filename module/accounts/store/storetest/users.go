package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

var errRefused = errors.New("the caller does not want it")

func usersAreKept(t *testing.T, database Database) {
	s := database.Open(t)
	start := time.Now().Add(-time.Second)
	alice := NewUser(t, s, "alice", aigateway.RoleAdmin)
	assert.Positive(t, alice.ID)
	assert.WithinRange(t, alice.Created, start, time.Now().Add(time.Second))

	byID, err := s.User(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Equal(t, alice, byID)
	byName, err := s.UserByName(t.Context(), "alice")
	require.NoError(t, err)
	assert.Equal(t, alice, byName)
	assert.Zero(t, byID.LastLogin)

	_, err = s.User(t.Context(), alice.ID+1)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
	_, err = s.UserByName(t.Context(), "bob")
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
}

func namesAreUnique(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	twin := &aigateway.User{Name: "alice", Role: aigateway.RoleRoot}
	err := s.CreateUser(t.Context(), twin)
	assert.ErrorIs(t, err, aigateway.ErrTaken)
	assert.NotErrorIs(t, err, aigateway.ErrUnavailable)
	assert.Zero(t, twin.ID)

	// The name of a deleted user can be used again, but not the ID.
	require.NoError(t, s.DeleteUser(t.Context(), alice.ID, func(*aigateway.User) error { return nil }))
	assert.Greater(t, NewUser(t, s, "alice", aigateway.RoleUser).ID, alice.ID)
}

func usersAreFound(t *testing.T, database Database) {
	s := database.Open(t)
	for _, name := range []string{"alice", "al_ce", "al%ce", `al\ce`, "bob", "zoé"} {
		NewUser(t, s, name, aigateway.RoleUser)
	}
	for search, want := range map[string][]string{
		"":     {"alice", "al_ce", "al%ce", `al\ce`, "bob", "zoé"},
		"LIC":  {"alice"},
		"_":    {"al_ce"},
		"%":    {"al%ce"},
		`\`:    {`al\ce`},
		"OÉ":   {"zoé"},
		"e BO": {"bob"}, // in the display name, which was not searched (dstack#2426)
		"x":    nil,
		"'":    nil,
	} {
		users, total, err := s.Users(t.Context(), aigateway.Page{Search: search, Limit: 10})
		require.NoError(t, err, search)
		assert.Equal(t, want, names(users), search)
		assert.Equal(t, len(want), total, search)
	}
	users, total, err := s.Users(t.Context(), aigateway.Page{Search: "al", Offset: 1, Limit: 2})
	require.NoError(t, err)
	assert.Equal(t, []string{"al_ce", "al%ce"}, names(users))
	assert.Equal(t, 4, total)
	users, total, err = s.Users(t.Context(), aigateway.Page{Offset: 10, Limit: 2})
	require.NoError(t, err)
	assert.Empty(t, users)
	assert.Equal(t, 6, total)
}

// A page was sorted by who had read it, so that the first of the list was the first of its page.
func listsAreOrdered(t *testing.T, database Database) {
	s := database.Open(t)
	ben, ada := NewUser(t, s, "ben", aigateway.RoleUser), NewUser(t, s, "ada", aigateway.RoleAdmin)
	NewUser(t, s, "cy", aigateway.RoleUser)
	for order, want := range map[string]string{"": "ben", "name": "ada", "role": "ben", "display_name": "ada", "disabled": "ben", "last_login": "ben", "created": "ben"} {
		users, _, err := s.Users(t.Context(), aigateway.Page{Sort: order, Limit: 1})
		require.NoError(t, err, order)
		assert.Equal(t, []string{want}, names(users), order)
	}
	users, _, err := s.Users(t.Context(), aigateway.Page{Sort: "name", Down: true, Offset: 1, Limit: 2})
	require.NoError(t, err)
	assert.Equal(t, []string{"ben", "ada"}, names(users))

	for _, key := range []struct {
		user int64
		name string
	}{{ada.ID, "b"}, {ben.ID, "A"}, {ada.ID, "c"}} {
		NewKey(t, s, key.user, key.name)
	}
	for order, want := range map[string]string{"": "c", "name": "A", "user": "c", "used": "c", "expires": "c"} {
		keys, _, err := s.Keys(t.Context(), aigateway.AnyUser, aigateway.Page{Sort: order, Limit: 1})
		require.NoError(t, err, order)
		assert.Equal(t, want, keys[0].Name, order)
	}
	keys, _, err := s.Keys(t.Context(), aigateway.AnyUser, aigateway.Page{Sort: "user", Down: true, Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "A", keys[0].Name)
}

func names(users []aigateway.User) (names []string) {
	for _, user := range users {
		names = append(names, user.Name)
	}
	return names
}

func userChanges(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	changed, err := s.ChangeUser(t.Context(), alice.ID, 0, func(user *aigateway.User) error {
		assert.Equal(t, alice, user)
		user.ID, user.Name, user.Created = 77, "mallory", time.Time{} // these fields stay unchanged
		user.DisplayName, user.Role, user.Password, user.Disabled = "Alice A.", aigateway.RoleAdmin, "other hash", true
		return nil
	})
	require.NoError(t, err)
	want := *alice
	want.DisplayName, want.Role, want.Password, want.Disabled = "Alice A.", aigateway.RoleAdmin, "other hash", true
	assert.Equal(t, &want, changed)

	_, err = s.ChangeUser(t.Context(), alice.ID, 0, func(user *aigateway.User) error {
		user.DisplayName = "never kept"
		return errRefused
	})
	assert.Equal(t, errRefused, err, "the error is returned unchanged")
	kept, err := s.User(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Equal(t, &want, kept)

	_, err = s.ChangeUser(t.Context(), alice.ID+1, 0, func(*aigateway.User) error { panic("there is no such user") })
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
}

func demote(user *aigateway.User) error  { user.Role = aigateway.RoleAdmin; return nil }
func disable(user *aigateway.User) error { user.Disabled = true; return nil }
func agree(*aigateway.User) error        { return nil }

func lastRootStays(t *testing.T, database Database) {
	s := database.Open(t)
	root := NewUser(t, s, "root", aigateway.RoleRoot)
	second := NewUser(t, s, "second", aigateway.RoleRoot)
	_, err := s.ChangeUser(t.Context(), second.ID, 0, disable)
	require.NoError(t, err)

	_, err = s.ChangeUser(t.Context(), root.ID, 0, demote)
	assert.ErrorIs(t, err, aigateway.ErrLastRoot)
	_, err = s.ChangeUser(t.Context(), root.ID, 0, disable)
	assert.ErrorIs(t, err, aigateway.ErrLastRoot)
	assert.ErrorIs(t, s.DeleteUser(t.Context(), root.ID, agree), aigateway.ErrLastRoot)
	assert.Equal(t, errRefused, s.DeleteUser(t.Context(), root.ID, func(*aigateway.User) error { return errRefused }))
	assert.ErrorIs(t, s.DeleteUser(t.Context(), 99, agree), aigateway.ErrNotFound)
	kept, err := s.User(t.Context(), root.ID)
	require.NoError(t, err)
	assert.Equal(t, root, kept)

	// A disabled root user can be deleted, and so can the first one if there is another.
	require.NoError(t, s.DeleteUser(t.Context(), second.ID, agree))
	NewUser(t, s, "third", aigateway.RoleRoot)
	_, err = s.ChangeUser(t.Context(), root.ID, 0, demote)
	assert.NoError(t, err)
}

// Each transaction sees the other user as enabled until one of them commits.
func rootsRace(t *testing.T, database Database) {
	stores := []aigateway.Store{database.Open(t), database.Open(t)}
	for round := range 5 {
		var wg sync.WaitGroup
		failures := make([]error, len(stores))
		for i, s := range stores {
			user := NewUser(t, stores[0], fmt.Sprintf("root-%d-%d", round, i), aigateway.RoleRoot)
			defer func() { _ = s.DeleteUser(background(), user.ID, agree) }()
		}
		roots, _, err := stores[0].Users(t.Context(), all)
		require.NoError(t, err)
		var enabled []int64
		for _, user := range roots {
			if !user.Disabled && user.Role == aigateway.RoleRoot {
				enabled = append(enabled, user.ID)
			}
		}
		for len(enabled) > len(stores) {
			_, err := stores[0].ChangeUser(t.Context(), enabled[0], 0, disable)
			require.NoError(t, err)
			enabled = enabled[1:]
		}
		for i, s := range stores {
			wg.Go(func() { _, failures[i] = s.ChangeUser(t.Context(), enabled[i], 0, disable) })
		}
		wg.Wait()
		assert.True(t, (failures[0] == nil) != (failures[1] == nil), "%v", failures)
		assert.ErrorIs(t, errors.Join(failures...), aigateway.ErrLastRoot)
	}
}

func deletedUserLeavesNothing(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	bob := NewUser(t, s, "bob", aigateway.RoleUser)
	key, bobs := NewKey(t, s, alice.ID, "laptop"), NewKey(t, s, bob.ID, "bob's")
	session := NewSession(t, s, alice.ID, "token", time.Hour)

	require.NoError(t, s.DeleteUser(t.Context(), alice.ID, func(user *aigateway.User) error {
		assert.Equal(t, "alice", user.Name)
		return nil
	}))
	_, err := s.User(t.Context(), alice.ID)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
	_, _, err = s.Session(t.Context(), session.Digest)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
	_, err = s.Key(t.Context(), aigateway.AnyUser, key.ID)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
	assert.Nil(t, s.Lookup(key.Digest))
	assert.NotNil(t, s.Lookup(bobs.Digest))
}

// The error of PostgreSQL was once reported as an outage, and answered with 503.
func callerThatLeaves(t *testing.T, database Database) {
	s := database.Open(t)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, err := s.UserByName(ctx, "alice")
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	assert.ErrorIs(t, s.CreateUser(ctx, &aigateway.User{Name: "alice"}), context.Canceled)
}
