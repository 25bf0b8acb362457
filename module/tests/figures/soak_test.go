package figures_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// soakTime is how long the soak lasts: 20 minutes with -full.
func soakTime() time.Duration {
	if *full {
		return 20 * time.Minute
	}
	return 5 * time.Second
}

// After mixed traffic with reloads and faults, a gateway uses as many resources as before.
func TestSoak(t *testing.T) {
	t.Parallel()
	provider := gatewaytest.NewProvider(t)
	provider.Always(mixed)
	// A connection that a request from before a reload leaves idle is closed only after
	// this time: after two minutes by default.
	block := site.Direct.Provider("p", provider, "transport http {\nkeepalive 1s\n}")
	p := site.StartProcess(t, options, block)
	c := site.NewClient(t, true) // over HTTP/2, a reload loses no request
	ask := func() string { return askOnce(t, c, p, site.ClientPaths[rand.N(len(site.ClientPaths))]).Body }
	inTurns(4, func() { ask() })
	before := footprintOf(t, p)

	end := time.After(soakTime())
	stop := make(chan struct{})
	var asked, whole atomic.Int64
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for open := true; open; {
				asked.Add(1)
				if strings.Contains(ask(), "hello") {
					whole.Add(1)
				}
				select {
				case <-stop:
					open = false
				default:
				}
			}
		})
	}
	reloads := 0
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for soaking := true; soaking; {
		select {
		case <-end:
			soaking = false
		case <-tick.C:
			reloads++
			p.Reload(options, block, "max_body "+[]string{"4MiB", "5MiB"}[reloads%2])
		}
	}
	close(stop)
	running.Wait()
	c.CloseIdleConnections()
	assert.Positive(t, whole.Load())
	t.Logf("%d requests, %d answered, %d reloads; before: %+v, after: %+v", asked.Load(), whole.Load(), reloads, before, waitBack(t, p, before))
}

// mixed answers most requests, and answers the others with different faults.
func mixed(c *gatewaytest.Call) {
	switch rand.N(10) {
	case 0:
		gatewaytest.Status(503)(c)
	case 1:
		gatewaytest.CutAt(300 + rand.N(300))(c)
	case 2:
		gatewaytest.Reset()(c)
	case 3:
		gatewaytest.Gzip()(c)
	default:
		gatewaytest.Drip(20)(c)
	}
}
