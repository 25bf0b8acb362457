package storetest

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func keysAreKept(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	key := NewKey(t, s, alice.ID, "laptop")
	assert.Positive(t, key.ID)
	kept, err := s.Key(t.Context(), alice.ID, key.ID)
	require.NoError(t, err)
	assert.Equal(t, key, kept)

	bare := &aigateway.StoredKey{UserID: alice.ID, Name: "bare", Hint: "****"}
	require.NoError(t, s.CreateKey(t.Context(), bare, plenty))
	kept, err = s.Key(t.Context(), alice.ID, bare.ID)
	require.NoError(t, err)
	assert.Equal(t, bare, kept)
	assert.True(t, kept.Expires.IsZero())
	assert.Nil(t, kept.Bounds.Models, "nil means all models")

	assert.ErrorIs(t, s.CreateKey(t.Context(), &aigateway.StoredKey{UserID: 99}, plenty), aigateway.ErrNotFound)
	changed := *key
	assert.ErrorIs(t, s.CreateKey(t.Context(), &changed, plenty), aigateway.ErrTaken, "a digest is unique")
}

func keysOfOthers(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	bob := NewUser(t, s, "bob", aigateway.RoleUser)
	key := NewKey(t, s, alice.ID, "laptop")

	_, err := s.Key(t.Context(), bob.ID, key.ID)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
	_, err = s.ChangeKey(t.Context(), bob.ID, key.ID, func(*aigateway.StoredKey) error { panic("the key belongs to another user") })
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
	assert.ErrorIs(t, s.DeleteKey(t.Context(), bob.ID, key.ID), aigateway.ErrNotFound)
	keys, total, err := s.Keys(t.Context(), bob.ID, all)
	require.NoError(t, err)
	assert.Empty(t, keys)
	assert.Zero(t, total)

	kept, err := s.Key(t.Context(), aigateway.AnyUser, key.ID)
	require.NoError(t, err)
	assert.Equal(t, key, kept)
	require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, key.ID))
}

func keysAreFound(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	bob := NewUser(t, s, "bob", aigateway.RoleUser)
	for _, name := range []string{"Laptop", "Lap_top", "ÄRGER 100%"} {
		NewKey(t, s, alice.ID, name)
	}
	NewKey(t, s, bob.ID, "laptop of bob")
	for _, c := range []struct {
		user   int64
		page   aigateway.Page
		want   []string
		amount int
	}{
		{alice.ID, aigateway.Page{Limit: 9}, []string{"ÄRGER 100%", "Lap_top", "Laptop"}, 3},
		{alice.ID, aigateway.Page{Limit: 1, Offset: 1}, []string{"Lap_top"}, 3},
		{alice.ID, aigateway.Page{Limit: 9, Search: "LAPT"}, []string{"Laptop"}, 1},
		{alice.ID, aigateway.Page{Limit: 9, Search: "p_t"}, []string{"Lap_top"}, 1},
		{alice.ID, aigateway.Page{Limit: 9, Search: "ärger 100%"}, []string{"ÄRGER 100%"}, 1},
		{aigateway.AnyUser, aigateway.Page{Limit: 9, Search: "lapt"}, []string{"laptop of bob", "Laptop"}, 2},
	} {
		keys, total, err := s.Keys(t.Context(), c.user, c.page)
		require.NoError(t, err)
		var listed []string
		for _, key := range keys {
			listed = append(listed, key.Name)
		}
		assert.Equal(t, c.want, listed, "%+v", c)
		assert.Equal(t, c.amount, total, "%+v", c)
	}
}

func changesAreSeenAtOnce(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	key := NewKey(t, s, alice.ID, "laptop")
	assert.Equal(t, &aigateway.Key{
		ID: fmt.Sprintf("key_%d", key.ID), Digest: key.Digest, Owner: "alice", Limit: "small",
		Models: []aigateway.Pattern{"claude-*", "gpt-5"}, Networks: key.Bounds.Networks, Expires: key.Expires,
		Own: aigateway.OwnLimit(aigateway.PerKey, key.Bounds.Rules), Labels: aigateway.Labels{Tags: key.Bounds.Tags},
	}, lookup(t, s, key.Digest))
	assert.Nil(t, s.Lookup(aigateway.Digest{1}))

	changed, err := s.ChangeKey(t.Context(), alice.ID, key.ID, func(k *aigateway.StoredKey) error {
		assert.Equal(t, key, k)
		k.ID, k.UserID, k.Created, k.Used = 7, 7, time.Now(), time.Now() // these fields stay unchanged
		k.Name, k.Bounds.Models, k.Bounds.Networks = "Tower", []string{"demo"}, nil
		k.Disabled, k.Bounds.Limit, k.Expires, k.Bounds.Rules, k.Bounds.Tags = true, "", time.Time{}, aigateway.LimitRules{}, nil
		return nil
	})
	require.NoError(t, err)
	want := *key
	want.Name, want.Disabled, want.Expires = "Tower", true, time.Time{}
	want.Bounds = aigateway.KeyBounds{Models: []string{"demo"}}
	assert.Equal(t, &want, changed)
	assert.Equal(t, &aigateway.Key{
		ID: fmt.Sprintf("key_%d", key.ID), Digest: key.Digest, Owner: "alice",
		Models: []aigateway.Pattern{"demo"}, Disabled: true,
	}, lookup(t, s, key.Digest))

	_, err = s.ChangeKey(t.Context(), alice.ID, key.ID, func(*aigateway.StoredKey) error { return errRefused })
	assert.Equal(t, errRefused, err, "the error is returned unchanged")
	require.NoError(t, s.DeleteKey(t.Context(), alice.ID, key.ID))
	assert.Nil(t, s.Lookup(key.Digest))
	assert.ErrorIs(t, s.DeleteKey(t.Context(), alice.ID, key.ID), aigateway.ErrNotFound)
}

// Each change once read all keys, which took most of its time.
func changesOfOneUser(t *testing.T, database Database) {
	s, other := store.New(database(), nop), store.New(database(), nop) // not open: they do not read changes
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleUser)
	first, second, bobs := NewKey(t, s, alice.ID, "first"), NewKey(t, s, alice.ID, "second"), NewKey(t, s, bob.ID, "bob's")
	known := s.Lookup(bobs.Digest)
	require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, first.ID))
	_, err := s.ChangeUser(t.Context(), alice.ID, 0, disable)
	require.NoError(t, err)
	assert.Same(t, known, s.Lookup(bobs.Digest), "the key was not read again")
	assert.Nil(t, s.Lookup(first.Digest))
	assert.True(t, s.Lookup(second.Digest).Disabled)

	// A change of another store in the meantime is found.
	require.NoError(t, other.DeleteKey(t.Context(), bob.ID, bobs.ID))
	require.NoError(t, s.DeleteKey(t.Context(), alice.ID, second.ID))
	assert.Nil(t, s.Lookup(bobs.Digest))
	assert.Nil(t, s.Lookup(second.Digest))
	require.NoError(t, s.Close())
	require.NoError(t, other.Close())
}

func keysOfDisabledUsers(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	key := NewKey(t, s, alice.ID, "laptop")
	for _, disabled := range []bool{true, false} {
		_, err := s.ChangeUser(t.Context(), alice.ID, 0, func(user *aigateway.User) error {
			user.Disabled = disabled
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, disabled, s.Lookup(key.Digest).Disabled)
		stored, err := s.Key(t.Context(), alice.ID, key.ID)
		require.NoError(t, err)
		assert.False(t, stored.Disabled, "the state of the user is not that of the key")
	}
}

func changesElsewhere(t *testing.T, database Database) {
	here, there := database.Open(t), database.Open(t)
	alice := NewUser(t, here, "alice", aigateway.RoleUser)
	key := NewKey(t, here, alice.ID, "laptop")
	Current(t, there)
	require.Eventually(t, func() bool { return there.Lookup(key.Digest) != nil }, patience, tick)

	_, err := here.ChangeUser(t.Context(), alice.ID, 0, disable)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return there.Lookup(key.Digest).Disabled }, patience, tick)

	require.NoError(t, here.DeleteKey(t.Context(), alice.ID, key.ID))
	require.Eventually(t, func() bool { return there.Lookup(key.Digest) == nil }, patience, tick)
	Current(t, there)
}

func usesAreKept(t *testing.T, database Database) {
	s := store.New(database(), nop)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	used, unused, disabled := NewKey(t, s, alice.ID, "used"), NewKey(t, s, alice.ID, "unused"), NewKey(t, s, alice.ID, "disabled")
	_, err := s.ChangeKey(t.Context(), alice.ID, disabled.ID, func(k *aigateway.StoredKey) error {
		k.Disabled = true
		return nil
	})
	require.NoError(t, err)
	start := time.Now().Add(-time.Millisecond)
	require.NotNil(t, s.Lookup(used.Digest))
	require.NotNil(t, s.Lookup(disabled.Digest))
	require.NoError(t, s.DeleteKey(t.Context(), alice.ID, NewKey(t, s, alice.ID, "other").ID), "a change replaces the snapshot")
	other := database.Open(t)
	Current(t, other)
	known := other.Lookup(unused.Digest)
	require.NoError(t, s.Close())

	stored, err := other.Key(t.Context(), alice.ID, used.ID)
	require.NoError(t, err)
	assert.WithinRange(t, stored.Used, start, time.Now())
	for _, key := range []*aigateway.StoredKey{unused, disabled} {
		stored, err = other.Key(t.Context(), alice.ID, key.ID)
		require.NoError(t, err)
		assert.Zero(t, stored.Used)
	}
	_, err = other.UserByName(t.Context(), "alice")
	require.NoError(t, err)
	assert.Same(t, known, other.Lookup(unused.Digest), "the keys were not read again")
}

// Ensures that a list that was damaged by a manual change does not allow all models.
func damagedRestrictions(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	models, networks, whole := NewKey(t, s, alice.ID, "models"), NewKey(t, s, alice.ID, "networks"), NewKey(t, s, alice.ID, "whole")
	db, err := database().Connect(t.Context())
	require.NoError(t, err)
	defer db.Close()
	for _, statement := range []string{
		fmt.Sprintf(`UPDATE gateway_keys SET models = 'claude-*' WHERE id = %d`, models.ID),
		fmt.Sprintf(`UPDATE gateway_keys SET networks = '["10.0.0.0"]' WHERE id = %d`, networks.ID),
		`UPDATE gateway_state SET revision = revision + 1`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return s.Lookup(models.Digest).Disabled }, patience, tick)
	assert.True(t, s.Lookup(networks.Digest).Disabled)
	assert.False(t, s.Lookup(whole.Digest).Disabled)
}

func anyText(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "'; DROP TABLE gateway_keys; --", aigateway.RoleUser)
	key := &aigateway.StoredKey{UserID: alice.ID, Name: "\x00a\xff$1?\u2028'"}
	require.NoError(t, s.CreateKey(t.Context(), key, plenty))
	stored, err := s.Key(t.Context(), alice.ID, key.ID)
	require.NoError(t, err)
	assert.Equal(t, "a\uFFFD$1?\u2028'", stored.Name)
	session := &aigateway.Session{UserID: alice.ID, Expires: time.Now().Add(time.Hour), Agent: "\xfe\x00"}
	require.NoError(t, s.CreateSession(t.Context(), session, plenty, agree))
	_, _, err = s.Keys(t.Context(), alice.ID, aigateway.Page{Search: "\x00\xff'", Limit: 1})
	assert.NoError(t, err)
	_, err = s.UserByName(t.Context(), "\x00\xff")
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
}

func manyWriters(t *testing.T, database Database) {
	const each = 10
	stores := []*store.Store{database.Open(t), database.Open(t)}
	alice := NewUser(t, stores[0], "alice", aigateway.RoleUser)
	var wg sync.WaitGroup
	for i := range 4 {
		s := stores[i%len(stores)]
		wg.Go(func() {
			for j := range each {
				name := fmt.Sprintf("%d-%d", i, j)
				key := NewKey(t, s, alice.ID, name)
				assert.NotNil(t, s.Lookup(key.Digest))
				NewSession(t, s, alice.ID, name, time.Hour)
			}
		})
	}
	wg.Wait()
	_, total, err := stores[0].Keys(t.Context(), aigateway.AnyUser, all)
	require.NoError(t, err)
	assert.Equal(t, 4*each, total)
	assert.Len(t, sessionsOf(t, stores[1], alice.ID), 4*each)
}

func beforeAndAfter(t *testing.T, database Database) {
	s := store.New(database(), nop)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	key := NewKey(t, s, alice.ID, "laptop")
	assert.False(t, s.Complete(), "the store is not open")
	select {
	case <-s.Opened():
		assert.Fail(t, "the store was opened")
	default:
	}
	s.Open()
	s.Open()
	<-s.Opened()
	Current(t, s)
	require.NoError(t, s.Close())
	assert.NotNil(t, s.Lookup(key.Digest))
	_, err := s.User(t.Context(), alice.ID)
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	assert.ErrorIs(t, s.CreateKey(t.Context(), &aigateway.StoredKey{UserID: alice.ID, Bounds: aigateway.KeyBounds{Networks: []netip.Prefix{}}}, plenty), aigateway.ErrUnavailable)
	assert.NoError(t, s.Close())
}

// lookup returns a known key without its Subject.
func lookup(t testing.TB, s aigateway.Store, digest aigateway.Digest) *aigateway.Key {
	t.Helper()
	key := s.Lookup(digest)
	require.NotNil(t, key)
	assert.NotEmpty(t, key.Subject, "a key could not open what another key of the same user has sealed")
	own := *key
	own.Subject = ""
	return &own
}

func keysOfAUserHaveOneSubject(t *testing.T, database Database) {
	s := database.Open(t)
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleUser)
	subject := func(user *aigateway.User, name string) string {
		return s.Lookup(NewKey(t, s, user.ID, name).Digest).Subject
	}
	laptop := subject(alice, "laptop")
	assert.Equal(t, laptop, subject(alice, "tower"))
	assert.NotEqual(t, laptop, subject(bob, "of bob"))
}
