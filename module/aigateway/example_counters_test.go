package aigateway_test

import (
	"cmp"
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

func (Running) Limiter(_ string, rules aigateway.LimitRules) (aigateway.Limiter, error) {
	return &runningLimiter{limit: rules.Concurrent, counts: make(map[string]int64)}, nil
}

type runningLimiter struct {
	limit int64

	mu     sync.Mutex // guards counts
	counts map[string]int64
}

func (l *runningLimiter) Admit(_ context.Context, key *aigateway.Key, _ int64) aigateway.Admission {
	subject := cmp.Or(key.Subject, key.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit > 0 && l.counts[subject] >= l.limit {
		return aigateway.Admission{Reached: aigateway.ConcurrentRequests, RetryAfter: time.Second}
	}
	l.counts[subject]++
	return aigateway.Admission{Reservation: &runningRequest{l, subject}}
}

type runningRequest struct {
	limiter *runningLimiter
	subject string
}

func (*runningRequest) Settle(int64) {} // tokens are not counted

func (r *runningRequest) Release() {
	r.limiter.mu.Lock()
	defer r.limiter.mu.Unlock()
	r.limiter.counts[r.subject]--
}

func ExampleCounters() {
	limiter, _ := Running{}.Limiter("small", aigateway.LimitRules{Concurrent: 1})
	key := &aigateway.Key{ID: "alice"}
	first := limiter.Admit(context.Background(), key, 100)
	second := limiter.Admit(context.Background(), key, 100)
	fmt.Println("second request refused:", second.Reached)
	first.Reservation.Release()
	third := limiter.Admit(context.Background(), key, 100)
	fmt.Println("third request admitted:", third.Reservation != nil)
	// Output:
	// second request refused: concurrent request
	// third request admitted: true
}
