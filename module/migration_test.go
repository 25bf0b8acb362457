package module_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/migration/litellm"
)

// Everything that an import of LiteLLM can write is known to the grammar of the Caddyfile.
func TestWhatAnImportWritesAdapts(t *testing.T) {
	g, _, err := litellm.Read([]byte(`
model_list:
  - {model_name: a, litellm_params: {model: azure/d, api_base: "https://eu.openai.azure.com", weight: 3}, model_info: {base_model: azure/gpt-4o}}
  - {model_name: a, litellm_params: {model: bedrock/eu.anthropic.claude-x-v1:0, aws_region_name: eu-central-1, aws_profile_name: p, weight: 1}}
  - {model_name: b, litellm_params: {model: vertex_ai/claude-x, vertex_project: p, vertex_location: global}}
  - {model_name: c, litellm_params: {model: gemini/gemini-2.5-pro, extra_headers: {X-Team: a b}, timeout: 2.5, stream_timeout: 60, max_parallel_requests: 3}}
  - {model_name: d, litellm_params: {model: text-completion-openai/x, organization: o, input_cost_per_token: 1e-7, output_cost_per_token: 4e-6, input_cost_per_token_above_200k_tokens: 2e-7, output_cost_per_token_above_200k_tokens: 8e-6}}
  - {model_name: e, litellm_params: {model: fireworks_ai/accounts/x}}
  - {model_name: "claude-*", litellm_params: {model: "anthropic/claude-*"}}
  - {model_name: left out, litellm_params: {model: openai/x}}
router_settings: {num_retries: 0, cooldown_time: 5, redis_host: 127.0.0.1, redis_password: os.environ/REDIS_PASSWORD, model_group_alias: {f: a}}
litellm_settings: {request_timeout: 600, max_budget: 100, budget_duration: 30d, max_internal_user_budget: 5, default_fallbacks: [e]}
general_settings: {master_key: os.environ/MASTER, max_request_size_mb: 20, global_max_parallel_requests: 400}
`), &litellm.Tables{
		Keys:    []json.RawMessage{json.RawMessage(`{"token":"sk-a","key_alias":"a","user_id":"u","max_budget":5,"soft_budget":4,"rpm_limit":1,"tpm_limit":2,"max_parallel_requests":3}`)},
		Users:   []json.RawMessage{json.RawMessage(`{"user_id":"u","max_budget":9,"budget_duration":"7d"}`)},
		Budgets: []json.RawMessage{},
	}, "ai.example.com")
	require.NoError(t, err)
	_, err = gatewaytest.Adapt(g.Caddyfile())
	require.NoError(t, err, g.Caddyfile())
	assert.Len(t, g.Models, 7)
	assert.Len(t, g.Limits, 5)
}
