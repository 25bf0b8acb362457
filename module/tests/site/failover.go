package site

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// Failover is a gateway whose model "m" has two providers, the second for failures of the
// first. Each of the models "1" and "2" has only one of them. Gate is for steps of the first
// provider that stall. No target rests and no call is repeated, so that each request calls
// the first provider once.
type Failover struct {
	*Site
	First, Second *gatewaytest.Provider
	Gate          *gatewaytest.Gate
}

// StartFailover starts a Failover whose providers have every format. The lines are added to
// its ai_gateway block.
func StartFailover(t *testing.T, w Way, lines ...string) Failover {
	t.Helper()
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := Start(t, append(lines, Steady,
		w.Provider("first", first, "models 1"), w.Provider("second", second, "models 2"),
		"model m {\nto first\nto second\n}")...)
	return Failover{s, first, second, gatewaytest.NewGate(t)}
}

// Steady are lines of an ai_gateway block with which every request tries its targets once,
// in the order of the configuration, whatever failed before.
const Steady = "cooldown off\nretry off"
