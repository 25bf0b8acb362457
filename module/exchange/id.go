package exchange

import (
	"math/rand/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// NewID returns prefix and 24 random base62 digits. An ID is not a secret, so it needs no
// cryptographic source.
func NewID(prefix string) string {
	var random [24]byte
	var bits uint64
	for i := range random {
		if i%10 == 0 { // one word gives ten digits
			bits = rand.Uint64()
		}
		random[i] = aigateway.Base62[bits%62]
		bits /= 62
	}
	return prefix + string(random[:])
}
