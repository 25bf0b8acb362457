package health_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
)

func retries(b *health.Budget, requests int) (n int) {
	for range requests {
		b.Deposit()
		if b.Withdraw() {
			n++
		}
	}
	return n
}

// A slow provider had a second call beside each request.
func TestUsesAreAShareOfTheRequests(t *testing.T) {
	for percent, of1000 := range map[float64]int{100: 1000, 50: 500, 2.5: 25, 0.1: 1} {
		b := health.Budget{Percent: percent}
		assert.InDelta(t, min(1000, 10+of1000), retries(&b, 1000), 1, percent)
		assert.InDelta(t, of1000, retries(&b, 1000), 1, percent)
	}
}

// If every request fails, a retry of each would double the load of an overloaded
// provider.
func TestRetriesAreATenthOfTheRequests(t *testing.T) {
	var b health.Budget
	assert.InDelta(t, 10+100, retries(&b, 1000), 3)
	assert.InDelta(t, 100, retries(&b, 1000), 2)
	for range 10_000 {
		b.Deposit()
	}
	assert.InDelta(t, 10+10, retries(&b, 100), 3, "requests without retries save at most freeRetries")
}

// Calls that found no room used the budget up.
func TestAReturnedUseCostsNothing(t *testing.T) {
	var b health.Budget
	for range 100 {
		assert.True(t, b.Withdraw())
		b.Return()
	}
	b.Return()
	assert.Equal(t, 10, func() (n int) {
		for b.Withdraw() {
			n++
		}
		return n
	}(), "at most the burst is returned")
}
