package health_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
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
