package counters

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
)

func TestMemory(t *testing.T) {
	counterstest.Run(t, func(t *testing.T, test func(*testing.T, *counterstest.Place)) {
		place := &counterstest.Place{Open: open, Now: time.Now, Advance: time.Sleep, Rounds: 250}
		if strings.Contains(t.Name(), "L047") {
			test(t, place) // needs goroutines that run in parallel
			return
		}
		synctest.Test(t, func(t *testing.T) { test(t, place) })
	})
}

// open returns counters that are cleaned up at the end of the test.
func open(t *testing.T) aigateway.Counters {
	m := new(Memory)
	t.Cleanup(func() { assert.NoError(t, m.Cleanup()) })
	return m
}

// opened returns a limiter of one limit, with its counts.
func opened(t *testing.T, rules aigateway.LimitRules) (*limiter, *counts) {
	l, err := open(t).Limiter([]*aigateway.Limit{{Name: "small", LimitRules: rules}})
	require.NoError(t, err)
	return l.(*limiter), l.(*limiter).limits[0].counts
}

func rate(number int64, period time.Duration) aigateway.Rate {
	return aigateway.Rate{Most: number, Per: caddy.Duration(period)}
}

func demandOf(n int) aigateway.Demand {
	return aigateway.Demand{Key: &aigateway.Key{ID: strconv.Itoa(n)}, Use: aigateway.Use{Tokens: 1000}}
}

func end(r aigateway.Reservation) {
	r.Settle(aigateway.Use{Tokens: 700})
	r.Release()
}

func TestIdleKeysFreeTheirMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, c := opened(t, aigateway.LimitRules{Requests: rate(9, time.Minute), Concurrent: 9})
		running := l.Admit(t.Context(), demandOf(1)).Reservation
		for n := range 20 * minSweep {
			end(l.Admit(t.Context(), demandOf(n+2)).Reservation)
			if n%minSweep == 0 {
				time.Sleep(2 * time.Minute)
			}
		}
		assert.LessOrEqual(t, len(c.tallies), 2*minSweep+1)
		alice := aigateway.Subject{Per: aigateway.PerKey, Name: "1"}
		require.Contains(t, c.tallies, alice, "a request of alice still runs")
		assert.Equal(t, int64(1), c.tallies[alice].running)
		end(running)
	})
}

// Clients choose customers: a client that invented one for each request took memory for each.
func TestInventedCustomersAreCountedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := open(t).Limiter([]*aigateway.Limit{{Name: "small", Per: aigateway.PerCustomer, LimitRules: aigateway.LimitRules{Requests: rate(2, time.Hour)}}})
		require.NoError(t, err)
		c := l.(*limiter).limits[0].counts
		ask := func(customer string) bool {
			demand := aigateway.Demand{Key: &aigateway.Key{Labels: aigateway.Labels{Customer: customer}}}
			r := l.Admit(t.Context(), demand).Reservation
			if r != nil {
				end(r)
			}
			return r != nil
		}
		for n := range mostLabelled {
			require.True(t, ask(strconv.Itoa(n)))
		}
		assert.True(t, ask("one more"))
		assert.True(t, ask("another"))
		assert.False(t, ask("and another"), "they have the requests of one customer together")
		assert.True(t, ask("7"), "a known customer keeps its own")
		assert.False(t, ask("7"))
		assert.Len(t, c.tallies, mostLabelled+1)
		time.Sleep(2 * time.Hour)
		assert.True(t, ask("and another"))
		assert.Less(t, len(c.tallies), 10, "idle customers make room")
	})
}

// Counts that no configuration uses would otherwise stay in memory.
func TestCountsOfUnusedLimitsAreReleased(t *testing.T) {
	m := new(Memory)
	limit := &aigateway.Limit{Name: "small", LimitRules: aigateway.LimitRules{Concurrent: 1}}
	for range 2 {
		_, err := m.Limiter([]*aigateway.Limit{limit})
		require.NoError(t, err)
	}
	require.NoError(t, m.Cleanup())
	_, known := pool.References(identityOf(limit))
	assert.False(t, known)
}

// If the clock was set forward for a while and then back, the budget would otherwise stay
// in a period of the future.
func TestABudgetFollowsAClockThatIsSetBack(t *testing.T) {
	rule, err := aigateway.ParseBudget("1/month")
	require.NoError(t, err)
	tenth := func(month time.Month) time.Time { return time.Date(2026, month, 10, 0, 0, 0, 0, time.UTC) }
	b := newBudget(&rule, tenth(1), time.UTC)
	b.fill(nil, newWindow(b.pace), tenth(1), tenth(1))
	b.add(5)
	b.advance(b.pace.slot(tenth(7)))
	assert.NotZero(t, b.restored)
	b.add(3)
	b.advance(b.pace.slot(tenth(1)))
	assert.Zero(t, b.restored, "the ledger has to be read again")
	assert.Zero(t, b.used)
}

// slowBooks is a ledger that answers after five seconds.
type slowBooks struct {
	err   error
	calls atomic.Int64
}

func (*slowBooks) Zone() *time.Location { return time.UTC }

func (b *slowBooks) Spent(ctx context.Context, _ *aigateway.Limit, _ *aigateway.Key, _ time.Time) ([]aigateway.Spent, error) {
	b.calls.Add(1)
	select {
	case <-time.After(5 * time.Second):
		return []aigateway.Spent{{By: time.Now(), Nanos: 2e9}}, b.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// If the ledger is unavailable, each waiting request once read it again, one after the
// other: the thirtieth was refused after minutes.
func TestRequestsThatWaitForTheLedgerAreRefusedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, err := aigateway.ParseBudget("1/month")
		require.NoError(t, err)
		l, _ := opened(t, aigateway.LimitRules{Budget: rule})
		books := &slowBooks{err: errors.New("no database")}
		demand := demandOf(1)
		demand.Spending = books
		began := time.Now()
		var requests sync.WaitGroup
		for range 30 {
			requests.Go(func() { assert.ErrorIs(t, l.Admit(t.Context(), demand).Err, books.err) })
		}
		requests.Wait()
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.EqualValues(t, 1, books.calls.Load())
	})
}

// A soft budget once began with nothing if a client left while its request waited for the
// ledger.
func TestAClientThatLeavesEmptiesNoBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, err := aigateway.ParseBudget("1/month")
		require.NoError(t, err)
		rule.Soft = true
		l, _ := opened(t, aigateway.LimitRules{Budget: rule})
		demand := demandOf(1)
		demand.Spending = new(slowBooks)
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		l.Admit(ctx, demand)
		assert.NotNil(t, l.Admit(t.Context(), demand).Exceeded)
	})
}

// newBooks is a ledger without any costs.
type newBooks struct{}

func (newBooks) Zone() *time.Location { return time.UTC }

func (newBooks) Spent(context.Context, *aigateway.Limit, *aigateway.Key, time.Time) ([]aigateway.Spent, error) {
	return nil, nil
}

// nested returns a limiter of three nested limits with rates and budgets, and a demand.
func nested(t testing.TB) (aigateway.Limiter, aigateway.Demand) {
	budget, err := aigateway.ParseBudget("1000000/month")
	require.NoError(t, err)
	l, err := new(Memory).Limiter([]*aigateway.Limit{
		{Name: "own", LimitRules: aigateway.LimitRules{Requests: rate(1e9, time.Minute), Budget: budget}},
		{Name: "team", Per: aigateway.PerGroup, LimitRules: aigateway.LimitRules{Tokens: rate(1e12, time.Minute), Budget: budget}},
		{Name: "all", Per: aigateway.PerGateway, LimitRules: aigateway.LimitRules{Concurrent: 8, Budget: budget}},
	})
	require.NoError(t, err)
	demand := demandOf(1)
	demand.Spending = newBooks{}
	end(l.Admit(t.Context(), demand).Reservation) // reads the ledger
	return l, demand
}

// Each request allocates its reservation alone.
func TestADecisionAllocatesTheReservation(t *testing.T) {
	l, demand := nested(t)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { end(l.Admit(t.Context(), demand).Reservation) }), 1.0)
}

func BenchmarkAdmit(b *testing.B) {
	l, demand := nested(b)
	b.ReportAllocs()
	for b.Loop() {
		end(l.Admit(b.Context(), demand).Reservation)
	}
}

// A request of an old configuration may be the first with the limit of a team. Its counts would
// otherwise never be released, or not be those of the new configuration.
func TestALimiterAfterTheCleanupSharesTheCountsOfTheNewConfiguration(t *testing.T) {
	limits := []*aigateway.Limit{{Name: "late", Per: aigateway.PerGroup, LimitRules: aigateway.LimitRules{Concurrent: 1}}}
	before, after := new(Memory), new(Memory)
	require.NoError(t, before.Cleanup())
	current, err := after.Limiter(limits)
	require.NoError(t, err)
	late, err := before.Limiter(limits)
	require.NoError(t, err)
	assert.NotNil(t, late.Admit(t.Context(), aigateway.Demand{Key: new(aigateway.Key)}).Reservation)
	assert.Nil(t, current.Admit(t.Context(), aigateway.Demand{Key: new(aigateway.Key)}).Reservation)
	require.NoError(t, after.Cleanup())
	_, err = before.Limiter(limits)
	require.NoError(t, err)
	pool.Range(func(key, _ any) bool {
		assert.NotEqual(t, "late", key.(identity).name, "the counts are not released")
		return true
	})
}
