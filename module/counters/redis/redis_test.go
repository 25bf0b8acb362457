package redis

import (
	"context"
	"flag"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

// parallel is how many parallel tests run at once: most of them wait for a server or for the
// end of a pause, and not for a processor.
const parallel = "8"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	gatewaytest.Main(m)
}

// serving starts a Redis server for the test, and returns it with a client. It returns
// false if redis-server is not installed.
func serving(t *testing.T) (server *counterstest.RedisServer, client *goredis.Client, ok bool) {
	if server, ok = counterstest.StartRedis(t); !ok {
		return nil, nil, false
	}
	client = goredis.NewClient(&goredis.Options{Addr: server.Address})
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return server, client, true
}

// open returns the counters of a gateway, which are closed at the end of the test. If now is
// nil, they use the clock of the server.
func open(t *testing.T, server *counterstest.RedisServer, now func() int64) *Redis {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	r := &Redis{Connection: redisclient.Connection{Address: server.Address, Timeout: caddy.Duration(10 * time.Second)}}
	require.NoError(t, r.Provision(ctx))
	if c := &r.server.clock; now != nil && c.server == nil { // counters of one configuration share a server
		c.server, c.local = now, func() time.Time { return time.UnixMicro(now()) }
	}
	t.Cleanup(func() { end(t, r) })
	return r
}

// end closes counters. The test need not have released all reservations.
func end(t *testing.T, r *Redis) {
	r.server.backlog.close()
	assert.NoError(t, r.Cleanup())
}

func TestRedis(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	counterstest.Run(t, func(t *testing.T, test func(*testing.T, *counterstest.Place)) {
		require.NoError(t, client.FlushAll(t.Context()).Err())
		var clock atomic.Int64
		clock.Store(time.Now().UnixMicro())
		test(t, &counterstest.Place{
			Open:    func(t *testing.T) aigateway.Counters { return open(t, server, clock.Load) },
			Now:     func() time.Time { return time.UnixMicro(clock.Load()) },
			Advance: func(d time.Duration) { clock.Add(d.Microseconds()) },
			Rounds:  10,
		})
	})
}

// ask sends a request for a part of a budget of one dollar a month.
func ask(t *testing.T, r *Redis, nanos int64) aigateway.Admission {
	l := limiterOf(t, r, aigateway.LimitRules{Concurrent: 99, Budget: budget(t, "1/month")})
	return l.Admit(t.Context(), aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Nanos: nanos}, Spending: ledger{}})
}

// ledger is a ledger in which a tenth of a dollar is spent.
type ledger struct{}

func (ledger) Zone() *time.Location { return time.UTC }

func (ledger) Spent(context.Context, *aigateway.Limit, *aigateway.Key, time.Time) ([]aigateway.Spent, error) {
	return []aigateway.Spent{{By: time.Now(), Nanos: 1e8}}, nil
}

// L053: after a loss of the server's data, budgets are restored from the ledger. L055: after
// a loss of its scripts, they are sent again.
func TestL053L055AServerThatForgetsIsFilledAgain(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	r := open(t, server, nil)
	first := ask(t, r, 8e8)
	require.NotNil(t, first.Reservation, first.Err)
	assert.Nil(t, ask(t, r, 2e8).Reservation)
	require.NoError(t, client.ScriptFlush(t.Context()).Err())
	first.Reservation.Settle(aigateway.Use{Nanos: 1e8})
	assert.NotNil(t, ask(t, r, 8e8).Reservation, "the first request and the ledger have spent a tenth each")
	require.NoError(t, client.FlushAll(t.Context()).Err())
	assert.NotNil(t, ask(t, r, 9e8).Reservation)
	assert.Nil(t, ask(t, r, 1).Reservation)
}

// L056: a server that does not answer.
func TestL056WithoutTheServerOnErrorDecides(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and never answers
	require.NoError(t, err)
	defer silent.Close()
	for _, onError := range []string{deny, allow} {
		r := &Redis{Connection: redisclient.Connection{Address: silent.Addr().String(), Timeout: caddy.Duration(20 * time.Millisecond)}, OnError: onError}
		ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
		require.NoError(t, r.Provision(ctx))
		for range 2 * redisclient.FailuresToRest {
			decision := ask(t, r, 1)
			assert.Equal(t, onError == allow, decision.Reservation != nil)
			assert.Equal(t, onError == deny, decision.Err != nil)
			if decision.Reservation != nil {
				giveBack(decision.Reservation)
			}
		}
		end(t, r)
		cancel()
	}
}

func budget(t *testing.T, text string) aigateway.Budget {
	b, err := aigateway.ParseBudget(text)
	require.NoError(t, err)
	return b
}

// limiterOf returns a limiter of one limit.
func limiterOf(t *testing.T, r *Redis, rules aigateway.LimitRules) aigateway.Limiter {
	l, err := r.Limiter([]*aigateway.Limit{{Name: "small", LimitRules: rules}})
	require.NoError(t, err)
	return l
}

// admit sends a request for a tenth of a dollar to a limiter.
func admit(t *testing.T, l aigateway.Limiter) aigateway.Admission {
	a := l.Admit(t.Context(), aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Tokens: 1, Nanos: 1e8}, Spending: ledger{}})
	require.NoError(t, a.Err)
	return a
}

// L054: the requests of a killed gateway count as running until the end of their lease.
// Requests of a running gateway count for as long as they run.
func TestL054RequestsOfAKilledGatewayCountUntilTheirLeaseIsOver(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	var clock atomic.Int64
	clock.Store(time.Now().UnixMicro())
	pass := func(d time.Duration) { clock.Add(d.Microseconds()) }
	gateway := open(t, server, clock.Load)
	other := limiterOf(t, open(t, server, clock.Load), aigateway.LimitRules{Concurrent: 1})

	require.NotNil(t, admit(t, limiterOf(t, gateway, aigateway.LimitRules{Concurrent: 1})).Reservation)
	pass(lease - time.Second)
	assert.Equal(t, aigateway.ConcurrentRequests, admit(t, other).Reached)
	gateway.server.leases.renew()
	gateway.server.backlog.flush(t.Context(), time.Minute)
	pass(lease - time.Second)
	assert.Equal(t, aigateway.ConcurrentRequests, admit(t, other).Reached, "the lease was renewed")
	require.NoError(t, client.FlushAll(t.Context()).Err())
	gateway.server.leases.renew()
	gateway.server.backlog.flush(t.Context(), time.Minute)
	assert.Equal(t, aigateway.ConcurrentRequests, admit(t, other).Reached, "the server has lost its data")
	pass(lease + time.Second) // without a renewal, as after a kill
	assert.NotNil(t, admit(t, other).Reservation)
}

// Every key on the server expires. The levels of budgets and the budgets of all time once
// stayed for ever. The reservations of requests with only a rate of requests once stayed
// for a day.
func TestNothingStaysOnTheServerForEver(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	r := open(t, server, nil)
	hour := caddy.Duration(time.Hour)
	for _, text := range []string{"1/total", "1/month", "1/30d"} {
		rate := aigateway.Rate{Most: 9, Per: hour}
		a := admit(t, limiterOf(t, r, aigateway.LimitRules{Requests: rate, Tokens: rate, Concurrent: 9, Budget: budget(t, text)}))
		require.NotNil(t, a.Reservation)
		a.Reservation.Settle(aigateway.Use{Tokens: 2, Nanos: 2e8})
	}
	requests := aigateway.LimitRules{Requests: aigateway.Rate{Most: 9, Per: hour}}
	require.NotNil(t, admit(t, limiterOf(t, r, requests)).Reservation)
	ask(t, r, 0) // a request that never ends
	r.server.backlog.flush(t.Context(), time.Minute)
	reservations := 0
	keys, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	assert.Greater(t, len(keys), 6)
	for _, key := range keys {
		lifetime, err := client.PTTL(t.Context(), key).Result()
		require.NoError(t, err)
		assert.Positive(t, lifetime, key)
		reservations += strings.Count(key, "reservation")
		if strings.HasSuffix(key, "total0s") {
			assert.Greater(t, lifetime, 366*24*time.Hour, key)
		}
	}
	assert.Equal(t, 1, reservations, "settled reservations are deleted")
}

// BenchmarkAdmit measures consecutive requests, with all rules of one limit.
func BenchmarkAdmit(b *testing.B) {
	server, ok := counterstest.StartRedis(b)
	if !ok {
		return
	}
	r := &Redis{Connection: redisclient.Connection{Address: server.Address, Timeout: caddy.Duration(time.Second)}, OnError: deny}
	r.server = newServer(r.Client("", backgroundTimeout), time.Duration(r.Timeout), zap.NewNop())
	r.applied = &applied{server: r.Connection}
	rate := aigateway.Rate{Most: 1e9, Per: caddy.Duration(time.Minute)}
	rules := aigateway.LimitRules{Requests: rate, Tokens: rate, Concurrent: 1e6, Budget: aigateway.Budget{Micros: 1e12, Calendar: aigateway.Monthly}}
	l, err := r.Limiter([]*aigateway.Limit{{Name: "small", LimitRules: rules}})
	require.NoError(b, err)
	demand := aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Tokens: 10, Nanos: 10}, Spending: ledger{}}
	b.ReportAllocs()
	for b.Loop() {
		reservation := l.Admit(b.Context(), demand).Reservation
		reservation.Settle(aigateway.Use{Tokens: 5, Nanos: 5})
		reservation.Release()
	}
	b.StopTimer()
	require.NoError(b, r.server.Destruct())
}
