package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func digestOf(text string) aigateway.Digest { return sha256.Sum256([]byte(text)) }

// newDevice adds a device whose code waits for an answer.
func newDevice(t *testing.T, s *store.Store, name string, lasts time.Duration) *aigateway.Device {
	t.Helper()
	device := &aigateway.Device{
		Digest: digestOf(name), Code: digestOf("code of " + name), Agent: "agent/1", Address: "192.0.2.7",
		Expires: time.Now().Add(lasts).UTC().Truncate(time.Millisecond),
	}
	require.NoError(t, s.Devices().Create(t.Context(), device, plenty))
	return device
}

// keyOf returns a key for the device with a name.
func keyOf(user *aigateway.User, name string) *aigateway.StoredKey {
	return &aigateway.StoredKey{UserID: user.ID, Name: name, Hint: "****", Digest: digestOf("key of " + name), Expires: time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)}
}

func devicesAreConfirmed(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	device := newDevice(t, s, "laptop", time.Minute)
	waiting, err := s.Devices().Waiting(t.Context(), device.Code)
	require.NoError(t, err)
	assert.Equal(t, device, waiting)
	found, user, err := s.Devices().Find(t.Context(), device.Digest)
	require.NoError(t, err)
	assert.Equal(t, device, found)
	assert.Nil(t, user)
	_, _, err = s.Devices().Find(t.Context(), digestOf("unknown"))
	require.ErrorIs(t, err, aigateway.ErrNotFound)
	polled, user, err := s.Devices().Poll(t.Context(), device.Digest, time.Now(), time.Minute)
	require.NoError(t, err)
	assert.Equal(t, device, polled)
	assert.Nil(t, user)
	_, _, err = s.Devices().Poll(t.Context(), device.Digest, time.Now(), time.Minute)
	require.ErrorIs(t, err, aigateway.ErrBusy)
	require.ErrorIs(t, s.Devices().Rotate(t.Context(), device.Digest, nil), aigateway.ErrNotFound, "it is not confirmed")

	key, expires := keyOf(alice, "laptop"), time.Now().Add(3*time.Hour).UTC().Truncate(time.Millisecond)
	require.NoError(t, s.Devices().Confirm(t.Context(), device.Code, expires, key, plenty))
	listed, _, err := s.Keys(t.Context(), alice.ID, all)
	require.NoError(t, err)
	shown, err := s.Key(t.Context(), alice.ID, key.ID)
	require.NoError(t, err)
	assert.Equal(t, []time.Time{expires, expires, key.Expires}, []time.Time{listed[0].Renewable, shown.Renewable, shown.Expires})
	assert.NotNil(t, s.Lookup(key.Digest))
	// Sign-ins were ordered by the ends of their access tokens, which lists do not show.
	soon := keyOf(alice, "soon")
	soon.Expires = key.Expires.Add(time.Minute)
	require.NoError(t, s.CreateKey(t.Context(), soon, plenty))
	byEnd := all
	byEnd.Sort = "expires"
	listed, _, err = s.Keys(t.Context(), alice.ID, byEnd)
	require.NoError(t, err)
	assert.Equal(t, []string{"soon", "laptop"}, []string{listed[0].Name, listed[1].Name})
	require.NoError(t, s.DeleteKey(t.Context(), alice.ID, soon.ID))
	require.ErrorIs(t, s.Devices().Confirm(t.Context(), device.Code, expires, keyOf(alice, "twice"), plenty), aigateway.ErrNotFound)
	require.ErrorIs(t, s.Devices().Deny(t.Context(), device.Code), aigateway.ErrNotFound)
	polled, user, err = s.Devices().Find(t.Context(), device.Digest)
	require.NoError(t, err)
	assert.Equal(t, []any{key.ID, expires, aigateway.Digest{}, alice.ID}, []any{polled.Key, polled.Expires, polled.Code, user.ID})

	refused := errors.New("refused")
	assert.Equal(t, refused, s.Devices().Rotate(t.Context(), device.Digest, func(_ *aigateway.Device, key *aigateway.StoredKey, _ *aigateway.User) error {
		key.Digest = digestOf("stolen")
		return refused
	}), "the error is returned unchanged")
	assert.NotNil(t, s.Lookup(key.Digest))
	tokens := aigateway.DeviceTokens{Refresh: digestOf("r2"), Replaced: digestOf("r1"), Salt: digestOf("salt"), Rotated: expires}
	require.NoError(t, s.Devices().Rotate(t.Context(), device.Digest, func(d *aigateway.Device, key *aigateway.StoredKey, u *aigateway.User) error {
		assert.Equal(t, "alice", u.Name)
		d.Tokens, key.Digest = tokens, digestOf("second")
		return nil
	}))
	assert.Nil(t, s.Lookup(key.Digest))
	assert.False(t, s.Devices().TokenUsed(digestOf("second")), "the use of the token before is none of this one")
	assert.NotNil(t, s.Lookup(digestOf("second")))
	assert.True(t, s.Devices().TokenUsed(digestOf("second")))
	assert.False(t, s.Devices().TokenUsed(digestOf("unknown")))
	polled, _, err = s.Devices().Poll(t.Context(), device.Digest, time.Now(), 0)
	require.NoError(t, err)
	assert.Equal(t, tokens, polled.Tokens)

	// The tokens of all programs, each hour, were most of the changes of keys in the audit log.
	rows := entries(t, s, aigateway.AuditQuery{Action: "device.token"})
	require.Len(t, rows, 1)
	assert.Equal(t, fmt.Sprint("key/", key.ID), rows[0].Object)
	assert.Empty(t, entries(t, s, aigateway.AuditQuery{Action: "key.rotate"}))

	require.NoError(t, s.DeleteKey(t.Context(), alice.ID, key.ID))
	_, _, err = s.Devices().Poll(t.Context(), device.Digest, time.Now(), 0)
	require.ErrorIs(t, err, aigateway.ErrNotFound, "the device ends with its key")
}

func devicesEnd(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	late := newDevice(t, s, "late", -time.Second)
	_, err := s.Devices().Waiting(t.Context(), late.Code)
	require.ErrorIs(t, err, aigateway.ErrNotFound)
	require.ErrorIs(t, s.Devices().Confirm(t.Context(), late.Code, time.Now(), keyOf(alice, "late"), plenty), aigateway.ErrNotFound)
	denied := newDevice(t, s, "denied", time.Minute)
	require.NoError(t, s.Devices().Deny(t.Context(), denied.Code))
	polled, _, err := s.Devices().Poll(t.Context(), denied.Digest, time.Now(), 0)
	require.NoError(t, err)
	assert.True(t, polled.Denied)
	_, _, err = s.Devices().Poll(t.Context(), late.Digest, time.Now(), 0)
	require.ErrorIs(t, err, aigateway.ErrNotFound, "a new device ends those that have expired")

	require.ErrorIs(t, s.Devices().Create(t.Context(), &aigateway.Device{Digest: digestOf("x"), Code: digestOf("y"), Expires: time.Now().Add(time.Hour)}, 0), aigateway.ErrTooMany)

	first := newDevice(t, s, "first", time.Minute)
	old := keyOf(alice, "old")
	require.NoError(t, s.Devices().Confirm(t.Context(), first.Code, time.Now().Add(-time.Second), old, plenty))
	// The keys of sign-ins that are over filled the lists of administrators, and the room of the person.
	_, total, err := s.Keys(t.Context(), aigateway.AnyUser, all)
	require.NoError(t, err)
	assert.Zero(t, total)
	NewTeam(t, s, "research", alice)
	_, err = s.ChangeKey(t.Context(), alice.ID, old.ID, func(key *aigateway.StoredKey) error { key.Bounds.Limit = "research"; return nil })
	require.NoError(t, err, "its name is still found, for usage")
	listed, total, err := s.Teams().Keys(t.Context(), "research", all)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 0}, []int{len(listed), total})
	require.NoError(t, s.CreateKey(t.Context(), keyOf(alice, "own"), 1))
	require.ErrorIs(t, s.CreateKey(t.Context(), keyOf(alice, "more"), 1), aigateway.ErrTooMany)
	listed, _, err = s.Keys(t.Context(), alice.ID, all)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.NoError(t, s.DeleteKey(t.Context(), alice.ID, listed[0].ID))

	second := newDevice(t, s, "second", time.Minute)
	require.NoError(t, s.Devices().Confirm(t.Context(), second.Code, time.Now().Add(time.Hour), keyOf(alice, "new"), 1), "the key of a sign-in that has ended takes no room")
	_, err = s.Key(t.Context(), alice.ID, old.ID)
	require.ErrorIs(t, err, aigateway.ErrNotFound)
}

// Behind a balancer, the request after a refresh reaches another gateway, which refused the new access
// token for up to two seconds.
func accessTokensAreFoundElsewhere(t *testing.T, database Database) {
	here, there := database.Open(t), database.Open(t)
	alice := NewUser(t, here, "alice", aigateway.RoleUser)
	Current(t, there)
	for n := range 10 {
		token := fmt.Sprint(aigateway.AccessTokenPrefix, n)
		key := &aigateway.StoredKey{UserID: alice.ID, Name: token, Hint: "****", Digest: digestOf(token)}
		require.NoError(t, here.CreateKey(t.Context(), key, plenty))
		found := there.LookupIssued(t.Context(), token)
		require.NotNil(t, found)
		assert.Equal(t, "alice", found.Owner)
	}
	var invented sync.WaitGroup
	for range 100 {
		invented.Go(func() { assert.Nil(t, there.LookupIssued(t.Context(), "agent_x")) })
	}
	invented.Wait()
	assert.Nil(t, there.LookupIssued(t.Context(), "sk-x"))
}

// Of two persons who type one code at once, one gets the program.
func codesAreAnsweredOnce(t *testing.T, database Database) {
	one, other := database.Open(t), database.Open(t)
	alice, mallory := NewUser(t, one, "alice", aigateway.RoleUser), NewUser(t, one, "mallory", aigateway.RoleUser)
	device := newDevice(t, one, "laptop", time.Minute)
	var answers sync.WaitGroup
	results := make([]error, 2)
	answers.Go(func() {
		results[0] = one.Devices().Confirm(t.Context(), device.Code, time.Now().Add(time.Hour), keyOf(alice, "a"), plenty)
	})
	answers.Go(func() {
		results[1] = other.Devices().Confirm(t.Context(), device.Code, time.Now().Add(time.Hour), keyOf(mallory, "m"), plenty)
	})
	answers.Wait()
	assert.NotEqual(t, results[0] == nil, results[1] == nil)
	require.ErrorIs(t, errors.Join(results...), aigateway.ErrNotFound)
	_, total, err := one.Keys(t.Context(), aigateway.AnyUser, all)
	require.NoError(t, err)
	assert.Equal(t, 1, total, "no key is left of the other answer")
}
