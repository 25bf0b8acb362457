package redis

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
)

// clients is the number of clients in a crowd. Each of them sends requests one by one.
const clients = 200

// crowd contains the clients of two gateways. The clients share a budget of one dollar, and
// spend it in parts. The ledger contains the money that they have spent.
type crowd struct {
	gateways [2]gateway
	books
	part int64

	running, admitted, failed, spent atomic.Int64
}

// newCrowd returns a crowd that has spent nothing.
func newCrowd(t *testing.T, server *counterstest.RedisServer) *crowd {
	c := &crowd{part: 1e6}
	c.books.answer = func(context.Context) ([]aigateway.Spent, error) {
		return []aigateway.Spent{{By: time.Now(), Nanos: c.spent.Load()}}, nil
	}
	for i := range c.gateways {
		c.gateways[i] = gatewayWithin(t, server, deny, 100*time.Millisecond)
		// A gateway may read the ledger anew with its first request, and count twice what ends meanwhile.
		l := limiterOf(t, c.gateways[i].Redis, aigateway.LimitRules{Budget: budget(t, "1/month")})
		require.Eventually(t, func() bool {
			a := l.Admit(t.Context(), aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Spending: &c.books})
			return a.Err == nil
		}, patience, time.Millisecond)
	}
	return c
}

// run lets all clients send requests until the budget is used up. After n admitted requests,
// it calls at[n].
func (c *crowd) run(t *testing.T, steps map[int64]func()) {
	var all sync.WaitGroup
	var calls sync.Mutex
	for i := range clients {
		l := limiterOf(t, c.gateways[i%2].Redis, aigateway.LimitRules{Concurrent: 1000, Budget: budget(t, "1/month")})
		all.Go(func() {
			for c.one(t.Context(), l, func(n int64) {
				if do := steps[n]; do != nil {
					calls.Lock()
					defer calls.Unlock()
					do()
				}
			}) {
			}
		})
	}
	all.Wait()
	for _, g := range c.gateways {
		g.server.backlog.flush(t.Context(), patience)
	}
}

// one sends one request, and reports whether there may be room for another one. An admitted
// request is settled, and its cost is added to the ledger.
func (c *crowd) one(ctx context.Context, l aigateway.Limiter, admitted func(n int64)) bool {
	a := l.Admit(ctx, aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Nanos: 2 * c.part}, Spending: &c.books})
	switch {
	case a.Err != nil:
		c.failed.Add(1)
		<-time.After(time.Millisecond)
		return true
	case a.Reservation == nil:
		return c.running.Load() > 0 // running requests cost less than they have reserved
	}
	c.running.Add(1)
	admitted(c.admitted.Add(1))
	a.Reservation.Settle(aigateway.Use{Nanos: c.part})
	c.spent.Add(c.part)
	c.running.Add(-1)
	a.Reservation.Release()
	return true
}

// useUp admits requests until the budget refuses one.
func (c *crowd) useUp(t *testing.T) {
	l := limiterOf(t, c.gateways[0].Redis, aigateway.LimitRules{Concurrent: 1000, Budget: budget(t, "1/month")})
	for c.one(t.Context(), l, func(int64) {}) {
		c.gateways[0].server.backlog.flush(t.Context(), patience)
	}
}

// limit is the number of requests for which the budget is enough. Its last part cannot be
// spent, because a request reserves two parts.
const limit = 999

// The server is killed, stops for a while, and loses its scripts. No request is admitted
// beyond the budget, and none is refused within it.
func TestTwoGatewaysSpendABudgetExactlyWhateverTheServerDoes(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	c := newCrowd(t, server)
	restart := func() {
		server.Kill()
		server.Start()
	}
	stall := func() {
		server.Stall()
		for begin := c.failed.Load(); c.failed.Load() < begin+100; {
			c.one(t.Context(), limiterOf(t, c.gateways[0].Redis, aigateway.LimitRules{Concurrent: 1000, Budget: budget(t, "1/month")}), func(int64) {})
		}
		server.Resume()
	}
	c.run(t, map[int64]func(){
		100: restart, 200: func() { client.ScriptFlush(t.Context()) }, 300: stall, 500: restart, 700: stall,
	})
	c.useUp(t)
	assert.EqualValues(t, limit, c.admitted.Load())
	c.logs(t)
}

// After a loss of data, the requests that ran at that time may exceed the budget. Requests
// that ended while the ledger was read may count twice.
func TestTwoGatewaysGoOnFromTheLedgerWhenTheServerForgets(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	c := newCrowd(t, server)
	c.run(t, map[int64]func(){
		200: func() {
			server.Kill()
			server.Forget()
			server.Start()
		},
		500: func() { client.FlushAll(t.Context()) },
	})
	c.useUp(t)
	assert.InDelta(t, limit, c.admitted.Load(), 2*clients, "each of the two losses may add one request of each client")
	c.logs(t)
}

// logs asserts that beginnings and ends of outages alternate in the log.
func (c *crowd) logs(t *testing.T) {
	for _, g := range c.gateways {
		ends := []string{"the Redis server of limits does not answer", "the Redis server of limits answers again"}
		for i, entry := range g.logs.All() {
			assert.Equal(t, ends[i%2], entry.Message)
		}
	}
}
