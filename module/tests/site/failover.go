package site

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// Failover is a gateway whose model "m" leads to one provider and, if that
// fails, to another. The models "1" and "2" lead to one of them alone. Gate is
// for steps of the first that stall. No target rests and no call is repeated, so that
// each request asks the first provider once.
type Failover struct {
	*Site
	First, Second *gatewaytest.Provider
	Gate          *gatewaytest.Gate
}

// StartFailover runs one whose providers speak every format, with lines in its
// ai_gateway block.
func StartFailover(t *testing.T, w Way, lines ...string) Failover {
	t.Helper()
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := Start(t, append(lines, Steady,
		w.Provider("first", first, "models 1"), w.Provider("second", second, "models 2"),
		"model m {\nto first\nto second\n}")...)
	return Failover{s, first, second, gatewaytest.NewGate(t)}
}

// Steady are lines of an ai_gateway block with which every request asks its targets in
// the order of the configuration, and each of them once, whatever has failed before.
const Steady = "cooldown off\nretry off"
