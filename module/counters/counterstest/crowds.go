package counterstest

import (
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// crowd runs do in many goroutines, and waits for all of them.
func crowd(size int, do func(i int)) {
	var all sync.WaitGroup
	for i := range size {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// If a budget were charged only at the end of a request, concurrent requests would exceed
// it.
func exactlyAsMany(t *testing.T, p *Place) {
	const requests, limit, tokens, nanos = 200, 100, 7, 10_000_000
	all := aigateway.LimitRules{
		Requests: rate(limit, time.Hour), Tokens: rate(limit*tokens, time.Hour), Concurrent: limit, Budget: budget(t, "1/month"),
	}
	for name, limits := range map[string][]*aigateway.Limit{
		"requests":   {{LimitRules: aigateway.LimitRules{Requests: all.Requests}}},
		"tokens":     {{LimitRules: aigateway.LimitRules{Tokens: all.Tokens}}},
		"concurrent": {{LimitRules: aigateway.LimitRules{Concurrent: limit}}},
		"month":      {{LimitRules: aigateway.LimitRules{Budget: all.Budget}}},
		"sliding":    {{LimitRules: aigateway.LimitRules{Budget: budget(t, "1/30d")}}},
		"nested":     {{LimitRules: all}, {Per: aigateway.PerGroup, LimitRules: all}, {Per: aigateway.PerGateway, LimitRules: all}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range p.Rounds {
				exactly(t, p, limits, i, requests, limit, aigateway.Use{Tokens: tokens, Nanos: nanos})
			}
		})
	}
}

// exactly sends concurrent requests, and demands that exactly most of them are admitted.
// Each round has limits of its own.
func exactly(t *testing.T, p *Place, limits []*aigateway.Limit, round, requests int, limit int64, use aigateway.Use) {
	t.Helper()
	var own []*aigateway.Limit
	for i, l := range limits {
		named := *l
		named.Name = fmt.Sprintf("%s.%d.%d", path.Base(t.Name()), round, i)
		own = append(own, &named)
	}
	l := p.open(t, own...)
	var admitted atomic.Int64
	crowd(requests, func(int) {
		if l.ask(alice, use.Tokens, use.Nanos).Reservation != nil {
			admitted.Add(1)
		}
	})
	require.Equal(t, limit, admitted.Load(), "round %d", round)
}

func runningNeverExceed(t *testing.T, p *Place) {
	l := p.one(t, aigateway.LimitRules{Concurrent: 3})
	var running, admitted atomic.Int64
	crowd(16, func(int) {
		for range 100 {
			if r := l.ask(alice, 0, 0).Reservation; r != nil {
				admitted.Add(1)
				assert.LessOrEqual(t, running.Add(1), int64(3))
				running.Add(-1)
				end(r, 0)
			}
		}
	})
	assert.Positive(t, admitted.Load())
	var retried []aigateway.Reservation
	for range 3 {
		retried = append(retried, l.admits(t, 0))
	}
	assert.NotContains(t, retried, nil, "no request runs any more")
}
