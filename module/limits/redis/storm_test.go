package redis

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/limitstest"
)

// clients is the number of clients in a crowd. Each sends one request after the other.
const clients = 200

// crowd is the clients of two gateways, which share a budget of one dollar and spend it in
// parts. Its ledger has what they have spent.
type crowd struct {
	gateways [2]gateway
	books
	part int64

	running, admitted, failed, spent atomic.Int64
}

// newCrowd returns a crowd that has spent nothing.
func newCrowd(t *testing.T, server *limitstest.RedisServer) *crowd {
	c := &crowd{part: 1e6}
	c.books.answer = func(context.Context) ([]aigateway.Spent, error) {
		return []aigateway.Spent{{By: time.Now(), Nanos: c.spent.Load()}}, nil
	}
	for i := range c.gateways {
		c.gateways[i] = gatewayWithin(t, server, deny, 100*time.Millisecond)
	}
	return c
}

// run has all clients ask until the budget is used up. at is called when so many requests
// were admitted.
func (c *crowd) run(t *testing.T, at map[int64]func()) {
	var all sync.WaitGroup
	var calls sync.Mutex
	for i := range clients {
		l := limiterOf(t, c.gateways[i%2].Redis, aigateway.LimitRules{Concurrent: 1000, Budget: budget(t, "1/month")})
		all.Go(func() {
			for c.one(t.Context(), l, func(n int64) {
				if do := at[n]; do != nil {
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

// one sends one request, and reports whether there may be room for another one. The request
// settles, and is in the ledger then.
func (c *crowd) one(ctx context.Context, l aigateway.Limiter, admitted func(n int64)) bool {
	a := l.Admit(ctx, aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Nanos: 2 * c.part}, Spending: &c.books})
	switch {
	case a.Err != nil:
		c.failed.Add(1)
		<-time.After(time.Millisecond)
		return true
	case a.Reservation == nil:
		return c.running.Load() > 0 // which use less than they have reserved
	}
	c.running.Add(1)
	admitted(c.admitted.Add(1))
	a.Reservation.Settle(aigateway.Use{Nanos: c.part})
	c.spent.Add(c.part)
	c.running.Add(-1)
	a.Reservation.Release()
	return true
}

// left returns the requests that the budget has room for.
func (c *crowd) left(t *testing.T) int64 {
	l := limiterOf(t, c.gateways[0].Redis, aigateway.LimitRules{Concurrent: 1000, Budget: budget(t, "1/month")})
	before := c.admitted.Load()
	for c.one(t.Context(), l, func(int64) {}) {
		c.gateways[0].server.backlog.flush(t.Context(), patience)
	}
	return c.admitted.Load() - before
}

// most is the number of requests that the budget is enough for: the last part of it is less
// than what a request reserves.
const most = 999

// The server is killed, stops for a while, and forgets its scripts: not one request is
// admitted beyond the budget, and none is refused within it.
func TestTwoGatewaysSpendABudgetExactlyWhateverTheServerDoes(t *testing.T) {
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
	c.left(t)
	assert.EqualValues(t, most, c.admitted.Load())
	c.logs(t)
}

// What ran when the server lost its data may be admitted beyond the budget. What ended
// while the ledger was asked may count twice.
func TestTwoGatewaysGoOnFromTheLedgerWhenTheServerForgets(t *testing.T) {
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
	c.left(t)
	assert.InDelta(t, most, c.admitted.Load(), 2*clients, "of two losses")
	c.logs(t)
}

// logs asserts that the log has the beginning and the end of each outage.
func (c *crowd) logs(t *testing.T) {
	for _, g := range c.gateways {
		ends := []string{"the Redis server of limits does not answer", "the Redis server of limits answers again"}
		for i, entry := range g.logs.All() {
			assert.Equal(t, ends[i%2], entry.Message)
		}
	}
}
