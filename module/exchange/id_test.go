package exchange

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestIDsAreDistinctAndOfOneForm(t *testing.T) {
	seen := make(map[string]bool)
	characters := make(map[rune]bool)
	for range 10_000 {
		id := NewID("req_")
		if !assert.Len(t, id, 28) || !assert.Equal(t, "req_", id[:4]) || !assert.False(t, seen[id]) {
			return
		}
		seen[id] = true
		for _, c := range id[4:] {
			characters[c] = true
		}
	}
	assert.Len(t, characters, 62)
	for c := range characters {
		assert.Contains(t, aigateway.Base62, string(c))
	}
}
