package limits

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
)

// namer implements counters that only remember the names of limits.
type namer struct{}

type names struct {
	aigateway.Limiter
	of []string
}

func (namer) Limiter(limits []*aigateway.Limit) (aigateway.Limiter, error) {
	n := new(names)
	for _, l := range limits {
		n.of = append(n.of, l.Name)
	}
	return n, nil
}

func load() (aigateway.Counters, error) { return namer{}, nil }

var one = aigateway.LimitRules{Concurrent: 1}

func limit(name, within string, per aigateway.Scope) *Limit {
	return &Limit{Limit: aigateway.Limit{Name: name, Per: per, LimitRules: one}, Parent: within}
}

func costing(l *Limit, text string) *Limit {
	budget, err := aigateway.ParseBudget(text)
	if err != nil {
		panic(err)
	}
	l.Budget = budget
	return l
}

func inEuros(l *Limit) *Limit {
	l.Budget.Currency = "EUR"
	return l
}

func soft(l *Limit) *Limit {
	l.Budget.Soft = true
	return l
}

// namesOf returns the names of the limits that apply to a key with a limit.
func namesOf(t *testing.T, l *Limits, limit string) []string {
	chain := l.Of(&aigateway.Key{Limit: limit})
	require.NotNil(t, chain, limit)
	if chain.Empty() {
		return nil
	}
	return chain.limiter.(*names).of
}

func TestLimitsOfAKeyLeadOutward(t *testing.T) {
	global, err := New().Extend([]*Limit{limit("group", "", aigateway.PerGroup), limit("all", "", aigateway.PerGateway)}, load)
	require.NoError(t, err)
	site, err := global.Extend([]*Limit{limit("user", "group", ""), limit("key", "user", aigateway.PerKey), limit("tight", "all", "")}, nil)
	require.NoError(t, err)
	for name, want := range map[string][]string{
		"": {"all"}, "all": {"all"}, "group": {"group", "all"}, "user": {"user", "group", "all"}, "key": {"key", "user", "group", "all"}, "tight": {"tight", "all"},
	} {
		assert.Equal(t, want, namesOf(t, site, name), name)
	}
	assert.Nil(t, global.Of(&aigateway.Key{Limit: "user"}), "only the site defines it")
	assert.Nil(t, site.Of(&aigateway.Key{Limit: "unknown"}))
	assert.True(t, New().Of(&aigateway.Key{}).Empty())

	// A record in the ledger has the limit that the key names, which may be one of
	// another site.
	_, err = global.Extend([]*Limit{limit("other", "group", "")}, nil)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"group", "user", "key", "other"}, site.members.within("group"))
	assert.ElementsMatch(t, []string{"user", "key"}, site.members.within("user"))
}

func TestLimitsThatCannotBeNestedAreRefused(t *testing.T) {
	for want, limits := range map[string][]*Limit{
		"limit 'a': is defined twice":                                           {limit("a", "", ""), limit("a", "", "")},
		"limit 'a': within names the limit 'b', which is not defined":           {limit("a", "b", "")},
		"limit 'a': within leads from 'a' to itself":                            {limit("a", "a", "")},
		"limit 'a': within leads from 'b' to itself":                            {limit("a", "b", ""), limit("b", "c", ""), limit("c", "b", "")},
		"limit 'a': a limit per gateway is within no other":                     {limit("a", "b", aigateway.PerGateway)},
		"limit 'a': is within a budget of another currency: EUR and USD":        {inEuros(costing(limit("a", "b", ""), "1/day")), costing(limit("b", "", ""), "1/day")},
		"limit '': the name of a limit is 1 to 64":                              {limit("", "", "")},
		"limit 'a': a limit needs at least one of requests, tokens, concurrent": {{Limit: aigateway.Limit{Name: "a"}}},
	} {
		_, err := New().Extend(limits, load)
		assert.ErrorContains(t, err, want)
	}
	_, err := New().Extend([]*Limit{limit("a", "", "")}, func() (aigateway.Counters, error) { return nil, errors.New("no module") })
	assert.ErrorContains(t, err, "loading counters: no module")
}

// Without a ledger, a budget would begin at zero after each start.
func TestABudgetNeedsALedger(t *testing.T) {
	l, err := New().Extend([]*Limit{limit("small", "", ""), costing(limit("costly", "", ""), "1/day")}, load)
	require.NoError(t, err)
	assert.ErrorContains(t, l.Attach(nil, zap.NewNop()), "limit 'costly': budget needs a ledger")
	assert.NoError(t, l.Attach(new(backends.Book), zap.NewNop()))
	assert.Nil(t, l.Of(&aigateway.Key{Limit: "small"}).spending)
	assert.NotNil(t, l.Of(&aigateway.Key{Limit: "costly"}).spending)
}

// accounts are accounts whose keys have a limit.
type accounts struct {
	aigateway.Accounts
	limit string
}

func (a accounts) LimitOfKeys() string { return a.limit }

// With a limit for each key alone, a user could get any quota by making keys.
func TestUsersCannotGetRoundTheirLimit(t *testing.T) {
	l, err := New().Extend([]*Limit{limit("alone", "", aigateway.PerKey), limit("chosen", "alone", aigateway.PerCustomer), limit("bounded", "user", aigateway.PerKey), limit("user", "", "")}, load)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"alone": "accounts: the limit 'alone' counts each key,", "chosen": "accounts: the limit 'chosen' counts each key, customer or tag alone", "unknown": "accounts: the limit 'unknown' is not defined",
	} {
		assert.ErrorContains(t, l.CheckAccounts(accounts{limit: name}), want)
	}
	for _, name := range []string{"", "bounded", "user"} {
		assert.NoError(t, l.CheckAccounts(accounts{limit: name}), name)
	}
	assert.NoError(t, l.CheckAccounts(nil))
	assert.NoError(t, l.Check(slices.Values([]*aigateway.Key{{}, {Limit: "user"}})))
	assert.ErrorContains(t, l.Check(slices.Values([]*aigateway.Key{{ID: "k", Limit: "unknown"}})), "names the limit 'unknown'")
}

// The error about a mistyped limit lacked the names of the defined limits, unlike errors
// about other words of the Caddyfile.
func TestTheErrorOfAnUnknownLimitNamesTheKnownOnes(t *testing.T) {
	keys := slices.Values([]*aigateway.Key{{ID: "alice", Limit: "smal"}})
	assert.EqualError(t, New().Check(keys), "key 'alice' names the limit 'smal', which is not defined")
	defined, err := New().Extend([]*Limit{limit("small", "", ""), limit("large", "", "")}, load)
	require.NoError(t, err)
	const hint = "; did you mean 'small'? known are: large, small"
	assert.EqualError(t, defined.Check(keys), "key 'alice' names the limit 'smal', which is not defined"+hint)
	_, err = defined.Extend([]*Limit{limit("inner", "smal", "")}, load)
	assert.ErrorContains(t, err, "within names the limit 'smal', which is not defined; did you mean 'small'? known are: inner, large, small")
}

// What is used of a budget is never shown as less than it is.
func TestStatesOfBudgetsAreRoundedUp(t *testing.T) {
	budget := costing(limit("small", "", aigateway.PerUser), "5/1h")
	got := new(Chain).budgetState(&budget.Limit, aigateway.Subject{Per: aigateway.PerUser, Name: "alice"}, aigateway.RuleUse{Used: 1_500_000_001, Reserved: 1})
	assert.Equal(t, aigateway.LimitState{
		Limit: "small", Per: aigateway.PerUser, Subject: "alice", Rule: "budget", Period: "1h", Currency: "USD",
		Amount: 5_000_000, Used: 1_500_001, Reserved: 1, Left: 3_499_999,
	}, got)
}
