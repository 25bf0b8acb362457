package redis

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

// machine returns the counters of a gateway whose machine has the clock local.
func machine(t *testing.T, server *counterstest.RedisServer, local func() time.Time) *Redis {
	r := &Redis{Connection: redisclient.Connection{Address: server.Address, Timeout: caddy.Duration(10 * time.Second)}, OnError: deny}
	r.server = newServer(r.Client("", backgroundTimeout), time.Duration(r.Timeout), zap.NewNop())
	r.applied = &applied{server: redisclient.Connection{Address: rand.Text()}} // as in a process of its own
	r.server.clock.local = local
	t.Cleanup(r.server.backlog.close)
	return r
}

// L057: machines whose clocks differ once gave each gateway a window of its own.
func TestL057GatewaysWhoseClocksDifferHaveOneWindow(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	period := caddy.Duration(4 * time.Minute) // shorter than the difference of the clocks
	ahead := machine(t, server, func() time.Time { return time.Now().Add(5 * time.Minute) })
	right := machine(t, server, time.Now)
	for name, rules := range map[string]aigateway.LimitRules{
		"requests": {Requests: aigateway.Rate{Most: 9, Per: period}},
		"tokens":   {Tokens: aigateway.Rate{Most: 9, Per: period}},
		"budget":   {Budget: budget(t, "1/4m")}, // a tenth of it is spent
	} {
		t.Run(name, func(t *testing.T) {
			gateways := [...]aigateway.Limiter{limiterOf(t, ahead, rules), limiterOf(t, right, rules)}
			for i := range 9 {
				assert.NotNil(t, admit(t, gateways[i%2]).Reservation, i)
			}
			for _, gateway := range gateways {
				assert.Nil(t, admit(t, gateway).Reservation)
			}
		})
	}
}

// The days, weeks and months of budgets once began by the clock of each gateway: before
// midnight, a gateway whose clock was ahead spent the budget of the next day.
func TestGatewaysWhoseClocksDifferBeginADayTogether(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	rules := aigateway.LimitRules{Budget: budget(t, "1/day")}
	midnight := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	now := midnight.Add(-time.Minute)
	var gateways []aigateway.Limiter
	for _, ahead := range []time.Duration{5 * time.Minute, 0, -5 * time.Minute} {
		r := machine(t, server, func() time.Time { return now.Add(ahead) })
		r.server.clock.server = func() int64 { return now.UnixMicro() }
		gateways = append(gateways, limiterOf(t, r, rules))
	}
	for _, day := range []string{"before midnight", "after midnight"} {
		for i := range 9 { // a tenth of the budget is spent
			assert.NotNil(t, admit(t, gateways[i%3]).Reservation, "%s, %d", day, i)
		}
		for i, gateway := range gateways {
			assert.Equal(t, aigateway.MoneyBudget, admit(t, gateway).Reached, "%s, %d", day, i)
		}
		now = midnight.Add(time.Minute)
	}
}
