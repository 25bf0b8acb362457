package aigateway_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(Running{})
}

// Running counts running requests, and ignores the other rules of limits. Its
// configuration, which is JSON because Running has no UnmarshalCaddyfile:
//
//	"counters": {"counters": "running"}
type Running struct{}

func (Running) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.counters.running",
		New: func() caddy.Module { return new(Running) },
	}
}

func (Running) Limiter(limits []*aigateway.Limit) (aigateway.Limiter, error) {
	return &runningLimiter{limits: limits, counts: make(map[running]int64)}, nil
}

// running identifies the requests of a subject that a limit counts.
type running struct {
	limit   string
	subject aigateway.Subject
}

type runningLimiter struct {
	limits []*aigateway.Limit

	mu     sync.Mutex // guards counts
	counts map[running]int64
}

func (l *runningLimiter) Admit(_ context.Context, d aigateway.Demand) aigateway.Admission {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, limit := range l.limits {
		if limit.Concurrent > 0 && l.counts[running{limit.Name, limit.Subject(d.Key)}] >= limit.Concurrent {
			return aigateway.Admission{Limit: limit, Reached: aigateway.ConcurrentRequests, RetryAfter: time.Second}
		}
	}
	l.add(d.Key, 1)
	return aigateway.Admission{Reservation: &runningRequest{l, d.Key}}
}

// add counts in every limit. The caller holds the lock.
func (l *runningLimiter) add(key *aigateway.Key, n int64) {
	for _, limit := range l.limits {
		l.counts[running{limit.Name, limit.Subject(key)}] += n
	}
}

type runningRequest struct {
	limiter *runningLimiter
	key     *aigateway.Key
}

func (*runningRequest) Settle(aigateway.Use) {} // neither tokens nor money are counted

func (r *runningRequest) Release() {
	r.limiter.mu.Lock()
	defer r.limiter.mu.Unlock()
	r.limiter.add(r.key, -1)
}

func ExampleCounters() {
	limiter, _ := Running{}.Limiter([]*aigateway.Limit{
		{Name: "small", LimitRules: aigateway.LimitRules{Concurrent: 2}},
		{Name: "team", Per: aigateway.PerGroup, LimitRules: aigateway.LimitRules{Concurrent: 1}},
	})
	alice, bob := aigateway.Demand{Key: &aigateway.Key{ID: "alice"}}, aigateway.Demand{Key: &aigateway.Key{ID: "bob"}}
	first := limiter.Admit(context.Background(), alice)
	second := limiter.Admit(context.Background(), bob)
	fmt.Println("second request refused:", second.Reached, "of", second.Limit.Name)
	first.Reservation.Release()
	third := limiter.Admit(context.Background(), bob)
	fmt.Println("third request admitted:", third.Reservation != nil)
	// Output:
	// second request refused: concurrent request of team
	// third request admitted: true
}
