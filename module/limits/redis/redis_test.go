package redis

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/limitstest"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

// serving starts a Redis server until the test ends, if there is one to start, and
// returns its address and a client.
func serving(t *testing.T) (address string, client *goredis.Client, ok bool) {
	if address, ok = limitstest.StartRedis(t); !ok {
		return "", nil, false
	}
	client = goredis.NewClient(&goredis.Options{Addr: address})
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return address, client, true
}

// open returns the counters of a gateway until the test ends. Without now, they have the
// clock of the server.
func open(t *testing.T, address string, now func() int64) *Redis {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	r := &Redis{Address: address, Timeout: caddy.Duration(10 * time.Second), now: now}
	if now != nil {
		r.local = func() time.Time { return time.UnixMicro(now()) }
	}
	require.NoError(t, r.Provision(ctx))
	t.Cleanup(func() { assert.NoError(t, r.Cleanup()) })
	return r
}

func TestRedis(t *testing.T) {
	address, client, ok := serving(t)
	if !ok {
		return
	}
	limitstest.Run(t, func(t *testing.T, test func(*testing.T, *limitstest.Place)) {
		require.NoError(t, client.FlushAll(t.Context()).Err())
		var clock atomic.Int64
		clock.Store(time.Now().UnixMicro())
		test(t, &limitstest.Place{
			Open:    func(t *testing.T) aigateway.Counters { return open(t, address, clock.Load) },
			Now:     func() time.Time { return time.UnixMicro(clock.Load()) },
			Advance: func(d time.Duration) { clock.Add(d.Microseconds()) },
			Rounds:  10,
		})
	})
}

// ask asks for a part of a budget of one dollar a month.
func ask(t *testing.T, r *Redis, nanos int64) aigateway.Admission {
	budget, err := aigateway.ParseBudget("1/month")
	require.NoError(t, err)
	l, err := r.Limiter([]*aigateway.Limit{{Name: "small", LimitRules: aigateway.LimitRules{Concurrent: 9, Budget: budget}}})
	require.NoError(t, err)
	return l.Admit(t.Context(), aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Nanos: nanos}, Spending: ledger{}})
}

// ledger has a tenth of a dollar.
type ledger struct{}

func (ledger) Zone() *time.Location { return time.UTC }

func (ledger) Spent(context.Context, *aigateway.Limit, *aigateway.Key, time.Time) ([]aigateway.Spent, error) {
	return []aigateway.Spent{{By: time.Now(), Nanos: 1e8}}, nil
}

// L053: a server that has lost its data is filled from the ledger. L055: one that has lost
// its scripts is sent them again.
func TestL053L055AServerThatForgetsIsFilledAgain(t *testing.T) {
	address, client, ok := serving(t)
	if !ok {
		return
	}
	r := open(t, address, nil)
	first := ask(t, r, 8e8)
	require.NotNil(t, first.Reservation, first.Err)
	assert.Nil(t, ask(t, r, 2e8).Reservation)
	require.NoError(t, client.ScriptFlush(t.Context()).Err())
	first.Reservation.Settle(aigateway.Use{Nanos: 1e8})
	assert.NotNil(t, ask(t, r, 8e8).Reservation, "7 of 10 parts are free, and one more is of the ledger")
	require.NoError(t, client.FlushAll(t.Context()).Err())
	assert.NotNil(t, ask(t, r, 9e8).Reservation)
	assert.Nil(t, ask(t, r, 1).Reservation)
}

// L056: a server that does not answer.
func TestL056WithoutTheServerOnErrorDecides(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts connections, and nothing else
	require.NoError(t, err)
	defer silent.Close()
	for _, onError := range []string{deny, allow} {
		r := &Redis{Address: silent.Addr().String(), OnError: onError, Timeout: caddy.Duration(20 * time.Millisecond)}
		ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
		require.NoError(t, r.Provision(ctx))
		for range 2 * failuresToRest {
			decision := ask(t, r, 1)
			assert.Equal(t, onError == allow, decision.Reservation != nil)
			assert.Equal(t, onError == deny, decision.Err != nil)
		}
		assert.NoError(t, r.Cleanup())
		cancel()
	}
}

// limiterOf returns a limiter of one limit.
func limiterOf(t *testing.T, r *Redis, rules aigateway.LimitRules) aigateway.Limiter {
	l, err := r.Limiter([]*aigateway.Limit{{Name: "small", LimitRules: rules}})
	require.NoError(t, err)
	return l
}

// admit asks a limiter for a tenth of a dollar.
func admit(t *testing.T, l aigateway.Limiter) aigateway.Admission {
	a := l.Admit(t.Context(), aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Tokens: 1, Nanos: 1e8}, Spending: ledger{}})
	require.NoError(t, a.Err)
	return a
}

// L054: a gateway that is killed ends none of its requests. They count as running until
// their lease is over, and those of a gateway that lives count for as long as they run.
func TestL054RequestsOfAKilledGatewayCountUntilTheirLeaseIsOver(t *testing.T) {
	address, ok := limitstest.StartRedis(t)
	if !ok {
		return
	}
	var clock atomic.Int64
	clock.Store(time.Now().UnixMicro())
	pass := func(d time.Duration) { clock.Add(d.Microseconds()) }
	gateway := open(t, address, clock.Load)
	other := limiterOf(t, open(t, address, clock.Load), aigateway.LimitRules{Concurrent: 1})

	require.NotNil(t, admit(t, limiterOf(t, gateway, aigateway.LimitRules{Concurrent: 1})).Reservation)
	pass(lease - time.Second)
	assert.Equal(t, aigateway.ConcurrentRequests, admit(t, other).Reached)
	gateway.server.renewAll()
	gateway.server.flush(t.Context())
	pass(lease - time.Second)
	assert.Equal(t, aigateway.ConcurrentRequests, admit(t, other).Reached, "the lease was renewed")
	pass(2 * time.Second) // without a renewal, as if the gateway was killed
	assert.NotNil(t, admit(t, other).Reservation)
}

// L057: machines whose clocks differ once gave each gateway a window of its own.
func TestL057GatewaysWhoseClocksDifferHaveOneWindow(t *testing.T) {
	address, ok := limitstest.StartRedis(t)
	if !ok {
		return
	}
	budget, err := aigateway.ParseBudget("1/4m")
	require.NoError(t, err)
	period := caddy.Duration(4 * time.Minute) // less than the clocks differ by
	for name, rules := range map[string]aigateway.LimitRules{
		"requests": {Requests: aigateway.Rate{Most: 9, Per: period}},
		"tokens":   {Tokens: aigateway.Rate{Most: 9, Per: period}},
		"budget":   {Budget: budget}, // of which the ledger has a tenth
	} {
		t.Run(name, func(t *testing.T) {
			var gateways [2]aigateway.Limiter
			for i, ahead := range []time.Duration{5 * time.Minute, 0} {
				r := open(t, address, nil)
				r.local = func() time.Time { return time.Now().Add(ahead) }
				gateways[i] = limiterOf(t, r, rules)
			}
			for i := range 9 {
				assert.NotNil(t, admit(t, gateways[i%2]).Reservation, i)
			}
			for _, gateway := range gateways {
				assert.Nil(t, admit(t, gateway).Reservation)
			}
		})
	}
}

// What a key of the gateway leaves behind on the server goes when nobody asks for it
// any more. The levels of budgets and the budgets of all time once stayed for ever.
func TestNothingStaysOnTheServerForEver(t *testing.T) {
	address, client, ok := serving(t)
	if !ok {
		return
	}
	r := open(t, address, nil)
	hour := caddy.Duration(time.Hour)
	for _, text := range []string{"1/total", "1/month", "1/30d"} {
		budget, err := aigateway.ParseBudget(text)
		require.NoError(t, err)
		rate := aigateway.Rate{Most: 9, Per: hour}
		a := admit(t, limiterOf(t, r, aigateway.LimitRules{Requests: rate, Tokens: rate, Concurrent: 9, Budget: budget}))
		require.NotNil(t, a.Reservation)
		a.Reservation.Settle(aigateway.Use{Tokens: 2, Nanos: 2e8})
	}
	r.server.flush(t.Context())
	keys, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	assert.Greater(t, len(keys), 6)
	for _, key := range keys {
		lifetime, err := client.PTTL(t.Context(), key).Result()
		require.NoError(t, err)
		assert.Positive(t, lifetime, key)
		if strings.HasSuffix(key, "total0s") {
			assert.Greater(t, lifetime, 366*24*time.Hour, key)
		}
	}
}
