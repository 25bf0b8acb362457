package limits

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
)

// ofTeam returns a key of a team with rules.
func ofTeam(name string, rules aigateway.LimitRules) *aigateway.Key {
	return &aigateway.Key{Limit: name, Team: &aigateway.Team{Name: name, Rules: rules}}
}

func TestTheConfigurationDecidesAboutTheLimitOfATeam(t *testing.T) {
	l, err := New().Extend([]*Limit{limit("research", "", aigateway.PerGroup), limit("all", "", aigateway.PerGateway)}, load)
	require.NoError(t, err)
	limits := func(key *aigateway.Key) []*aigateway.Limit { return l.Of(key).Limits() }
	two := aigateway.LimitRules{Concurrent: 2}
	assert.Equal(t, int64(1), limits(ofTeam("research", two))[0].Concurrent)
	own := limits(ofTeam("support", two))
	require.Len(t, own, 2, "the limits per gateway apply, too")
	assert.Equal(t, aigateway.Limit{Name: "support", Per: aigateway.PerGroup, LimitRules: two}, *own[0])
	assert.Equal(t, "all", own[1].Name)
	assert.Len(t, limits(ofTeam("support", aigateway.LimitRules{})), 1, "a team without rules")
	assert.Nil(t, l.Of(&aigateway.Key{Limit: "support"}), "a key of no team")

	chain := l.Of(ofTeam("support", two))
	assert.Same(t, chain, l.Of(ofTeam("support", two)), "the chain is not built again")
	assert.Equal(t, int64(3), limits(ofTeam("support", aigateway.LimitRules{Concurrent: 3}))[0].Concurrent, "after a change")
	assert.Equal(t, []string{"support"}, l.members.within("support"), "the costs in the ledger that its budget counts")
}

func TestTeamsNeedNoLimitInTheConfiguration(t *testing.T) {
	failure := errors.New("no counters")
	assert.ErrorIs(t, New().CountStored(func() (aigateway.Counters, error) { return nil, failure }), failure)
	l := New()
	assert.ErrorContains(t, l.CheckTeam(ofTeam("support", one).Team), "no counters")
	require.NoError(t, l.CountStored(load))
	assert.Len(t, l.Of(ofTeam("support", one)).Limits(), 1)
	assert.Equal(t, []*aigateway.Key{ofTeam("support", one)}, l.teamsOf(slices.Values([]*aigateway.Key{{}, ofTeam("support", one), ofTeam("support", one)})))
}

// The store may contain what this configuration cannot apply. Without the limit, the keys
// would be allowed too much.
func TestATeamWhoseLimitCannotBeAppliedIsRefused(t *testing.T) {
	l, err := New().Extend([]*Limit{inEuros(costing(limit("all", "", aigateway.PerGateway), "50/month"))}, load)
	require.NoError(t, err)
	logged, logs := observer.New(zap.ErrorLevel)
	require.NoError(t, l.Attach(new(backends.Book), zap.New(logged)))
	dollars := costing(limit("x", "", ""), "50/month").LimitRules
	for range 2 {
		assert.Nil(t, l.Of(ofTeam("support", dollars)))
	}
	assert.Equal(t, 1, logs.Len(), "once")
	team := ofTeam("support", dollars).Team
	assert.ErrorContains(t, l.CheckTeam(team), "another currency")
	team.Rules.Budget.Currency = "EUR"
	require.NoError(t, l.CheckTeam(team))
	assert.Equal(t, "EUR", l.Of(&aigateway.Key{Limit: "support", Team: team}).currency)

	without := New()
	require.NoError(t, without.CountStored(load))
	assert.ErrorContains(t, without.CheckTeam(team), "budget needs a ledger")
}

// refusing are counters that cannot count a limit.
type refusing struct{ aigateway.Counters }

func (refusing) Limiter([]*aigateway.Limit) (aigateway.Limiter, error) {
	return nil, errors.New("too many levels")
}

// What the counters refuse is known only when the limits of the first key are built: the check of
// the rules found nothing, and the log of the refusal failed at a reason that was not there.
func TestWhatCountersRefuseIsTheReason(t *testing.T) {
	l := New()
	require.NoError(t, l.CountStored(func() (aigateway.Counters, error) { return refusing{}, nil }))
	require.NoError(t, l.Attach(new(backends.Book), zap.NewNop()))
	key := ofTeam("support", one)
	assert.Nil(t, l.Of(key))
	assert.ErrorContains(t, l.Problem(key), "too many levels")
}

// A team had the name of a limit per key with a budget of 2 a day. A member made a key, spent the
// budget, deleted the key, made the next, and so spent 30 in a day.
func TestMembersCannotEvadeTheLimitOfTheirTeam(t *testing.T) {
	tag := aigateway.PerTag("project")
	const money = "5/day"
	for name, test := range map[string]struct {
		limits []*Limit
		evaded string // the limit that the error names; empty for none
	}{
		"per key":                             {[]*Limit{costing(limit("t", "", aigateway.PerKey), money)}, "t"},
		"per customer":                        {[]*Limit{limit("t", "", aigateway.PerCustomer)}, "t"},
		"per tag":                             {[]*Limit{limit("t", "", tag)}, "t"},
		"each level chosen":                   {[]*Limit{limit("t", "k", tag), limit("k", "", aigateway.PerKey)}, "t"},
		"the outer level chosen":              {[]*Limit{limit("t", "k", ""), costing(limit("k", "", aigateway.PerKey), money)}, "k"},
		"money within a rate":                 {[]*Limit{costing(limit("t", "u", aigateway.PerKey), money), limit("u", "", "")}, "t"},
		"money within soft money":             {[]*Limit{costing(limit("t", "u", aigateway.PerKey), money), soft(costing(limit("u", "", ""), money))}, "t"},
		"money beside a rate of the gateway":  {[]*Limit{costing(limit("t", "", aigateway.PerCustomer), money), limit("all", "", aigateway.PerGateway)}, "t"},
		"money within money of a user":        {[]*Limit{costing(limit("t", "u", aigateway.PerKey), money), costing(limit("u", "", ""), money)}, ""},
		"money within money of a group":       {[]*Limit{costing(limit("t", "g", tag), money), costing(limit("g", "", aigateway.PerGroup), money)}, ""},
		"money beside money of the gateway":   {[]*Limit{costing(limit("t", "", aigateway.PerKey), money), costing(limit("all", "", aigateway.PerGateway), money)}, ""},
		"a number of requests within another": {[]*Limit{limit("t", "u", aigateway.PerCustomer), limit("u", "", "")}, ""},
		"per user":                            {[]*Limit{costing(limit("t", "", ""), money)}, ""},
		"another team":                        {[]*Limit{costing(limit("other", "", aigateway.PerKey), money)}, ""},
	} {
		l, err := New().Extend(test.limits, load)
		require.NoError(t, err, name)
		require.NoError(t, l.CountStored(load), name)
		require.NoError(t, l.Attach(new(backends.Book), zap.NewNop()), name)
		key := ofTeam("t", one)
		if test.evaded == "" {
			require.NoError(t, l.CheckTeam(key.Team), name)
			assert.NotNil(t, l.Of(key), name)
			continue
		}
		want := "the limit '" + test.evaded + "' counts each key, customer or tag alone, and users can have many: name one per user, or within one"
		assert.ErrorContains(t, l.CheckTeam(key.Team), want, name)
		assert.ErrorContains(t, l.CheckAccounts(accounts{limit: "t"}), "accounts: "+want, "as for the keys of all users: "+name)
		assert.Nil(t, l.Of(key), "a team of the store from before: "+name)
		assert.ErrorContains(t, l.Problem(key), want, name)
		assert.NotNil(t, l.Of(&aigateway.Key{Limit: "t"}), "keys of the configuration cannot be multiplied: "+name)
	}
}
