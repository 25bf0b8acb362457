package redis

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/limitstest"
)

// open returns the counters of a gateway until the test ends.
func open(t *testing.T, address string, now func() int64) *Redis {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	r := &Redis{Address: address, Timeout: caddy.Duration(10 * time.Second), now: now}
	require.NoError(t, r.Provision(ctx))
	t.Cleanup(func() { assert.NoError(t, r.Cleanup()) })
	return r
}

func TestRedis(t *testing.T) {
	address, ok := limitstest.StartRedis(t)
	if !ok {
		return
	}
	client := goredis.NewClient(&goredis.Options{Addr: address})
	defer client.Close()
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
	address, ok := limitstest.StartRedis(t)
	if !ok {
		return
	}
	client := goredis.NewClient(&goredis.Options{Addr: address})
	defer client.Close()
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
