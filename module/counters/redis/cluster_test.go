package redis

import (
	"strconv"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

// In a Redis Cluster, a script may only use keys of one node. The commands of a batch must
// keep their order.
func TestACluster(t *testing.T) {
	t.Parallel()
	bus := strconv.Itoa(gatewaytest.FreePort(t)) // by default 10000 above that of clients, which another program may use
	server, ok := counterstest.StartRedis(t, "--cluster-enabled", "yes", "--cluster-port", bus)
	if !ok {
		return
	}
	client := goredis.NewClient(&goredis.Options{Addr: server.Address})
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	require.NoError(t, client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	r := &Redis{Connection: redisclient.Connection{Address: server.Address + "," + server.Address, Timeout: caddy.Duration(10 * time.Second)}, OnError: deny}
	cluster := r.Client("", backgroundTimeout)
	require.IsType(t, new(goredis.ClusterClient), cluster)
	r.server = newServer(cluster, time.Duration(r.Timeout), zap.NewNop())
	r.applied = &applied{server: r.Connection}
	t.Cleanup(func() { assert.NoError(t, r.server.Destruct()) })
	g := gateway{Redis: r}
	g.admitsSoon(t, 0)
	var running []aigateway.Reservation
	for range 9 {
		running = append(running, g.reserve(t, tenth))
	}
	g.assertLeft(t, 0)
	for _, reservation := range running {
		g.spend(reservation, 1e7)
	}
	g.assertLeft(t, 9*tenth-9e7)
}
