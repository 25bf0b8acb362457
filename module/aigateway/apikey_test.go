package aigateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestNewAPIKeysHaveTheirFormAndAreNotMistyped(t *testing.T) {
	seen := make(map[string]bool)
	for range 200 {
		key := string(aigateway.NewAPIKey())
		assert.Regexp(t, `^sk-[0-9A-Za-z]{48}$`, key)
		assert.False(t, aigateway.MistypedAPIKey(key), key)
		assert.False(t, seen[key], "generated twice")
		seen[key] = true
	}
}

// The checksum finds the usual typing mistakes: one wrong character, and two neighbours in
// the wrong order.
func TestTypingErrorsAreFound(t *testing.T) {
	key := string(aigateway.NewAPIKey())
	for i := len("sk-"); i < len(key); i++ {
		wrong := []byte(key)
		wrong[i] = 'A'
		if key[i] == 'A' {
			wrong[i] = 'B'
		}
		assert.True(t, aigateway.MistypedAPIKey(string(wrong)), "character %d", i)
		if i+1 < len(key) && key[i] != key[i+1] {
			swapped := []byte(key)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			assert.True(t, aigateway.MistypedAPIKey(string(swapped)), "characters %d and %d", i, i+1)
		}
	}
}

func TestKeysOfOtherFormsAreNotCalledMistyped(t *testing.T) {
	for _, key := range []string{
		"", "sk-", "secret", "sk-short", "sk-proj-" + strings.Repeat("a", 43),
		"sk-" + strings.Repeat("a", 47), "sk-" + strings.Repeat("a", 49), "sk-" + strings.Repeat("a", 47) + "_",
	} {
		assert.False(t, aigateway.MistypedAPIKey(key), key)
	}
}

func TestHintsShowTooLittleToGuessAKey(t *testing.T) {
	assert.Equal(t, "sk-0123****wxyz", aigateway.APIKeyHint("sk-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgwxyz"))
	assert.Equal(t, "****", aigateway.APIKeyHint("sk-a-short-one"))
}
