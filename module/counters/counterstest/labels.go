package counterstest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// labelled returns the key of a request with a tag and a customer.
func labelled(id, team, customer string) *aigateway.Key {
	key := keyOf(id, "")
	key.Customer = customer
	if team != "" {
		key.Tags = []aigateway.Tag{{Name: "env", Value: "prod"}, {Name: "team", Value: team}}
	}
	return key
}

// The labels of requests count, whichever keys they have. Requests without a label could
// evade its limit.
func labels(t *testing.T, p *Place) {
	twice := aigateway.LimitRules{Concurrent: 2}
	teams := p.open(t, &aigateway.Limit{Name: "teams", Per: aigateway.PerTag("team"), LimitRules: twice})
	admits := func(l *limiter, key *aigateway.Key) bool { return l.ask(key, 0, 0).Reservation != nil }
	for _, team := range []string{"search", "ads", ""} {
		assert.True(t, admits(teams, labelled("a", team, "x")), team)
		assert.True(t, admits(teams, labelled("b", team, "y")), team)
		assert.False(t, admits(teams, labelled("c", team, "z")), team)
	}
	customers := p.open(t, &aigateway.Limit{Name: "customers", Per: aigateway.PerCustomer, LimitRules: twice})
	for _, customer := range []string{"acme", "acme:x", "", "search"} {
		assert.True(t, admits(customers, labelled("a", "search", customer)), customer)
		assert.True(t, admits(customers, labelled("b", "ads", customer)), customer)
		assert.False(t, admits(customers, labelled("a", "", customer)), customer)
	}
	both := p.open(t,
		&aigateway.Limit{Name: "tight", Per: aigateway.PerCustomer, LimitRules: aigateway.LimitRules{Concurrent: 1}},
		&aigateway.Limit{Name: "wide", Per: aigateway.PerTag("team"), LimitRules: twice})
	assert.True(t, admits(both, labelled("a", "search", "one")))
	assert.False(t, admits(both, labelled("a", "search", "one")), "refused by the first limit, counted by none")
	assert.True(t, admits(both, labelled("a", "search", "two")))
	assert.False(t, admits(both, labelled("a", "search", "three")))
	assert.True(t, admits(both, labelled("a", "ads", "three")))
}

// customerBudgets continue with what each customer has spent.
func customerBudgets(t *testing.T, p *Place) {
	l := p.open(t, &aigateway.Limit{Name: "customers", Per: aigateway.PerCustomer, LimitRules: aigateway.LimitRules{Budget: budget(t, "1/month")}})
	assert.NotNil(t, l.ask(labelled("a", "", "acme"), 0, 90*cent).Reservation)
	assert.Nil(t, l.ask(labelled("b", "", "acme"), 0, 20*cent).Reservation)
	l.books.spent = []aigateway.Spent{{By: p.Now(), Nanos: 85 * cent}}
	assert.Nil(t, l.ask(labelled("a", "", "umbrella"), 0, 20*cent).Reservation)
	assert.NotNil(t, l.ask(labelled("a", "", "umbrella"), 0, 10*cent).Reservation)
	assert.Nil(t, l.ask(labelled("b", "", "acme"), 0, 20*cent).Reservation)
}
