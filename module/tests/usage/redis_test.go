package usage_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// sharing starts two gateways that count in a Redis server together. Unless a line sets a
// store, each has a database of its own.
func sharing(t *testing.T, server *counterstest.RedisServer, onError string, lines ...string) []*site.Process {
	gateways := make([]*site.Process, 2)
	for i := range gateways {
		dir := t.TempDir()
		own := []string{"counters redis " + server.Address + " {\ntimeout 10s\non_error " + onError + "\n}", "ledger {\njournal " + dir + "/journal\n}"}
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "store ") }) {
			own = append(own, "store sqlite "+dir+"/gateway.db")
		}
		gateways[i] = site.StartProcess(t, "", append(own, lines...)...)
	}
	return gateways
}

// Each gateway that counts alone gives away the whole limit.
func TestL047TwoGatewaysOnOneRedisAdmitTheLimitTogether(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	const limit = 40
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	gateways := sharing(t, server, "deny", budget(p, "requests 40/1h", "budget 1000000/month")...)
	var all sync.WaitGroup
	var admitted, refused atomic.Int64
	for i := range 2 * limit {
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
	assert.EqualValues(t, limit, admitted.Load())
	assert.EqualValues(t, limit, refused.Load())
}

// The budget is enough for 199 requests of 20 dollars, as each reserves 40. With on_error
// deny, that is what clients get while Redis is killed and comes back.
func TestTwoGatewaysSpendABudgetExactlyWhileRedisRestarts(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	gateways := sharing(t, server, "deny", budget(p, "budget 4000/month")...)
	var all sync.WaitGroup
	var admitted, unavailable atomic.Int64
	var restart sync.Once
	for i := range 200 {
		all.Go(func() {
			for status := http.StatusServiceUnavailable; status == http.StatusServiceUnavailable; {
				status = statusOf(gateways[i%2], 40)
				switch status {
				case http.StatusOK:
					if admitted.Add(1) > 50 {
						restart.Do(func() { server.Kill(); server.Start() })
					}
				case http.StatusServiceUnavailable:
					unavailable.Add(1)
				}
			}
		})
	}
	all.Wait()
	require.Eventually(t, func() bool {
		for i := range gateways {
			for statusOf(gateways[i], 40) == http.StatusOK {
				admitted.Add(1)
			}
		}
		return admitted.Load() >= 199
	}, site.Patience, site.PollEvery)
	assert.EqualValues(t, 199, admitted.Load())
	assert.Equal(t, 199, p.Count())
	t.Logf("%d answers 503", unavailable.Load())
}

// With on_error allow, nobody notices that Redis is away; what was served counts when it
// is back.
func TestTwoGatewaysServeWithoutRedisAndCountLater(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	gateways := sharing(t, server, "allow", budget(p, "budget 400/month")...)
	require.Equal(t, http.StatusOK, statusOf(gateways[0], 20))
	server.Kill()
	for i := range 20 {
		require.Equal(t, http.StatusOK, statusOf(gateways[i%2], 20))
	}
	server.Start()
	for _, gateway := range gateways {
		assert.Eventually(t, func() bool { return statusOf(gateway, 20) == http.StatusTooManyRequests }, site.Patience, site.PollEvery)
	}
}

// A client that was refused because Redis was late did not learn when to ask again, though
// the gateway asks Redis again after a second.
func TestARefusalWithoutRedisHasATimeForARetry(t *testing.T) {
	site.SetKeys(t)
	s := site.Start(t, site.Direct.Provider("p", gatewaytest.NewProvider(t)), "counters redis 127.0.0.1:1", "limit all {\nper gateway\nrequests 60/1m\n}")
	for path, status := range map[string]int{site.ChatPath: http.StatusServiceUnavailable, site.MessagesPath: 529} {
		answer := s.Ask(path, site.BodyFor(path, "m", "hello", false))
		assert.Equal(t, status, answer.Status, answer.Body)
		assert.Equal(t, "1", answer.Header.Get("Retry-After"))
	}
}

// L053: after Redis has lost its data, a budget continues with what both gateways have
// written to their database.
func TestL053TwoGatewaysGoOnFromTheirLedgerWhenRedisForgets(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	cluster, installed := storetest.Postgres(t)
	if !ok || !installed {
		return
	}
	dsn := filepath.Join(t.TempDir(), "dsn")
	require.NoError(t, os.WriteFile(dsn, []byte(cluster.NewDatabase(t)), 0o600))
	store := "store postgres {file." + dsn + "}"
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	gateways := sharing(t, server, "deny", append(budget(p, "budget 400/month"), store)...)
	for i := range 10 {
		require.Equal(t, http.StatusOK, statusOf(gateways[i%2], 20))
	}
	config := filepath.Join(t.TempDir(), "Caddyfile")
	require.NoError(t, os.WriteFile(config, []byte(":0 {\nai_gateway {\n"+store+"\nprovider demo\n}\n}\n"), 0o600))
	require.Eventually(t, func() bool {
		return strings.Contains(site.RunCommand(t, "ai-gateway usage --by model --config "+config+" --adapter caddyfile"), " 200.000000 USD")
	}, site.Patience, site.PollEvery)
	server.Kill()
	server.Forget()
	server.Start()
	admitted := 0
	require.Eventually(t, func() bool {
		status := statusOf(gateways[admitted%2], 20)
		if status == http.StatusOK {
			admitted++
		}
		return status == http.StatusTooManyRequests
	}, site.Patience, time.Millisecond)
	assert.Equal(t, 10, admitted)
}
