package redis

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// books is a ledger whose answer a test sets.
type books struct {
	asked  atomic.Int64
	answer func(context.Context) ([]aigateway.Spent, error)
}

func (*books) Zone() *time.Location { return time.UTC }

func (b *books) Spent(ctx context.Context, _ *aigateway.Limit, _ *aigateway.Key, _ time.Time) ([]aigateway.Spent, error) {
	b.asked.Add(1)
	return b.answer(ctx)
}

// demandOf returns a demand for a tenth of a budget, with a ledger.
func demandOf(b *books) aigateway.Demand {
	return aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Nanos: tenth}, Spending: b}
}

// The ledger was once read with the context of the first client. When that client left, all
// others were refused, or read the ledger again one after the other.
func TestAClientThatLeavesDoesNotEndARestore(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	begun, proceed := make(chan struct{}), make(chan struct{})
	b := &books{answer: func(ctx context.Context) ([]aigateway.Spent, error) {
		close(begun)
		<-proceed
		return nil, ctx.Err()
	}}
	l := limiterOf(t, gatewayOn(t, server, deny).Redis, aigateway.LimitRules{Budget: budget(t, "1/month")})
	first, leave := context.WithCancel(t.Context())
	left, stayed := make(chan aigateway.Admission), make(chan aigateway.Admission)
	go func() { left <- l.Admit(first, demandOf(b)) }()
	<-begun
	go func() { stayed <- l.Admit(t.Context(), demandOf(b)) }()
	leave()
	assert.ErrorIs(t, (<-left).Err, context.Canceled)
	close(proceed)
	a := <-stayed
	assert.NoError(t, a.Err)
	assert.NotNil(t, a.Reservation)
	assert.EqualValues(t, 1, b.asked.Load())
}

// After a panic, the budget once counted as being restored for ever, and all requests waited
// for that.
func TestAPanicOfTheLedgerPasses(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	var healed atomic.Bool
	b := &books{answer: func(context.Context) ([]aigateway.Spent, error) {
		if !healed.Load() {
			panic("a bug")
		}
		return nil, nil
	}}
	l := limiterOf(t, gatewayOn(t, server, deny).Redis, aigateway.LimitRules{Budget: budget(t, "1/month")})
	assert.ErrorContains(t, l.Admit(t.Context(), demandOf(b)).Err, "panic: a bug")
	healed.Store(true)
	assert.Eventually(t, func() bool { return l.Admit(t.Context(), demandOf(b)).Reservation != nil }, patience, 50*time.Millisecond)
}

// With on_error allow, requests were once served without limits if the ledger could not be
// read, as if the server did not answer.
func TestALedgerThatFailsIsNoOutageOfTheServer(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	b := &books{answer: func(context.Context) ([]aigateway.Spent, error) { return nil, errors.New("no database") }}
	l := limiterOf(t, gatewayOn(t, server, allow).Redis, aigateway.LimitRules{Budget: budget(t, "1/month")})
	assert.EqualError(t, l.Admit(t.Context(), demandOf(b)).Err, "restoring a budget: no database")
}

// Whether a budget was read since a gateway applies it was once compared with the time at which a call arrived:
// if the first call of a gateway was faster than a later one, the budget was read again, and lost the requests
// whose settlements were on their way.
func TestASlowCallDoesNotReadTheLedgerAgain(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	b := &books{answer: func(context.Context) ([]aigateway.Spent, error) { return nil, nil }}
	now := time.Now()
	for name, wayOfCalls := range map[string][]time.Duration{
		"at once":      {0, time.Second},
		"a fast one":   {time.Minute, time.Second, time.Hour, 2 * time.Second},
		"slow at last": {time.Second, time.Second, time.Second, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var way time.Duration
			r := machine(t, server, func() time.Time { return now })
			r.server.clock.server = func() int64 { return now.Add(way).UnixMicro() }
			l := limiterOf(t, r, aigateway.LimitRules{Budget: budget(t, "1/month")})
			require.NoError(t, client.FlushAll(t.Context()).Err())
			b.asked.Store(0)
			for _, way = range wayOfCalls {
				assert.NotNil(t, l.Admit(t.Context(), demandOf(b)).Reservation, way)
			}
			assert.EqualValues(t, 1, b.asked.Load())
		})
	}
}
