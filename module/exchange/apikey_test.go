package exchange_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

func TestNewAPIKeysHaveTheirFormAndAreNotMistyped(t *testing.T) {
	seen := make(map[string]bool)
	for range 200 {
		key := string(exchange.NewAPIKey())
		assert.Regexp(t, `^sk-[0-9A-Za-z]{48}$`, key)
		assert.False(t, exchange.MistypedAPIKey(key), key)
		assert.False(t, seen[key], "minted twice")
		seen[key] = true
	}
}

// Any one wrong character is found, and so are two neighbours that changed
// places: the slips of people who type or cut.
func TestTypingErrorsAreFound(t *testing.T) {
	key := string(exchange.NewAPIKey())
	for i := len("sk-"); i < len(key); i++ {
		wrong := []byte(key)
		wrong[i] = 'A'
		if key[i] == 'A' {
			wrong[i] = 'B'
		}
		assert.True(t, exchange.MistypedAPIKey(string(wrong)), "character %d", i)
		if i+1 < len(key) && key[i] != key[i+1] {
			swapped := []byte(key)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			assert.True(t, exchange.MistypedAPIKey(string(swapped)), "characters %d and %d", i, i+1)
		}
	}
}

func TestKeysOfOtherFormsAreNotCalledMistyped(t *testing.T) {
	for _, key := range []string{
		"", "sk-", "secret", "sk-short", "sk-proj-" + strings.Repeat("a", 43),
		"sk-" + strings.Repeat("a", 47), "sk-" + strings.Repeat("a", 49), "sk-" + strings.Repeat("a", 47) + "_",
	} {
		assert.False(t, exchange.MistypedAPIKey(key), key)
	}
}

func TestHintsShowTooLittleToGuessAKey(t *testing.T) {
	assert.Equal(t, "sk-0123****wxyz", exchange.APIKeyHint("sk-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgwxyz"))
	assert.Equal(t, "****", exchange.APIKeyHint("sk-a-short-one"))
}
