package clouds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The doctor asks as clients of all formats do, so that what it finds broken is broken for them.
func TestTheDoctorFindsNothingBrokenInClouds(t *testing.T) {
	a, b, v, g := newAzure(t), newBedrock(t), newVertex(t), newGemini(t)
	t.Setenv("GEMINI_API_KEY", "k")
	s := site.Start(t,
		a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL+"/openai/v1", "models gpt"),
		a.provider("azure_claude {env.AZURE_KEY}", "base_url "+a.URL+"/anthropic", "models azure-claude"),
		b.block("bedrock", "models bedrock-claude"),
		v.account("vertex", "models vertex-claude"),
		v.account("vertex-gemini", "format gemini", "models vertex-gemini"),
		v.account("vertex-chat", "format chat", "models vertex-chat"),
		g.provider("gemini {env.GEMINI_API_KEY}", "base_url "+g.URL, "models gemini-3-flash-preview"),
	)
	t.Setenv("GATEWAY_KEY", site.ClientKey)
	for _, model := range []string{"gpt", "azure-claude", "bedrock-claude", "vertex-claude", "vertex-gemini", "vertex-chat", "gemini-3-flash-preview"} {
		out := site.RunCommand(t, "ai-gateway doctor --json --url "+s.URL("site", "")+" "+model)
		assert.NotContains(t, out, `"broken"`, model)
		assert.Contains(t, out, `"probe":"tools","state":"ok"`, model)
	}
}
