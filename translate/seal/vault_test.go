package seal_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

func TestAVaultOpensWhatGatewaysWithItsKeysHaveSealed(t *testing.T) {
	older, newer := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	before := ring(t, older).Vault("answers")
	sealed := before.Seal("a", []byte("a secret text"))
	assert.NotContains(t, string(sealed), "secret")
	for name, v := range map[string]seal.Vault{"the same keys": ring(t, older).Vault("answers"), "a newer key": ring(t, newer, older).Vault("answers")} {
		value, ok := v.Open("a", sealed)
		assert.True(t, ok, name)
		assert.Equal(t, "a secret text", string(value), name)
	}
	for name, v := range map[string]seal.Vault{"another key": ring(t, newer).Vault("answers"), "another purpose": ring(t, older).Vault("others")} {
		_, ok := v.Open("a", sealed)
		assert.False(t, ok, name)
		assert.NotEqual(t, before.MAC().Sum(nil), v.MAC().Sum(nil), name)
	}
	_, ok := before.Open("b", sealed)
	assert.False(t, ok, "a value under another name")
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		_, ok := before.Open("a", changed)
		require.False(t, ok, "byte %d", i)
	}
	_, ok = before.Open("a", nil)
	assert.False(t, ok)
}
