package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Calls of eu.api.openai.com, for which the service charges 10 percent more, were recorded at the
// price of the usual host.
func TestHostsBelowTheUsualOneAreRegional(t *testing.T) {
	for address, want := range map[string]string{
		"":                                "",
		"https://api.openai.com/v1":       "",
		"https://eu.api.openai.com/v1":    "true",
		"https://US.API.OPENAI.COM/v1":    "true",
		"https://au.api.openai.com:443":   "true",
		"https://notapi.openai.com/v1":    "",
		"https://proxy.example.com/v1":    "",
		"https://api.openai.com.evil.com": "",
	} {
		d := aigateway.Defaults{BaseURL: "https://api.openai.com/v1", Traits: map[string]string{"files": "true"}}
		traits := presetTraits(d, address)
		assert.Equal(t, want, traits[regionalTrait], address)
		assert.Equal(t, "true", traits["files"], address)
		assert.Len(t, d.Traits, 1, "the preset is unchanged")
	}
	assert.Empty(t, presetTraits(aigateway.Defaults{}, "https://a.b"))
	assert.Equal(t, "true", presetTraits(aigateway.Defaults{BaseURL: "https://api.x.ai/v1"}, "https://us.api.x.ai/v1")[regionalTrait])
}
