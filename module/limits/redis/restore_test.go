package redis

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// books are a ledger whose answer a test decides.
type books struct {
	asked  atomic.Int64
	answer func(context.Context) ([]aigateway.Spent, error)
}

func (*books) Zone() *time.Location { return time.UTC }

func (b *books) Spent(ctx context.Context, _ *aigateway.Limit, _ *aigateway.Key, _ time.Time) ([]aigateway.Spent, error) {
	b.asked.Add(1)
	return b.answer(ctx)
}

// demandOf returns a demand for a part of a budget that a ledger knows.
func demandOf(b *books) aigateway.Demand {
	return aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Nanos: tenth}, Spending: b}
}

// The ledger was once asked in the name of the client that came first: when it left, all
// others were refused, or asked anew one after the other.
func TestAClientThatLeavesDoesNotEndARestore(t *testing.T) {
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

// A panic once left the budget in the state of being restored, for which all requests of
// its subject waited from then on.
func TestAPanicOfTheLedgerPasses(t *testing.T) {
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

// With on_error allow, a ledger that could not be read once let requests exceed their
// budget, as if the counters were away.
func TestALedgerThatFailsIsNoOutageOfTheServer(t *testing.T) {
	server, _, ok := serving(t)
	if !ok {
		return
	}
	b := &books{answer: func(context.Context) ([]aigateway.Spent, error) { return nil, errors.New("no database") }}
	l := limiterOf(t, gatewayOn(t, server, allow).Redis, aigateway.LimitRules{Budget: budget(t, "1/month")})
	assert.EqualError(t, l.Admit(t.Context(), demandOf(b)).Err, "restoring a budget: no database")
}
