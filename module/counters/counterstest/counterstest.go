// Package counterstest is the conformance suite of counters. Every module of the namespace
// ai_gateway.counters must pass it.
package counterstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Place contains the counters of a test, and their clock.
type Place struct {
	// Open returns the counters of a new configuration, which share their counts.
	Open func(t *testing.T) aigateway.Counters
	// Now returns the time of the counters.
	Now func() time.Time
	// Advance lets time pass.
	Advance func(time.Duration)
	// Rounds is the number of repetitions of tests with many goroutines.
	Rounds int
}

// Run runs the suite. The function in runs each test with a Place of its own.
func Run(t *testing.T, each func(t *testing.T, test func(t *testing.T, p *Place))) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Place)
	}{
		{"no period has more requests than the rate", noPeriodHasMore},
		{"a request is admitted after RetryAfter and not earlier", retryAfterIsExact},
		{"quotas show the unused part and the time of the reset", quotas},
		{"the rule with the longest wait is reported", longestWait},
		{"a request with more tokens than the rate is too large", tooLarge},
		{"Settle replaces reserved tokens by used ones", settleReplaces},
		{"Settle after the period subtracts nothing twice", settleAfterThePeriod},
		{"a settled request runs until it is released", settledRuns},
		{"running requests never exceed their rule", runningNeverExceed},
		{"consecutive requests are not concurrent", oneAfterTheOther},
		{"a reload keeps counts unless periods change", reload},

		{"scopes determine which keys count together", scopes},
		{"tags and customers count, whichever key a request has", labels},
		{"a budget of a customer continues with the costs of the customer", customerBudgets},
		{"limits admit together or not at all", allOrNone},
		{"the limit that refuses for longest is reported", refusingLimit},
		{"limits that several limiters share are counted once", sharedLimits},

		{"L047 exactly as many concurrent requests are admitted as the limits allow", exactlyAsMany},
		{"L048 a settlement below the bound frees the rest", settledBelowBound},
		{"a request at no cost needs no budget", freeOfCharge},
		{"a budget of 0 admits what costs nothing", budgetOfZero},
		{"L049 money counts in the month of the admission", monthOfAdmission},
		{"L050 a budget continues with the costs in the ledger", restored},
		{"a budget that is set again continues with the costs in the ledger", resumed},
		{"L052 Settle counts once", settleOnce},
		{"a cost that becomes known later replaces what was counted, whichever gateway learns it", amended},
		{"money of a sliding period is free after it", slidingBudget},
		{"a total budget has no end", totalBudget},
		{"a soft budget refuses nothing", softBudget},
		{"a budget that cannot be read decides nothing", unreadable},
		{"a budget reaches a level once in a period", levels},
		{"a budget that lacks the money for a request is at its last level", lacking},
		{"a larger budget lowers the level", raised},

		{"a view shows what is used, reserved and running, and changes nothing", views},
		{"a view shows no use of an earlier period", viewAfterThePeriod},
	} {
		t.Run(test.name, func(t *testing.T) { each(t, test.run) })
	}
}

func rate(limit int64, period time.Duration) aigateway.Rate {
	return aigateway.Rate{Most: limit, Per: caddy.Duration(period)}
}

// budget parses a budget.
func budget(t *testing.T, text string) aigateway.Budget {
	t.Helper()
	b, err := aigateway.ParseBudget(text)
	require.NoError(t, err)
	return b
}

// keyOf returns the key of a user.
func keyOf(id, owner string) *aigateway.Key { return &aigateway.Key{ID: id, Owner: owner} }

var alice = keyOf("laptop", "alice")

// limiter is a limiter with its ledger and the clock of its Place.
type limiter struct {
	*Place
	aigateway.Limiter
	books *books
}

// open returns a limiter with an empty ledger.
func (p *Place) open(t *testing.T, limits ...*aigateway.Limit) *limiter {
	t.Helper()
	return p.openIn(t, p.Open(t), limits...)
}

func (p *Place) openIn(t *testing.T, c aigateway.Counters, limits ...*aigateway.Limit) *limiter {
	t.Helper()
	for _, l := range limits {
		require.NoError(t, l.Check())
	}
	l, err := c.Limiter(limits)
	require.NoError(t, err)
	return &limiter{Place: p, Limiter: l, books: new(books)}
}

// one returns a limiter of one limit.
func (p *Place) one(t *testing.T, rules aigateway.LimitRules) *limiter {
	t.Helper()
	return p.open(t, &aigateway.Limit{Name: "small", LimitRules: rules})
}

// ask sends a request with its expected use.
func (l *limiter) ask(key *aigateway.Key, tokens, nanos int64) aigateway.Admission {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return l.Admit(ctx, aigateway.Demand{Key: key, Use: aigateway.Use{Tokens: tokens, Nanos: nanos}, Spending: l.books})
}

// admits sends a request for tokens, and returns its reservation, or nil if it is refused.
func (l *limiter) admits(t *testing.T, tokens int64) aigateway.Reservation {
	t.Helper()
	return reservation(t, l.ask(alice, tokens, 0))
}

// pays sends a request for money, and returns its reservation, or nil if it is refused.
func (l *limiter) pays(t *testing.T, nanos int64) aigateway.Reservation {
	t.Helper()
	return reservation(t, l.ask(alice, 0, nanos))
}

func reservation(t *testing.T, a aigateway.Admission) aigateway.Reservation {
	t.Helper()
	require.NoError(t, a.Err)
	assert.Equal(t, a.Reached == "", a.Reservation != nil)
	assert.Equal(t, a.Reached == "", a.Limit == nil)
	return a.Reservation
}

// end ends a request that has used tokens.
func end(r aigateway.Reservation, tokens int64) {
	r.Settle(aigateway.Use{Tokens: tokens})
	r.Release()
}

// paid ends a request that has cost money.
func paid(r aigateway.Reservation, nanos int64) {
	r.Settle(aigateway.Use{Nanos: nanos})
	r.Release()
}

// books is a ledger whose contents a test sets.
type books struct {
	mu    sync.Mutex
	spent []aigateway.Spent
	err   error
	asked []time.Time
}

func (*books) Zone() *time.Location { return berlin }

var berlin = func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
}()

func (b *books) Spent(_ context.Context, _ *aigateway.Limit, _ *aigateway.Key, since time.Time) ([]aigateway.Spent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, since)
	return b.spent, b.err
}
