package models_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// local are providers of the user's own, which have the format of a service, and one of a model that
// does not reason.
var local = []provider{
	{name: "vllm", preset: "vllm", service: service.Together, path: "/v1", own: "chat", lines: "format chat", models: "m"},
	{name: "ollama", preset: "ollama", service: service.Together, path: "/v1", own: "chat", lines: "format chat", models: "m"},
	{name: "llamacpp", preset: "llamacpp", service: service.Together, path: "/v1", own: "chat", lines: "format chat", models: "m"},
	{name: "mistral_plain", preset: "mistral {env.MODELS_KEY}", service: service.Mistral, path: "/v1", own: "chat", models: "codestral-2508"},
	{name: "groq_plain", preset: "groq {env.MODELS_KEY}", service: service.Groq, path: "/openai/v1", own: "chat responses", models: "llama-3.1-8b-instant"},
}

// replays are where providers take the reasoning of earlier turns in plain text. The others refuse it,
// ignore it, or take it only as they signed or encrypted it.
var replays = map[string]string{}

func init() {
	for member, names := range map[string]string{
		`"reasoning_content":"why"`: "deepseek moonshot moonshot_chat dashscope zai siliconflow fireworks deepinfra nvidia llamacpp",
		`"reasoning":"why"`:         "openrouter together cerebras groq vllm ollama",
		`{"summary":[{"text":"why","type":"summary_text"}],"type":"reasoning"}`:       "minimax",
		`{"closed":true,"thinking":[{"text":"why","type":"text"}],"type":"thinking"}`: "mistral",
		"": "mistral_plain groq_plain openai openai_responses azure azure_claude anthropic gemini vertex vertex_claude bedrock bedrock_converse xai cohere",
	} {
		for name := range strings.FieldsSeq(names) {
			replays[name] = member
		}
	}
}

// untouched are providers that get the reasoning of a chat client as the client sent it.
const untouched = "openai azure xai minimax cohere"

// earlier are conversations in which the model reasoned before it called a tool, by the formats of clients.
var earlier = map[string][]string{
	"messages": {`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"why","signature":""},
		{"type":"tool_use","id":"call12345","name":"look","input":{"at":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call12345","content":"c"}]}]}`},
	"chat": {inChat(`"content":null,"reasoning":"why"`), inChat(`"reasoning_content":"why","content":"reasoning"`)},
	"responses": {`{"input":[{"role":"user","content":"a"},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"why"}]},
		{"type":"function_call","call_id":"call12345","name":"look","arguments":"{\"at\":\"x\"}"},{"type":"function_call_output","call_id":"call12345","output":"c"}]}`},
	"gemini": {`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"why","thought":true},{"functionCall":{"name":"look","args":{"at":"x"}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"c"}}}]}]}`},
}

// inChat returns a conversation of a chat client with members of the turn of the model.
func inChat(members string) string {
	return `{"messages":[{"role":"user","content":"a"},{"role":"assistant",` + members + `,
		"tool_calls":[{"id":"call12345","type":"function","function":{"name":"look","arguments":"{\"at\":\"x\"}"}}]},{"role":"tool","tool_call_id":"call12345","content":"c"}]}`
}

// Models lost their reasoning between calls of tools at MiniMax, Together, DeepInfra, NVIDIA, Groq and
// vLLM, and NVIDIA refused a turn without it. A chat client has the reasoning of earlier turns as the service
// that answered them named it: another service refused the name, or did not know it. Groq and Mistral
// refused the turn of every client that had talked to another service before.
func TestEarlierReasoningComesBackToTheServicesThatTakeIt(t *testing.T) {
	fakes := service.Start(t)
	lines, all := configuration(t, fakes, local...)
	s := site.Start(t, lines...)
	for _, n := range all {
		want, known := replays[n.name]
		require.True(t, known, n.name)
		if n.name == "mistral" && n.model == "codestral-2508" {
			continue // as at mistral_plain
		}
		for _, c := range clients {
			if n.owns(c.format) && (c.format != "chat" || strings.Contains(untouched, n.service)) {
				continue
			}
			want := want
			if n.service == service.Mistral && c.format == "chat" {
				want = "" // its own clients have it in the content
			}
			for _, body := range earlier[c.format] {
				members := c.thinking(t, n, nil)
				c.force(t, members)
				delete(members, "tool_choice")
				delete(members, "toolConfig")
				require.NoError(t, json.Unmarshal([]byte(body), &members))
				raw, err := json.Marshal(members)
				require.NoError(t, err)
				cell := n.name + " " + n.model + " " + c.format
				reply := s.Ask(c.path, string(raw))
				arrived, rule := fakes.Last()
				require.Nil(t, rule, cell)
				assert.Equal(t, http.StatusOK, reply.Status, cell+reply.Body)
				got := encoded(arrived.Body)
				assert.Contains(t, got, want, cell)
				assert.Equal(t, min(len(want), 1), strings.Count(got, "why"), cell)
			}
		}
	}
}
