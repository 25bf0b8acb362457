package counterstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// view returns the use of the limits by a key.
func (l *limiter) view(t *testing.T, key *aigateway.Key) []aigateway.LimitUse {
	t.Helper()
	uses, err := l.Limiter.(aigateway.LimitViewer).View(t.Context(), aigateway.Demand{Key: key, Spending: l.books})
	require.NoError(t, err)
	return uses
}

func views(t *testing.T, p *Place) {
	all := aigateway.LimitRules{Requests: rate(9, time.Hour), Tokens: rate(1000, time.Hour), Concurrent: 5, Budget: budget(t, "0.000001/1h")}
	l := p.open(t, nested(all, aigateway.LimitRules{Budget: budget(t, "0.000001/month")})...)
	bob := keyOf("bobs", "bob")
	for _, use := range l.view(t, alice) {
		assert.Equal(t, aigateway.LimitUse{}, use, "the money is in the ledger")
	}
	assert.Empty(t, l.books.asked, "a view does not read the ledger")

	ask := func(key *aigateway.Key, use aigateway.Use) aigateway.Reservation {
		return reservation(t, l.Admit(t.Context(), aigateway.Demand{Key: key, Use: use, Spending: l.books}))
	}
	running := ask(alice, aigateway.Use{Tokens: 100, Nanos: 300})
	ended := ask(alice, aigateway.Use{Tokens: 200, Nanos: 400})
	ended.Settle(aigateway.Use{Tokens: 50, Nanos: 40})
	ended.Release()
	other := ask(bob, aigateway.Use{Tokens: 1, Nanos: 5})

	for range 2 { // the first view has changed nothing
		uses := l.view(t, alice)
		mine, group := uses[0], uses[1]
		assert.EqualValues(t, 2, mine.Requests.Used)
		assert.EqualValues(t, 50, mine.Tokens.Used)
		assert.EqualValues(t, 100, mine.Tokens.Reserved)
		assert.EqualValues(t, 1, mine.Running)
		require.NotNil(t, mine.Money)
		assert.EqualValues(t, 40, mine.Money.Used)
		assert.EqualValues(t, 300, mine.Money.Reserved)
		require.NotNil(t, group.Money)
		assert.EqualValues(t, 40, group.Money.Used)
		assert.EqualValues(t, 305, group.Money.Reserved)
		for _, reset := range []time.Duration{mine.Requests.Reset, mine.Tokens.Reset, mine.Money.Reset} {
			assert.GreaterOrEqual(t, reset, time.Hour)
			assert.LessOrEqual(t, reset, time.Hour+time.Hour/earlierSlots)
		}
	}
	running.Settle(aigateway.Use{Tokens: 700, Nanos: 900})
	running.Release()
	paid(other, 0)
	mine, group := l.view(t, alice)[0], l.view(t, bob)[1]
	assert.EqualValues(t, 750, mine.Tokens.Used)
	assert.Zero(t, mine.Tokens.Reserved)
	assert.Zero(t, mine.Running)
	assert.EqualValues(t, 940, mine.Money.Used)
	assert.Zero(t, mine.Money.Reserved)
	assert.EqualValues(t, 940, group.Money.Used)
	assert.Zero(t, group.Money.Reserved)
}

// earlierSlots is the number of slots of a sliding period.
const earlierSlots = 60

func viewAfterThePeriod(t *testing.T, p *Place) {
	l := p.one(t, aigateway.LimitRules{Tokens: rate(1000, time.Minute), Budget: budget(t, "1/1m")})
	running := reservation(t, l.Admit(t.Context(), aigateway.Demand{Key: alice, Use: aigateway.Use{Tokens: 100, Nanos: 300}, Spending: l.books}))
	p.Advance(2 * time.Minute)
	assert.Equal(t, aigateway.RuleUse{}, l.view(t, alice)[0].Tokens, "a request that runs for longer than the period reserves nothing")
	running.Settle(aigateway.Use{Tokens: 30, Nanos: 300})
	running.Release()
	assert.Equal(t, aigateway.RuleUse{}, l.view(t, alice)[0].Tokens)
	another := l.pays(t, 5)
	use := l.view(t, alice)[0]
	require.NotNil(t, use.Money)
	assert.Zero(t, use.Money.Used)
	assert.EqualValues(t, 5, use.Money.Reserved)
	paid(another, 0)
}
