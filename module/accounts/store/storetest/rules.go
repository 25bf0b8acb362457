package storetest

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func rulesOfUsers(t *testing.T, database Database) {
	began := time.Now()
	s, other := database.Open(t), store.New(database(), nop)
	t.Cleanup(func() { assert.NoError(t, other.Close()) })
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleUser)
	budget, err := aigateway.ParseBudget("20/month", "EUR")
	require.NoError(t, err)
	rules := aigateway.LimitRules{Budget: budget, Requests: aigateway.Rate{Most: 60, Per: 60e9}}
	set := func(user *aigateway.User, rules aigateway.LimitRules) {
		changed, err := s.ChangeUser(t.Context(), user.ID, 0, func(u *aigateway.User) error {
			u.Rules = rules
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, rules, changed.Rules)
	}
	assert.Nil(t, s.LimitOfUser("alice"))
	set(alice, rules)
	set(bob, aigateway.LimitRules{Concurrent: 1})
	want := &aigateway.Limit{Name: "own/user", Per: aigateway.PerUser, LimitRules: rules}
	got := func() *aigateway.Limit {
		limit := *s.LimitOfUser("alice")
		limit.BudgetSince = time.Time{}
		return &limit
	}
	assert.Equal(t, want, got(), "at once")
	start := s.LimitOfUser("alice").BudgetSince
	assert.WithinRange(t, start, began, time.Now(), "requests before did not count")
	rules.Budget.Micros, rules.Concurrent = 30e6, 1
	set(alice, rules)
	assert.Equal(t, start, s.LimitOfUser("alice").BudgetSince, "another amount counts the same money")
	rules.Budget.Calendar = aigateway.Daily
	set(alice, rules)
	assert.True(t, s.LimitOfUser("alice").BudgetSince.After(start), "another period does not")
	want.LimitRules = rules
	other.Open()
	Current(t, other)
	assert.Equal(t, want, other.LimitOfUser("alice"), "in another process")
	set(alice, aigateway.LimitRules{})
	assert.Nil(t, s.LimitOfUser("alice"))
	assert.Equal(t, int64(1), s.LimitOfUser("bob").Concurrent)
	require.NoError(t, s.DeleteUser(t.Context(), bob.ID, agree))
	assert.Nil(t, s.LimitOfUser("bob"), "the next user with the name has no rules")
}

func rotatedKeys(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	key := NewKey(t, s, alice.ID, "laptop")
	first := key.Digest
	rotate := func(secret string, overlap time.Duration) aigateway.Digest {
		digest := sha256.Sum256([]byte(secret))
		changed, err := s.ChangeKey(t.Context(), alice.ID, key.ID, func(k *aigateway.StoredKey) error {
			k.Replaced = aigateway.ReplacedSecret{Digest: k.Digest, Until: time.Now().Add(overlap).UTC().Truncate(time.Millisecond)}
			k.Digest, k.Hint = digest, "hint of "+secret
			return nil
		})
		require.NoError(t, err)
		kept, err := s.Key(t.Context(), alice.ID, key.ID)
		require.NoError(t, err)
		assert.Equal(t, kept, changed)
		return digest
	}
	second := rotate("second", time.Hour)
	old, current := lookup(t, s, first), lookup(t, s, second)
	assert.WithinDuration(t, time.Now().Add(time.Hour), old.Expires, time.Minute)
	assert.Equal(t, key.Expires, current.Expires)
	same := *current
	same.Digest, same.Expires = first, old.Expires
	assert.Equal(t, &same, old, "what both secrets allow and count is the same")
	assert.Equal(t, second, s.KeyByID(current.ID).Digest)
	known := slices.Collect(s.Known())
	require.Len(t, known, 1, "one key, although it has two secrets")
	assert.Equal(t, second, known[0].Digest)

	third := rotate("third", 0)
	assert.Nil(t, s.Lookup(first), "a key has two secrets at most")
	assert.Nil(t, s.Lookup(second))
	assert.NotNil(t, lookup(t, s, third))

	fourth := rotate("fourth", 200*24*365*time.Hour)
	assert.Equal(t, key.Expires, lookup(t, s, third).Expires, "a secret ends with its key")
	require.NoError(t, s.DeleteKey(t.Context(), alice.ID, key.ID))
	assert.Nil(t, s.Lookup(third), "whoever deletes a key ends both")
	assert.Nil(t, s.Lookup(fourth))
}
