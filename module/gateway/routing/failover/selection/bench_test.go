package selection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
)

// For a model with one target, Order allocates only the list of one candidate.
func TestOneTargetCostsOneAllocation(t *testing.T) {
	m := model([]catalog.Target{target("a", 1)})
	var memory health.Memory
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { selection.Order(m, "m", selection.Seeds{Session: 0}, &memory, nil) }), 1.0)
}

func BenchmarkOrder(b *testing.B) {
	m := model([]catalog.Target{target("a", 3, "1", "2"), target("b", 1)}, []catalog.Target{target("c", 1)})
	var memory health.Memory
	b.ReportAllocs()
	for b.Loop() {
		selection.Order(m, "m", selection.Seeds{Session: 7}, &memory, nil)
	}
}
