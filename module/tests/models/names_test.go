package models_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
)

// provider is a preset of the gateway, with the most used models of its service.
type provider struct {
	name, preset, service string
	path                  string // of the base URL below the name of the service
	lines                 string // of the block
	models                string
	own                   string // the formats in which the service gets the request of the client as it is
}

var providers = []provider{
	{
		name: "openai", preset: "openai {env.MODELS_KEY}", service: service.OpenAI, path: "/v1", own: "chat responses",
		models: "gpt-6.2-astra gpt-6.2-sol gpt-6.1-sol gpt-6.1-terra gpt-6-astra gpt-6-sol gpt-5.6-sol gpt-5.6-luna gpt-5.5 gpt-5.4-mini gpt-5.2 gpt-5-mini o3 gpt-4.1 gpt-4o-mini",
	},
	{name: "openai_responses", preset: "openai {env.MODELS_KEY}", service: service.OpenAI, path: "/v1", own: "responses", models: "gpt-5.3-codex"},
	{
		name: "anthropic", preset: "anthropic {env.MODELS_KEY}", service: service.Anthropic, own: "messages",
		models: "claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-2 claude-fable-5-1 claude-mythos-5-2 claude-mythos-5-1 claude-opus-5 claude-sonnet-5 claude-sonnet-4-6 claude-opus-4-5 claude-haiku-4-5",
	},
	{
		name: "gemini", preset: "gemini {env.MODELS_KEY}", service: service.GoogleAI, own: "gemini",
		models: "gemini-4-argon gemini-3.8-flash gemini-3.5-flash gemini-3.1-pro-preview gemini-3-flash-preview gemini-2.5-pro gemini-2.5-flash",
	},
	{
		name: "vertex", preset: "vertex {file.ACCOUNT}", service: service.Vertex, own: "gemini", lines: "project my-project\nformat gemini",
		models: "gemini-3.8-flash gemini-2.5-pro",
	},
	{
		name: "vertex_claude", preset: "vertex {file.ACCOUNT}", service: service.Vertex, own: "messages", lines: "project my-project",
		models: "claude-opus-5-5 claude-sonnet-4-6 claude-haiku-4-5@20251001",
	},
	{
		name: "azure", preset: "azure {env.MODELS_KEY}", service: service.Azure, path: "/openai/v1", own: "chat responses",
		models: "gpt-6-sol gpt-5.6-sol gpt-5.4 gpt-4.1",
	},
	{name: "azure_claude", preset: "azure_claude {env.MODELS_KEY}", service: service.Azure, path: "/anthropic", own: "messages", models: "claude-sonnet-5-5"},
	{
		name: "bedrock", preset: "bedrock {env.MODELS_KEY}", service: service.Bedrock, own: "messages", lines: "region us-east-1",
		models: "us.anthropic.claude-opus-5-5 eu.anthropic.claude-sonnet-4-6 global.anthropic.claude-haiku-4-5-20251001-v1:0 us.anthropic.claude-opus-4-7 us.anthropic.claude-sonnet-5",
	},
	{
		name: "bedrock_converse", preset: "bedrock {env.MODELS_KEY}", service: service.Bedrock, lines: "region us-east-1\nformat converse",
		models: "us.amazon.nova-2-lite-v1:0 us.meta.llama3-3-70b-instruct-v1:0 openai.gpt-oss-120b-1:0 global.anthropic.claude-sonnet-5-5",
	},
	{name: "xai", preset: "xai {env.MODELS_KEY}", service: service.XAI, path: "/v1", own: "chat completions responses", models: "grok-4.7 grok-4.6 grok-4.20-reasoning"},
	{name: "mistral", preset: "mistral {env.MODELS_KEY}", service: service.Mistral, path: "/v1", own: "chat", models: "mistral-large-4-0 mistral-medium-3-5 codestral-2508"},
	{name: "deepseek", preset: "deepseek {env.MODELS_KEY}", service: service.DeepSeek, own: "chat", models: "deepseek-v4-flash deepseek-v4-pro"},
	{name: "groq", preset: "groq {env.MODELS_KEY}", service: service.Groq, path: "/openai/v1", own: "chat responses", models: "openai/gpt-oss-120b qwen/qwen3.8-27b"},
	{name: "together", preset: "together {env.MODELS_KEY}", service: service.Together, path: "/v1", own: "chat completions", models: "moonshotai/Kimi-K3 zai-org/GLM-5.3"},
	{
		name: "openrouter", preset: "openrouter {env.MODELS_KEY}", service: service.OpenRouter, path: "/api/v1", own: "chat messages responses",
		models: "anthropic/claude-opus-5.5 openai/gpt-6-sol google/gemini-3.8-flash deepseek/deepseek-v4-pro",
	},
	{name: "moonshot", preset: "moonshot {env.MODELS_KEY}", service: service.Moonshot, path: "/v1", own: "chat responses", models: "kimi-k3.1-pro kimi-k3"},
	{name: "moonshot_chat", preset: "moonshot {env.MODELS_KEY}", service: service.Moonshot, path: "/v1", own: "chat", models: "kimi-k2.7-code kimi-k2.6 moonshot-v1-32k"},
	{name: "dashscope", preset: "dashscope {env.MODELS_KEY}", service: service.DashScope, path: "/compatible-mode/v1", own: "chat", models: "qwen3.8-max qwen3.8-flash qwen-max"},
	{name: "zai", preset: "zai {env.MODELS_KEY}", service: service.ZAI, path: "/api/paas/v4", own: "chat", models: "glm-5.3 glm-5.2 glm-4.7"},
	{name: "minimax", preset: "minimax {env.MODELS_KEY}", service: service.MiniMax, path: "/v1", own: "chat responses", models: "MiniMax-M3.1-Flash MiniMax-M3 MiniMax-M2.7"},
	{name: "siliconflow", preset: "siliconflow {env.MODELS_KEY}", service: service.SiliconFlow, path: "/v1", own: "chat", models: "zai-org/GLM-5.3 zai-org/GLM-5.1 moonshotai/Kimi-K3"},
	{
		name: "fireworks", preset: "fireworks {env.MODELS_KEY}", service: service.Fireworks, path: "/inference/v1", own: "chat completions messages responses",
		models: "accounts/fireworks/models/kimi-k3p1-pro accounts/fireworks/models/glm-5p3",
	},
	{name: "deepinfra", preset: "deepinfra {env.MODELS_KEY}", service: service.DeepInfra, path: "/v1/openai", own: "chat completions", models: "deepseek-ai/DeepSeek-V4.1-Flash zai-org/GLM-5.3"},
	{name: "cerebras", preset: "cerebras {env.MODELS_KEY}", service: service.Cerebras, path: "/v1", own: "chat completions", models: "gpt-oss-120b qwen-3.8-27b zai-glm-4.7"},
	{name: "nvidia", preset: "nvidia {env.MODELS_KEY}", service: service.NVIDIA, path: "/v1", own: "chat completions", models: "nvidia/nemotron-3-ultra-550b-a55b"},
	{name: "cohere", preset: "cohere {env.MODELS_KEY}", service: service.CohereAI, path: "/compatibility/v1", own: "chat", models: "command-a-03-2025 command-a-plus-05-2026"},
}

// block returns the block of the provider, which is asked for its models by aliases alone.
func (p provider) block(s *service.Server) string {
	return "provider " + p.name + " " + p.preset + " {\nbase_url " + s.URL + "/" + p.service + p.path + "\nmodels off\n" + p.lines + "\n}"
}

// named is a model at a provider.
type named struct {
	provider
	model string
}

// alias is the name that clients use, from which the model does not follow.
func (n named) alias() string {
	return n.name + "." + strings.NewReplacer("/", ".", ":", ".", "@", ".").Replace(n.model)
}

func (n named) owns(client string) bool { return strings.Contains(" "+n.own+" ", " "+client+" ") }

// configuration returns the lines of a site with all models, and with those of further providers.
func configuration(t *testing.T, s *service.Server, more ...provider) (lines []string, all []named) {
	t.Setenv("MODELS_KEY", "key-of-the-services-0123456789")
	file := account(t, s)
	for _, p := range slices.Concat(providers, more) {
		lines = append(lines, strings.ReplaceAll(p.block(s), "ACCOUNT", file))
		for model := range strings.FieldsSeq(p.models) {
			n := named{p, model}
			all = append(all, n)
			lines = append(lines, "model "+n.alias()+" {\nto "+p.name+"/"+model+"\n}")
		}
	}
	return lines, all
}

// account returns the path of a file with a service account of Google.
func account(t *testing.T, s *service.Server) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	raw, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "my-project", "client_email": "gateway@my-project.iam.gserviceaccount.com", "client_id": "1",
		"private_key_id": "k1", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": s.URL + "/token",
	})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "account.json")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}
