package transport

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// A bug was here: whatever a provider wrote into these headers went to the
// client, some of which wait for as long as they are told to.
func TestOnlySensibleTimesToComeAgainAreHandedOn(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		kept        bool
	}{
		{"Retry-After", "0", true},
		{"Retry-After", "1.5", true},
		{"Retry-After", "86400", true},
		{"Retry-After", "86401", false},
		{"Retry-After", "-1", false},
		{"Retry-After", "1e3", false},
		{"Retry-After", "soon", false},
		{"Retry-After", "", false},
		{"Retry-After", "Fri, 07 Aug 2026 10:00:00 GMT", true},
		{"Retry-After-Ms", "1500", true},
		{"Retry-After-Ms", "86400001", false},
		{"X-Should-Retry", "false", true},
		{"X-Should-Retry", "perhaps", false},
	} {
		got := carry(t, newTransport(refuses(429, tt.name, tt.value)), attemptFor(t, translate.Chat, false))
		assert.Equal(t, tt.kept, got.Header.Get(tt.name) != "", "%s: %s", tt.name, tt.value)
	}
}
