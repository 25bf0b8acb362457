package redis

import (
	"context"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

// tenth is a tenth of the budget of these tests, which is one dollar. According to the
// ledger, a tenth is spent.
const tenth = 1e8

// patience is the longest wait for work in the background.
const patience = 30 * time.Second

// gateway contains the counters of one gateway, and their log.
type gateway struct {
	*Redis
	logs *observer.ObservedLogs
}

// gatewayOn returns a gateway that is closed at the end of the test.
func gatewayOn(t *testing.T, server *counterstest.RedisServer, onError string) gateway {
	return gatewayWithin(t, server, onError, 10*time.Second)
}

// gatewayWithin returns a gateway with a timeout.
func gatewayWithin(t *testing.T, server *counterstest.RedisServer, onError string, timeout time.Duration) gateway {
	core, logs := observer.New(zapcore.InfoLevel)
	r := &Redis{Connection: redisclient.Connection{Address: server.Address, Timeout: caddy.Duration(timeout)}, OnError: onError}
	r.server, r.applied = newServer(r.Client("", backgroundTimeout), timeout, zap.New(core)), &applied{server: r.Connection}
	t.Cleanup(r.server.backlog.close)
	return gateway{r, logs}
}

// admitsSoon waits until the server admits a request for nanos.
func (g gateway) admitsSoon(t *testing.T, nanos int64) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		a := ask(t, g.Redis, nanos)
		assert.NoError(c, a.Err)
		if assert.NotNil(c, a.Reservation) {
			giveBack(a.Reservation)
		}
	}, patience, 50*time.Millisecond)
}

// spend ends a request that has cost nanos.
func (g gateway) spend(r aigateway.Reservation, nanos int64) {
	r.Settle(aigateway.Use{Nanos: nanos})
	r.Release()
}

// reserve returns the reservation of an admitted request for nanos.
func (g gateway) reserve(t *testing.T, nanos int64) aigateway.Reservation {
	t.Helper()
	a := ask(t, g.Redis, nanos)
	require.NoError(t, a.Err)
	require.NotNil(t, a.Reservation)
	return a.Reservation
}

// assertLeft asserts that exactly nanos of the budget are left.
func (g gateway) assertLeft(t *testing.T, nanos int64) {
	t.Helper()
	g.server.backlog.flush(t.Context(), patience)
	assert.Equal(t, aigateway.MoneyBudget, ask(t, g.Redis, nanos+1).Reached, "more is left")
	a := ask(t, g.Redis, nanos)
	if assert.NotNil(t, a.Reservation, "less is left") {
		giveBack(a.Reservation)
	}
}

func TestWhatEndsDuringAnOutageIsSettledAfterIt(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, deny)
	r := g.reserve(t, 9*tenth)
	server.Kill()
	g.spend(r, 2*tenth)
	require.Error(t, ask(t, g.Redis, tenth).Err)
	server.Start()
	g.admitsSoon(t, 7*tenth)
}

// A settlement without a reservation once added the used amount, even to a budget that was
// restored meanwhile from a ledger that contained the amount.
func TestWhatTheLedgerHasIsNotAddedAgain(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, deny)
	before, during := g.reserve(t, tenth), g.reserve(t, tenth)
	server.Kill()
	g.spend(before, tenth) // the ledger contains this tenth
	// Whether a request ended before the restoration is known no better than the time that the calls
	// take: on a busy machine, the server restarted within it, and the tenth was added.
	ended := time.Now()
	require.Eventually(t, func() bool { return time.Since(ended) > time.Second }, patience, 50*time.Millisecond)
	server.Forget()
	server.Start()
	g.admitsSoon(t, 0)
	g.assertLeft(t, 9*tenth)
	g.spend(during, 3*tenth) // the ledger does not contain this amount
	g.assertLeft(t, 6*tenth)
}

// If the server admitted a request and answered too late, the request was once refused with
// 503, and counted until the period ended: a slow server used up all budgets.
func TestARequestWhoseAnswerWasLateIsGivenBack(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayWithin(t, server, deny, 200*time.Millisecond)
	g.admitsSoon(t, 0)
	server.Stall()
	require.Error(t, ask(t, g.Redis, 5*tenth).Err)
	server.Resume()
	g.admitsSoon(t, 9*tenth)
}

// The settlement may arrive before the call of admit, which uses another connection.
func TestARequestThatWasGivenBackIsNotAdmitted(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, deny)
	g.admitsSoon(t, 0)
	l := limiterOf(t, g.Redis, aigateway.LimitRules{Budget: budget(t, "1/month")}).(*limiter)
	q := newAdmitCall(l.limits, &aigateway.Demand{Key: &aigateway.Key{ID: "k"}, Use: aigateway.Use{Nanos: tenth}, Spending: ledger{}}, &g.server.clock, time.Now())
	giveBack(newReservation(q, g.server))
	g.server.backlog.flush(t.Context(), patience)
	_, err := g.server.ask(q)
	assert.ErrorIs(t, err, errAnswerLength)
	g.assertLeft(t, 9*tenth)
}

// Requests that were served during an outage once did not count, so that their budget could
// be spent again.
func TestWhatIsServedDuringAnOutageCountsAfterIt(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, allow)
	g.assertLeft(t, 9*tenth)
	g.server.backlog.flush(t.Context(), patience)
	server.Kill()
	for range redisclient.FailuresToRest + 1 {
		g.spend(g.reserve(t, 9*tenth), tenth)
	}
	server.Start()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		a := ask(t, g.Redis, 9*tenth)
		if a.Reservation != nil { // the server still rests, or has not the settlements yet
			giveBack(a.Reservation)
		}
		assert.Equal(c, aigateway.MoneyBudget, a.Reached)
	}, patience, 50*time.Millisecond)
	g.assertLeft(t, 3*tenth)
}

func TestASettlementThatIsRepeatedCountsOnce(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, deny)
	r := g.reserve(t, 9*tenth)
	server.Stall() // so that the settlement still waits
	r.Settle(aigateway.Use{Nanos: 2 * tenth})
	repeated := g.server.backlog.next()[0].(*settlement)
	server.Resume()
	g.assertLeft(t, 7*tenth)
	repeated.failed(context.DeadlineExceeded)
	g.server.backlog.add(repeated)
	g.assertLeft(t, 7*tenth)
}

// Clients that left during a call once counted as failures of the server: after five of
// them, all requests of a second were refused.
func TestClientsThatLeaveAreNoOutage(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, deny)
	gone, leave := context.WithCancel(t.Context())
	leave()
	l := limiterOf(t, g.Redis, aigateway.LimitRules{Concurrent: 99})
	for range 2 * redisclient.FailuresToRest {
		l.Admit(gone, aigateway.Demand{Key: &aigateway.Key{ID: "k"}})
	}
	assert.NotNil(t, l.Admit(t.Context(), aigateway.Demand{Key: &aigateway.Key{ID: "k"}}).Reservation)
}

// A server that became a replica refuses all changes.
func TestAReplicaIsAnOutage(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, deny)
	r := g.reserve(t, 9*tenth)
	require.NoError(t, client.SlaveOf(t.Context(), "127.0.0.1", "1").Err())
	g.spend(r, 2*tenth)
	assert.ErrorContains(t, ask(t, g.Redis, 0).Err, "READONLY")
	require.NoError(t, client.SlaveOf(t.Context(), "NO", "ONE").Err())
	g.admitsSoon(t, 7*tenth)
}

// A stopped Redis was only known to the metrics, and to requests that were refused.
func TestAnOutageIsKnownWithoutRequests(t *testing.T) {
	t.Parallel()
	server, client, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, deny)
	g.server.watcher.Go(g.server.watch)
	t.Cleanup(func() { close(g.server.stop); g.server.watcher.Wait(); _ = g.server.client.Close() })
	require.NoError(t, g.Degraded())
	for name, outage := range map[string]struct{ begin, end func() }{
		"stopped": {server.Kill, server.Start},
		"a replica": {
			func() { require.NoError(t, client.SlaveOf(t.Context(), "127.0.0.1", "1").Err()) },
			func() { require.NoError(t, client.SlaveOf(t.Context(), "NO", "ONE").Err()) },
		},
	} {
		outage.begin()
		require.Eventually(t, func() bool { return g.Degraded() != nil }, patience, 50*time.Millisecond, name)
		outage.end()
		require.Eventually(t, func() bool { return g.Degraded() == nil }, patience, 50*time.Millisecond, name)
	}
}

func TestAnOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	g := gatewayOn(t, server, deny)
	for range 2 {
		r := g.reserve(t, 0)
		server.Kill()
		g.spend(r, 0)
		for range 5 * redisclient.FailuresToRest {
			require.Error(t, ask(t, g.Redis, 0).Err)
		}
		server.Start()
		g.admitsSoon(t, 0)
	}
	var messages []string
	for _, entry := range g.logs.TakeAll() {
		messages = append(messages, entry.Level.String()+": "+entry.Message)
	}
	begins, ends := "error: the Redis server of limits does not answer", "info: the Redis server of limits answers again"
	assert.Equal(t, []string{begins, ends, begins, ends}, messages)
}

// A reload with other settings of the server once closed the client of the old ones:
// requests that still ran were never settled.
func TestARequestThatOutlivesItsConfigurationIsSettled(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	before := &Redis{Connection: redisclient.Connection{Address: server.Address, Timeout: caddy.Duration(9 * time.Second)}}
	require.NoError(t, before.Provision(ctx))
	running := gateway{Redis: before}.reserve(t, 9*tenth)
	require.NoError(t, before.Cleanup())
	_, known := pool.References(before.Connection)
	assert.False(t, known)
	gateway{}.spend(running, 2*tenth)
	assert.Error(t, before.server.client.Ping(t.Context()).Err(), "the last request closes the client")
	gatewayOn(t, server, deny).assertLeft(t, 7*tenth)
}
