package queue

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var line = &Config{Length: 4, Patience: caddy.Duration(time.Minute)}

// occupied returns queues whose one slot is taken, and what frees it.
func occupied(t *testing.T) (q *Queues, leave func()) {
	q = new(Queues)
	leave = q.TryEnter("q", 1, Request{Tenant: "first"})
	require.NotNil(t, leave)
	require.Nil(t, q.TryEnter("q", 1, Request{}))
	return q, leave
}

// results are how requests ended, in their order: those that were served, and those that were refused,
// with the reason.
type results struct {
	mu  sync.Mutex // guards all
	all []string
}

func (r *results) add(result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, result)
}

func (r *results) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.all, " ")
}

// rest lets a minute pass, in which all that can run does.
func rest() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

// enter lets requests wait in this order, each as "tenant" or "tenant/priority". Each keeps its slot for a
// second.
func enter(q *Queues, c *Config, requests ...string) *results {
	got := new(results)
	for _, request := range requests {
		tenant, name, _ := strings.Cut(request, "/")
		r := Request{Tenant: tenant, Priority: PriorityOf(name)}
		go func() {
			leave, refused := q.Enter(context.Background(), "q", 1, c, r)
			if refused != nil {
				got.add(request + ":" + string(refused.Reason))
				return
			}
			got.add(request)
			time.Sleep(time.Second)
			leave()
		}()
		synctest.Wait()
	}
	return got
}

func TestRequestsAreServedInTurn(t *testing.T) {
	for _, c := range []struct{ requests, want string }{
		{"a a b", "a b a"}, // in turn, though a came first
		{"a a a b", "a b a a"},
		{"a/low b c/high", "c/high b a/low"},
		{"a/high a/high b/high a/low", "a/high b/high a/high a/low"},
		{"a b c d e", "e:full a b c d"},
		{"a/low a/low b/low b c", "a/low:shed b c a/low b/low"},
		{"a/low a b c d/low", "d/low:full a b c a/low"},
		{"a a a a b", "a:shed a b a a"}, // a tenant that filled the queue kept all others out
		{"a a a b c", "a:shed a b c a"},
		{"a a b b b", "b:full a b a b"},
	} {
		synctest.Test(t, func(t *testing.T) {
			q, leave := occupied(t)
			got := enter(q, line, strings.Fields(c.requests)...)
			leave()
			rest()
			assert.Equal(t, c.want, got.String(), c.requests)
			assert.Empty(t, q.gates["q"].tenants, "tenants are forgotten")
			assert.Zero(t, q.gates["q"].running)
			assert.Zero(t, q.Waiting("q"))
		})
	}
}

// A tenant with many long requests kept the slots, and others waited behind all of them.
func TestSlotsAreSharedByTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, served := new(Queues), map[string]*atomic.Int64{"many": new(atomic.Int64), "some": new(atomic.Int64), "few": new(atomic.Int64)}
		c := &Config{Length: 1000, Patience: caddy.Duration(time.Hour)}
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		for tenant, clients := range map[string]int{"many": 400, "some": 100, "few": 30} {
			for range clients {
				all.Go(func() {
					for ctx.Err() == nil {
						leave, refused := q.Enter(ctx, "q", 12, c, Request{Tenant: tenant})
						if refused != nil {
							return
						}
						time.Sleep(time.Second)
						served[tenant].Add(1)
						leave()
					}
				})
			}
		}
		time.Sleep(1000*time.Second + time.Millisecond)
		cancel()
		all.Wait()
		for tenant, n := range served {
			assert.InDelta(t, 4000, n.Load(), 80, tenant)
		}
	})
}

// Half of the slots answer the short requests of a tenant, however long the streams of another one run. Only
// requests of equal length were tried.
func TestLongStreamsLeaveSlotsForShortRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, c := new(Queues), &Config{Length: 1000, Patience: caddy.Duration(time.Hour)}
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		var short atomic.Int64
		for tenant, length := range map[string]time.Duration{"streams": time.Minute, "short": time.Second} {
			for range 50 {
				all.Go(func() {
					for ctx.Err() == nil {
						leave, refused := q.Enter(ctx, "q", 12, c, Request{Tenant: tenant})
						if refused != nil {
							return
						}
						time.Sleep(length)
						if tenant == "short" {
							short.Add(1)
						}
						leave()
					}
				})
			}
		}
		time.Sleep(1000*time.Second + time.Millisecond)
		cancel()
		all.Wait()
		assert.InEpsilon(t, 6*1000, short.Load(), 0.1)
	})
}

func TestAWaitHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, leave := occupied(t)
		time.Sleep(8 * time.Second)
		leave() // requests keep their slot for 8 seconds
		leave()
		leave = q.TryEnter("q", 1, Request{Tenant: "second"})
		began := time.Now()
		_, refused := q.Enter(context.Background(), "q", 1, line, Request{})
		assert.Equal(t, &Refusal{Late, 8 * time.Second}, refused)
		assert.Equal(t, time.Minute, time.Since(began))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, refused = q.Enter(ctx, "q", 1, line, Request{})
		assert.Equal(t, Left, refused.Reason)
		got := enter(q, line, "a", "b", "c", "d", "e")
		assert.Equal(t, "e:full", got.String())
		_, refused = q.Enter(ctx, "q", 1, line, Request{})
		assert.Equal(t, &Refusal{Full, 40 * time.Second}, refused, "behind four others, with 8 seconds each")
		leave()
		rest()
		assert.Zero(t, q.Waiting("q"))
	})
}

// A reload with more slots serves those that wait at the next request.
func TestSlotsMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, leave := occupied(t)
		got := enter(q, line, "a", "b")
		other := q.TryEnter("q", 3, Request{Tenant: "c"})
		synctest.Wait()
		assert.Nil(t, other, "those that wait come first")
		assert.Equal(t, 0, q.Waiting("q"))
		assert.Len(t, got.String(), len("a b"))
		leave()
		rest()
		assert.Zero(t, q.gates["q"].running)
	})
}

func TestQueuesHaveBounds(t *testing.T) {
	assert.NoError(t, (*Config)(nil).Check(0))
	assert.NoError(t, line.Check(1))
	assert.ErrorContains(t, line.Check(0), "queue needs max_running")
	assert.ErrorContains(t, (&Config{}).Check(1), "the length must be 1 to 100000")
	assert.ErrorContains(t, (&Config{Length: 100001}).Check(1), "the length must be 1 to 100000")
	assert.ErrorContains(t, (&Config{Length: 1, Patience: -1}).Check(1), "at most 1h")
}
