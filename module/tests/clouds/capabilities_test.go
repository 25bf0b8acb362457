package clouds_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// What a service lacks that others with its formats have was in no answer: capabilities named
// all fields and endpoints of the format.
func TestCapabilitiesShowWhatACloudLacks(t *testing.T) {
	a, b, v := newAzure(t), newBedrock(t), newVertex(t)
	s := site.Start(t,
		a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL+"/openai/v1", "models gpt"),
		b.block("bedrock", "models anthropic.claude-x nova-x"),
		v.account("vertex", "models vertex-claude"),
		v.account("vertex-gemini", "format gemini", "models vertex-gemini"),
		v.account("vertex-chat", "format chat", "models vertex-chat"),
	)
	type capability struct {
		LeftOut  []string `json:"left_out"`
		Counting string   `json:"count_tokens"`
	}
	var answer struct {
		Data []struct {
			Model     string
			Formats   map[string]capability
			Endpoints []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(s.List(site.ClientKey, "/v1/capabilities").Body), &answer))
	betas := []string{
		"context_management", "compaction", "speed", "fallbacks", "fallback_credit_token", "diagnostics", "user_profile_id",
		"output_config.task_budget", "thinking.display=updates", "messages.*.clear_at", "thread",
	}
	strict, tier := append([]string{"tools.*.strict"}, betas...), []string{"serviceTier", "toolConfig.includeServerSideToolInvocations"}
	want := map[string]map[string]capability{
		"gpt":                {"responses": {[]string{}, "provider"}, "messages": {[]string{}, "provider"}, "chat": {[]string{}, ""}},
		"anthropic.claude-x": {"messages": {betas, "provider"}, "chat": {betas, ""}},
		"nova-x":             {"messages": {[]string{}, "provider"}},
		"vertex-claude":      {"messages": {strict, "provider"}, "chat": {strict, ""}},
		"vertex-gemini":      {"gemini": {tier, "provider"}, "messages": {tier, "provider"}},
		"vertex-chat":        {"messages": {[]string{}, "estimate"}},
	}
	require.Len(t, answer.Data, len(want))
	for _, m := range answer.Data {
		for format, capability := range want[m.Model] {
			assert.Equal(t, capability, m.Formats[format], "%s %s", m.Model, format)
		}
		if m.Model == "gpt" {
			assert.Len(t, m.Endpoints, 12)
			continue
		}
		assert.Empty(t, m.Endpoints, m.Model)
		speech := s.Ask("/v1/audio/speech", `{"model":"`+m.Model+`","input":"a"}`)
		assert.Equal(t, http.StatusNotFound, speech.Status, m.Model)
	}
	shown := site.RunCommand(t, "ai-gateway explain --address "+s.AdminURL("")[len("http://"):]+" -f messages vertex-gemini")
	assert.Contains(t, shown, "left out by the preset (2): serviceTier,\n      toolConfig.includeServerSideToolInvocations\n   count of tokens: provider\n")
}
