package litellm

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// imported returns the Caddyfile and the report of a configuration. The Caddyfile is formatted
// as `caddy fmt` would.
func imported(t *testing.T, config string, tables *Tables) (g *migration.Gateway, text, report string) {
	t.Helper()
	g, r, err := Read([]byte(config), tables, "ai.example.com")
	require.NoError(t, err)
	assert.Equal(t, string(caddyfile.Format([]byte(g.Caddyfile()))), g.Caddyfile())
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	return g, g.Caddyfile(), b.String()
}

const small = `
model_list:
  - model_name: gpt
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY}
  - model_name: sonnet
    litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY, max_parallel_requests: 20}
  - model_name: coder
    litellm_params: {model: hosted_vllm/Qwen/Qwen3-Coder, api_base: "http://127.0.0.1:8000/v1"}
    model_info: {input_cost_per_token: 0, output_cost_per_token: 0}
router_settings:
  cooldown_time: 30
  model_group_alias: {old-gpt: gpt}
litellm_settings:
  drop_params: true
  fallbacks: [{sonnet: [gpt]}]
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
`

func TestZ001ASmallConfigurationComesOverWhole(t *testing.T) {
	_, text, report := imported(t, small, nil)
	assert.Equal(t, `{
	ai_gateway {
		store sqlite
		cooldown 30s
		provider openai {env.OPENAI_API_KEY} {
			models off
		}
		provider anthropic {env.ANTHROPIC_API_KEY} {
			models off
			max_running 20
		}
		provider vllm {
			base_url http://127.0.0.1:8000/v1
			models off
		}
		model gpt {
			to openai/gpt-4o
		}
		model sonnet {
			to anthropic/claude-sonnet-4-5
			to openai/gpt-4o
		}
		model coder {
			to vllm/Qwen/Qwen3-Coder {
				price input 0 output 0
			}
		}
		# an alias of gpt
		model old-gpt {
			to openai/gpt-4o
		}
	}
}

ai.example.com {
	ai_gateway {
		# The master key: it may use every model, and manages nothing. Remove it when no client sends it.
		key litellm-master {env.LITELLM_MASTER_KEY}
	}
}
`, text)
	assert.Equal(t, "\n3 providers, 4 models; 0 changed, 0 left out.\n", report)
	for range 10 { // maps have no order
		_, repeated, sameReport := imported(t, small, nil)
		assert.Equal(t, text, repeated)
		assert.Equal(t, report, sameReport)
	}
}

// listed returns a configuration with entries of model_list, each "name: parameters", and with
// further lines.
func listed(further string, entries ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, entry := range entries {
		name, params, _ := strings.Cut(entry, ": ")
		params, info, _ := strings.Cut(params, " | ")
		b.WriteString("  - model_name: " + name + "\n    litellm_params: " + params + "\n")
		if info != "" {
			b.WriteString("    model_info: " + info + "\n")
		}
	}
	return b.String() + further
}

// What becomes of deployments, fallbacks and settings. A text with "!" before it must not
// occur.
func TestDeployments(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment-0123456789")
	for name, tt := range map[string]struct {
		config    string
		caddyfile []string
		report    []string
	}{
		"Z021 weights of one order share, the next order is a step": {
			listed("", `gpt: {model: azure/eu, api_base: "https://eu.openai.azure.com/", weight: 3, order: 1}`,
				`gpt: {model: azure/us, api_base: "https://us.openai.azure.com", weight: 1, order: 1}`,
				`gpt: {model: openai/gpt-4o, order: 2}`),
			[]string{"to azure-eu/eu weight 3\n\t\t\tto azure-us/us weight 1\n\t\t\tto openai/gpt-4o\n", "resource eu"}, nil,
		},
		"Z022 rates are shares where there is no weight": {
			listed("", `gpt: {model: openai/gpt-4o, rpm: 600}`, `gpt: {model: openai/gpt-4o, api_key: os.environ/SECOND_KEY, rpm: 200}`),
			[]string{"to openai/gpt-4o weight 3\n", "to openai-2/gpt-4o weight 1\n"}, []string{"rpm and tpm bound nothing"},
		},
		"Z023 one model with two keys has two providers": {
			listed("", `gpt: {model: openai/gpt-4o, weight: 2.5}`, `gpt: {model: openai/gpt-4o, api_key: os.environ/SECOND_KEY, weight: 5}`),
			[]string{"provider openai {env.OPENAI_API_KEY}", "provider openai-2 openai {env.SECOND_KEY}", "to openai/gpt-4o weight 1\n", "to openai-2/gpt-4o weight 2\n"}, nil,
		},
		"Z024 a circle of fallbacks ends, and no target is twice": {
			listed("litellm_settings: {fallbacks: [{a: [b]}, {b: [a]}], default_fallbacks: [c]}",
				`a: {model: openai/x}`, `b: {model: groq/y}`, `c: {model: xai/z}`, `d: {model: groq/w}`),
			[]string{
				"model a {\n\t\t\tto openai/x\n\t\t\tto groq/y\n\t\t}", "model b {\n\t\t\tto groq/y\n\t\t\tto openai/x\n\t\t}",
				"model c {\n\t\t\tto xai/z\n\t\t}", "model d {\n\t\t\tto groq/w\n\t\t\tto xai/z\n\t\t}",
			}, nil,
		},
		"a default fallback answers what the model answers": { // embeddings fell back to a chat model
			"litellm_settings: {default_fallbacks: [b, f]}\nmodel_list:\n" +
				"  - {model_name: a, litellm_params: {model: openai/x}}\n  - {model_name: b, litellm_params: {model: groq/y}, model_info: {mode: chat}}\n" +
				"  - {model_name: e, litellm_params: {model: openai/e}, model_info: {mode: embedding}}\n  - {model_name: f, litellm_params: {model: mistral/f}, model_info: {mode: embedding}}\n" +
				"  - {model_name: w, litellm_params: {model: openai/w}, model_info: {mode: audio_transcription}}\n",
			[]string{"model a {\n\t\t\tto openai/x\n\t\t\tto groq/y\n\t\t}", "model e {\n\t\t\tto openai/e\n\t\t\tto mistral/f\n\t\t}", "model w {\n\t\t\tto openai/w\n\t\t}"},
			[]string{"the model w has none of another mode behind it"},
		},
		"two steps with weights do not become one": {
			listed("litellm_settings: {fallbacks: [{a: [b]}]}", `a: {model: openai/x}`, `a: {model: groq/x}`, `b: {model: openai/y}`, `b: {model: groq/y}`),
			[]string{"model a {\n\t\t\tto openai/x weight 1\n\t\t\tto groq/x weight 1\n\t\t\tto openai/y\n\t\t\tto groq/y\n\t\t}"}, []string{"changed  model_list: deployments of b behind others of a"},
		},
		"the cheapest deployment stays the first, and fallbacks stay behind": {
			listed("router_settings: {routing_strategy: cost-based-routing}\nlitellm_settings: {fallbacks: [{a: [b]}]}", `a: {model: openai/x}`, `a: {model: groq/x}`, `b: {model: openai/y}`),
			[]string{"model a {\n\t\t\tto openai/x weight 1\n\t\t\tto groq/x weight 1\n\t\t\tto openai/y\n\t\t\torder cost\n\t\t}", "model b {\n\t\t\tto openai/y\n\t\t}"}, nil,
		},
		"the fastest deployment stays the first, within its buffer": {
			listed("router_settings: {routing_strategy: latency-based-routing, routing_strategy_args: {lowest_latency_buffer: 0.5, ttl: 10}}", `a: {model: openai/x}`, `a: {model: groq/x}`),
			[]string{"\t\t\torder latency within 50%\n"}, []string{"router_settings.routing_strategy_args.ttl"},
		},
		"a strategy that the gateway lacks is reported": {
			listed("router_settings: {routing_strategy: usage-based-routing-v2}", `a: {model: openai/x}`, `a: {model: groq/x}`),
			[]string{"!order"}, []string{"usage-based-routing-v2 is not known"},
		},
		"Z025 fallbacks for long contexts are named": {
			listed("router_settings: {context_window_fallbacks: [{a: [b]}]}", `a: {model: openai/x}`), []string{"!fallback_on"},
			[]string{"left out  router_settings.context_window_fallbacks"},
		},
		"Z026 a pattern with equal texts comes over, and one that renames is left out": {
			listed("", `"claude-*": {model: "anthropic/claude-*"}`, `"openai/*": {model: "openai/*"}`),
			[]string{"model claude-* {\n\t\t\tto anthropic\n\t\t}", "# left out: openai/*:", "!model openai/*"}, []string{"left out  model_list[1]"},
		},
		"Z027 a key in clear text is in no text": {
			listed("", `deep: {model: deepseek/deepseek-chat, api_key: sk-EXAMPLE-literal}`, `own: {model: openai/x, api_base: "https://llm.example.com/v1", api_key: sk-EXAMPLE-literal}`),
			[]string{"provider deepseek {env.DEEPSEEK_API_KEY}", "provider llm-example-com openai_compatible {env.OWN_API_KEY}", "!EXAMPLE-literal"},
			[]string{"set it as the variable DEEPSEEK_API_KEY", "!EXAMPLE-literal"},
		},
		"Z028 prices of a token become prices of a million, exactly": {
			listed("", `a: {model: openai/x, input_cost_per_token: 1.5e-07, output_cost_per_token: "4e-06", cache_creation_input_token_cost_above_1hr: 0.00001, input_cost_per_token_above_200k_tokens: 3e-7}`),
			[]string{"price input 0.15 output 4 cache_write_1h 10 edge >200000 input_above 0.3\n"}, nil,
		},
		"prices of units become those of a minute and of a million characters": {
			listed("", `a: {model: openai/x, input_cost_per_second: 0.00003083, output_cost_per_second: 0}`, `b: {model: openai/y, input_cost_per_character: 1.5e-05}`, `c: {model: openai/z, output_cost_per_image: 0.04}`,
				`d: {model: azure/hear, api_base: "https://eu.openai.azure.com"} | {base_model: openai/whisper-1}`),
			[]string{"price minute 0.00185\n", "price characters 15\n", "price image 0.04\n", "price input 0 cache_read 0 output 0 minute 0.006\n"}, nil,
		},
		"Z029 a deployment of Azure has the price of its base model": {
			listed("", `a: {model: azure/my-deployment, api_base: "https://eu.openai.azure.com"} | {base_model: azure/gpt-4o}`, `b: {model: azure/other, api_base: "https://eu.openai.azure.com"} | {base_model: azure/unheard-of}`),
			[]string{"to azure-eu/my-deployment {\n\t\t\t\tprice input 2.5 cache_read 1.25 output 10\n"}, []string{"the table of prices has no model unheard-of"},
		},
		"Z030 what has no counterpart is a comment with its reason": {
			listed("litellm_settings: {fallbacks: [{gpt: [rerank]}]}", `gpt: {model: openai/gpt-4o}`, `rerank: {model: cohere/rerank-v3.5} | {mode: rerank}`,
				`nova: {model: bedrock/amazon.nova-pro-v1:0}`, `flash: {model: vertex_ai/gemma-3, vertex_project: p}`, `who: {model: whisper-large}`, `talk: {model: openai/gpt-realtime} | {mode: realtime}`, `embed: {model: openai/text-embedding-x} | {mode: embedding}`),
			[]string{"# left out: rerank: the gateway has no provider for cohere", "# left out: talk: the gateway has no endpoint for the mode realtime", "to openai/text-embedding-x", "# left out: nova: ", "# left out: flash: ", "# left out: who: the service of the model"},
			[]string{"left out  fallbacks: the model rerank behind gpt is not in the gateway"},
		},
		"clouds with a counterpart": {
			listed("", `a: {model: bedrock/eu.anthropic.claude-x-v1:0, aws_region_name: eu-central-1}`, `n: {model: bedrock/converse/amazon.nova-pro-v1:0, aws_region_name: eu-central-1}`, `b: {model: vertex_ai/claude-x@20250929, vertex_project: p, vertex_location: us-east5, vertex_credentials: /etc/account.json}`, `c: {model: gemini/gemini-2.5-pro}`, `d: {model: gemini-2.5-flash, vertex_project: p}`),
			[]string{"provider vertex-gemini vertex {", "format gemini", "to vertex-gemini/gemini-2.5-flash", "region eu-central-1", "to bedrock-eu-central-1/eu.anthropic.claude-x-v1:0", "to bedrock-eu-central-1/amazon.nova-pro-v1:0", "provider vertex {file./etc/account.json}", "location us-east5", "provider gemini {env.GEMINI_API_KEY}"}, nil,
		},
		"Z031 a lost protection comes first": {
			listed("guardrails: [{guardrail_name: pii}]\ngeneral_settings: {allowed_ips: [10.0.0.0/8]}\nrouter_settings: {num_retries: 2}", `a: {model: openai/x}`),
			nil, []string{"PROTECTION LOST  guardrails[0]: the guardrail pii", "PROTECTION LOST  general_settings.allowed_ips", "2 left out, 2 of them protections"},
		},
		"Z032 a name with a space is not changed by itself": {
			listed("", `"team gpt": {model: openai/x}`), []string{"!model team"}, []string{`"team-gpt" would be one`},
		},
		"Z011 a budget of zero of the whole proxy is none": {
			listed("litellm_settings: {max_budget: 0, max_internal_user_budget: 20, internal_user_budget_duration: 1d}", `a: {model: openai/x}`),
			[]string{"limit users {\n\t\t\tper user\n\t\t\tbudget 20/day\n\t\t}", "accounts {\n\t\t\tlimit users\n\t\t}", "!limit everything"}, nil,
		},
		"settings": {
			listed("general_settings: {max_request_size_mb: 20, global_max_parallel_requests: 400}\nrouter_settings: {num_retries: 0, redis_host: 127.0.0.1, redis_password: os.environ/REDIS}\nlitellm_settings: {request_timeout: 600, unheard: 1}",
				`a: {model: text-completion-openai/x, extra_headers: {X-Team: platform, Authorization: Bearer x}, organization: org, timeout: 30, stream_timeout: 2.5, temperature: 1}`),
			[]string{
				"max_body 20MiB", "max_running 400", "retry off", "counters redis 127.0.0.1:6379 {\n\t\t\tpassword {env.REDIS}", "response_header_timeout 600s",
				"format completions", "header_up X-Team platform", "header_up OpenAI-Organization org", "response_header_timeout 30s", "first_event_timeout 2.5s", "!Bearer x",
			},
			[]string{"litellm_settings.unheard: it has no counterpart", "the header Authorization may be a credential", "temperature: it has no counterpart"},
		},
		"credentials that deployments share": {
			"credential_list: [{credential_name: c, credential_values: {api_key: os.environ/SHARED}}]\n" + listed("", `a: {model: groq/x, litellm_credential_name: c}`),
			[]string{"provider groq {env.SHARED}"}, nil,
		},
		"names that only LiteLLM knows": {
			listed("", `a: {model: claude-x}`, `b: {model: my/model, custom_llm_provider: hosted_vllm, api_base: "http://127.0.0.1:1/v1"}`, `c: {model: ollama/llama3, api_base: "http://127.0.0.1:2"}`, `d: {model: openai/responses/gpt-x}`, `e: {model: fireworks_ai/accounts/f/models/k}`),
			[]string{"to anthropic/claude-x", "to vllm/my/model", "base_url http://127.0.0.1:2/v1", "to openai/gpt-x", "to fireworks/accounts/f/models/k", "provider fireworks {env.FIREWORKS_AI_API_KEY}"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, text, report := imported(t, tt.config, nil)
			contains(t, text, tt.caddyfile)
			contains(t, report, tt.report)
		})
	}
}

// contains fails the test unless a text contains each of some texts, and none of those that
// begin with "!".
func contains(t *testing.T, text string, wanted []string) {
	t.Helper()
	for _, want := range wanted {
		if unwanted, ok := strings.CutPrefix(want, "!"); ok {
			assert.NotContains(t, text, unwanted)
		} else {
			assert.Contains(t, text, want)
		}
	}
}

func TestAConfigurationThatIsNoMappingIsAnError(t *testing.T) {
	for _, config := range []string{"- a", "a: [", "a: 1\na: 2"} {
		_, _, err := Read([]byte(config), nil, "ai.example.com")
		assert.ErrorContains(t, err, "reading YAML", config)
	}
}

// rows returns rows of a table.
func objects(texts ...string) (all []json.RawMessage) {
	for _, text := range texts {
		all = append(all, json.RawMessage(text))
	}
	return all
}
