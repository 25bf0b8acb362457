package limits

import (
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
)

// ruledStore is a store whose users have these limits, by name.
type ruledStore struct {
	aigateway.Store
	users map[string]*aigateway.Limit
}

func (s ruledStore) LimitOfUser(name string) *aigateway.Limit { return s.users[name] }

func ofUser(rules aigateway.LimitRules) *aigateway.Limit {
	return aigateway.OwnLimit(aigateway.PerUser, rules)
}

// ruled returns a key of ada with own rules, in the configured limit small.
func ruled(rules aigateway.LimitRules) *aigateway.Key {
	return &aigateway.Key{ID: "key_1", Owner: "ada", Limit: "small", Own: aigateway.OwnLimit(aigateway.PerKey, rules)}
}

func limitNames(chain *Chain) (names []string) {
	for _, limit := range chain.Limits() {
		names = append(names, limit.Name)
	}
	return names
}

func TestOwnRulesAreWithinTheLimitsOfTheConfiguration(t *testing.T) {
	l, err := New().Extend([]*Limit{limit("small", "", aigateway.PerKey), limit("all", "", aigateway.PerGateway)}, load)
	require.NoError(t, err)
	users := map[string]*aigateway.Limit{}
	l.CountUsers(ruledStore{users: users})
	two := aigateway.LimitRules{Concurrent: 2}

	assert.Same(t, l.chains["small"], l.Of(ruled(aigateway.LimitRules{})), "a key without own rules has the chain of its limit")
	assert.Equal(t, []string{"own/key", "small", "all"}, limitNames(l.Of(ruled(two))))
	users["ada"] = ofUser(two)
	assert.Equal(t, []string{"own/key", "own/user", "small", "all"}, limitNames(l.Of(ruled(two))))
	assert.Equal(t, []string{"own/user", "all"}, limitNames(l.Of(&aigateway.Key{Owner: "ada"})), "a key of the configuration with this owner")
	assert.Equal(t, []string{"own/user", "support", "all"}, limitNames(l.Of(&aigateway.Key{Owner: "ada", Limit: "support", Team: ofTeam("support", one).Team})))
	assert.Nil(t, l.Of(&aigateway.Key{Owner: "ada", Limit: "none"}), "own rules are no limit in place of the undefined one")

	chain := l.Of(ruled(two))
	assert.Same(t, chain, l.Of(ruled(two)), "the chain is not built again")
	other := ruled(two)
	other.ID = "key_2"
	assert.Same(t, chain, l.Of(other), "keys with the same rules share a chain, in which each is a subject")
	users["ada"] = ofUser(aigateway.LimitRules{Concurrent: 3})
	assert.Equal(t, int64(3), l.Of(ruled(two)).Limits()[1].Concurrent, "after a change")
}

// Keys, users and teams of a store had no priority of their own.
func TestTheInnermostPriorityDecides(t *testing.T) {
	small, all := limit("small", "", aigateway.PerKey), limit("all", "", aigateway.PerGateway)
	l, err := New().Extend([]*Limit{small, all}, load)
	require.NoError(t, err)
	users := map[string]*aigateway.Limit{}
	l.CountUsers(ruledStore{users: users})
	key := ruled(aigateway.LimitRules{})
	priority := func(want queue.Priority, of string) { assert.Equal(t, want, l.Priority(key), of) }
	priority(queue.Normal, "no limit")
	all.Priority = "high"
	priority(queue.High, "the limit of the gateway")
	small.Priority = "low"
	priority(queue.Low, "the limit of the key")
	users["ada"] = ofUser(aigateway.LimitRules{Priority: "high"})
	priority(queue.High, "the user")
	key.Own = aigateway.OwnLimit(aigateway.PerKey, aigateway.LimitRules{Priority: "normal"})
	priority(queue.Normal, "the key")
	key = ofTeam("support", aigateway.LimitRules{Priority: "low"})
	priority(queue.Low, "the team")
	key.Limit, key.Team = "none", nil
	priority(queue.Normal, "a key that is refused")
}

// The store may contain what this configuration cannot apply. Without the rules, the keys would be
// allowed too much.
func TestOwnRulesThatCannotBeAppliedRefuseTheKey(t *testing.T) {
	l, err := New().Extend([]*Limit{inEuros(costing(limit("small", "", aigateway.PerUser), "50/month"))}, load)
	require.NoError(t, err)
	core, logs := observer.New(zap.InfoLevel)
	require.NoError(t, l.Attach(new(backends.Book), zap.New(core)))
	users := map[string]*aigateway.Limit{}
	l.CountUsers(ruledStore{users: users})
	dollars := aigateway.LimitRules{Budget: costing(limit("x", "", ""), "5/day").Budget}
	reader := Reader{Sites: func() []Site {
		return []Site{{Limits: l, Keys: slices.Values([]*aigateway.Key{ruled(aigateway.LimitRules{})}), ByID: func(string) *aigateway.Key { return nil }}}
	}, Tags: func() []string { return []string{"team"} }}

	for name, problem := range map[string]error{
		"the rules of a key":  reader.CheckKey(ruled(dollars)),
		"the rules of a user": reader.CheckUser("ada", ofUser(dollars)),
	} {
		assert.ErrorContains(t, problem, "another currency: USD and EUR", name)
	}
	assert.NoError(t, reader.CheckUser("bob", ofUser(dollars)), "no key of bob has the limit")
	for range 2 {
		assert.Nil(t, l.Of(ruled(dollars)))
	}
	assert.ErrorContains(t, l.Problem(ruled(dollars)), "another currency")
	assert.Equal(t, 1, logs.Len(), "once")
	users["ada"] = new(aigateway.Limit)
	assert.Nil(t, l.Of(ruled(aigateway.LimitRules{})), "the store cannot read the rules of the user")
	assert.ErrorIs(t, l.Problem(ruled(aigateway.LimitRules{})), errDamaged)

	tagged := ruled(aigateway.LimitRules{})
	tagged.Tags = []aigateway.Tag{{Name: "team", Value: "search"}}
	assert.NoError(t, reader.CheckKey(tagged))
	tagged.Tags[0].Name = "env"
	assert.EqualError(t, reader.CheckKey(tagged), "tags of the configuration does not list 'env'")
}

// The team and the owner of a key that is in use are those of the site: a change of its rules names
// neither.
func TestTheRulesOfAKeyInUseAreCheckedWithItsTeam(t *testing.T) {
	l := New()
	require.NoError(t, l.CountStored(load))
	require.NoError(t, l.Attach(new(backends.Book), zap.NewNop()))
	euros := aigateway.LimitRules{Budget: inEuros(costing(limit("x", "", ""), "5/day")).Budget}
	known := ofTeam("support", euros)
	known.ID = "key_1"
	reader := Reader{Sites: func() []Site {
		return []Site{{Limits: l, Keys: iter.Seq[*aigateway.Key](nil), ByID: func(string) *aigateway.Key { return known }}}
	}}
	dollars := aigateway.OwnLimit(aigateway.PerKey, aigateway.LimitRules{Budget: costing(limit("x", "", ""), "5/day").Budget})
	assert.ErrorContains(t, reader.CheckKey(&aigateway.Key{ID: "key_1", Limit: "support", Own: dollars}), "another currency")
	assert.NoError(t, reader.CheckKey(&aigateway.Key{ID: "key_1", Own: dollars}), "a key that leaves the team")
	assert.NoError(t, reader.Unusable("key_1"))
	known.Own = dollars
	assert.ErrorContains(t, reader.Unusable("key_1"), "another currency")
}

// The costs of all requests with a key or of a user count in own rules, whatever limit the records
// have: the limit of a key may have changed.
func TestOwnBudgetsCountAllCostsOfTheirSubject(t *testing.T) {
	s := &spending{members: newMembers()}
	budget := aigateway.LimitRules{Budget: costing(limit("x", "", ""), "5/day").Budget}
	now := time.Now()
	of := s.query(aigateway.OwnLimit(aigateway.PerKey, budget), ruled(budget), now, now)
	assert.Equal(t, []any{map[accounting.Dimension]string{accounting.ByKey: "key_1"}, []string(nil)}, []any{of.Only, of.Limits})
	of = s.query(ofUser(budget), ruled(budget), now, now)
	assert.Equal(t, []any{map[accounting.Dimension]string{accounting.ByUser: "ada"}, []string(nil)}, []any{of.Only, of.Limits})
}

func TestARefusalNamesTheOwnRule(t *testing.T) {
	key := ruled(one)
	assert.EqualValues(t, "this key (its own rule)", whoseOf(key.Own, key))
	assert.EqualValues(t, "this user (their own rule)", whoseOf(ofUser(one), key))
	assert.EqualValues(t, "this key", whoseOf(&aigateway.Limit{Name: "small", Per: aigateway.PerKey}, key))
}
