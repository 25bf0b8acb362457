package counterstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func scopes(t *testing.T, p *Place) {
	laptop, phone := keyOf("laptop", "alice"), keyOf("phone", "alice")
	bobs, nobodys, another := keyOf("bobs", "bob"), keyOf("ci", ""), keyOf("cd", "")
	for scope, admitted := range map[aigateway.Scope][]bool{
		aigateway.PerKey:     {true, true, true, true, true},
		"":                   {true, false, true, true, true},
		aigateway.PerUser:    {true, false, true, true, true},
		aigateway.PerGroup:   {true, false, false, false, false},
		aigateway.PerGateway: {true, false, false, false, false},
	} {
		l := p.open(t, &aigateway.Limit{Name: "per-" + string(scope), Per: scope, LimitRules: aigateway.LimitRules{Requests: rate(1, time.Hour)}})
		for i, key := range []*aigateway.Key{laptop, phone, bobs, nobodys, another} {
			assert.Equal(t, admitted[i], l.ask(key, 0, 0).Reservation != nil, "per %s: %s", scope, key.ID)
		}
	}
}

// nested returns a limit for each user, and a limit for the group around it.
func nested(user, group aigateway.LimitRules) []*aigateway.Limit {
	return []*aigateway.Limit{
		{Name: "user", LimitRules: user}, {Name: "group", Per: aigateway.PerGroup, LimitRules: group},
	}
}

// A request that the outer limit refuses must not count for the inner limit.
func allOrNone(t *testing.T, p *Place) {
	l := p.open(t, nested(
		aigateway.LimitRules{Requests: rate(3, time.Hour), Tokens: rate(1000, time.Hour), Concurrent: 5},
		aigateway.LimitRules{Requests: rate(4, time.Hour), Tokens: rate(800, time.Hour)},
	)...)
	bob := keyOf("bobs", "bob")
	end(l.ask(alice, 500, 0).Reservation, 500)
	refused := l.ask(bob, 400, 0)
	assert.Equal(t, "group", refused.Limit.Name)
	assert.Equal(t, aigateway.TokenRate, refused.Reached)
	assert.Equal(t, int64(3), refused.Requests.Remaining, "both limits have three left")
	assert.Equal(t, int64(300), refused.Tokens.Remaining, "the smaller remainder is shown")
	last := l.ask(bob, 300, 0)
	assert.NotNil(t, last.Reservation)
	assert.Equal(t, int64(2), last.Requests.Remaining)
	assert.Zero(t, last.Tokens.Remaining)
	end(last.Reservation, 0)
	assert.NotNil(t, l.ask(alice, 300, 0).Reservation, "unused tokens are free in all limits")
}

func refusingLimit(t *testing.T, p *Place) {
	l := p.open(t, nested(
		aigateway.LimitRules{Requests: rate(1, time.Hour)},
		aigateway.LimitRules{Requests: rate(2, time.Minute)},
	)...)
	assert.Nil(t, l.ask(alice, 0, 0).Limit)
	assert.Equal(t, "user", l.ask(alice, 0, 0).Limit.Name)
	bob := keyOf("bobs", "bob")
	assert.Nil(t, l.ask(bob, 0, 0).Limit)
	assert.Equal(t, "user", l.ask(bob, 0, 0).Limit.Name, "an hour is longer than a minute")
	assert.Equal(t, "group", l.ask(keyOf("carols", "carol"), 0, 0).Limit.Name)
}

func sharedLimits(t *testing.T, p *Place) {
	group := func() *aigateway.Limit {
		return &aigateway.Limit{Name: "group", Per: aigateway.PerGroup, LimitRules: aigateway.LimitRules{Requests: rate(2, time.Hour)}}
	}
	named := func(name string) *aigateway.Limit {
		return &aigateway.Limit{Name: name, LimitRules: aigateway.LimitRules{Requests: rate(2, time.Hour)}}
	}
	c := p.Open(t)
	first, second, alone := p.openIn(t, c, named("first"), group()), p.openIn(t, c, named("second"), group()), p.openIn(t, c, group())
	assert.NotNil(t, first.admits(t, 0))
	assert.NotNil(t, second.admits(t, 0))
	for _, l := range []*limiter{first, second, alone} {
		assert.Equal(t, "group", l.ask(alice, 0, 0).Limit.Name)
	}
}
