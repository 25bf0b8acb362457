package usage_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/limitstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Each gateway that counts alone gives away the whole limit.
func TestL047TwoGatewaysOnOneRedisAdmitTheLimitTogether(t *testing.T) {
	t.Parallel()
	server, ok := limitstest.StartRedis(t)
	if !ok {
		return
	}
	const most = 40
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	gateways := make([]*site.Process, 2)
	for i := range gateways {
		dir := t.TempDir()
		gateways[i] = site.StartProcess(t, "", append(budget(p, "requests 40/1h", "budget 1000000/month"),
			"counters redis "+server.Address+" {\ntimeout 10s\n}", "store sqlite "+dir+"/gateway.db", "ledger {\njournal "+dir+"/journal\n}")...)
	}
	var all sync.WaitGroup
	var admitted, refused atomic.Int64
	for i := range 2 * most {
		all.Go(func() {
			switch statusOf(gateways[i%2], 20) {
			case http.StatusOK:
				admitted.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, most, admitted.Load())
	assert.EqualValues(t, most, refused.Load())
}
