package models_test

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A client asks in one format for everything that clients set.
type client struct {
	format, path string
	body         string
	forced       service.Set // what it sends to force a call
}

const (
	picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	schema  = `{"type":"object","properties":{"seen":{"type":"string"}},"required":["seen"],"additionalProperties":false}`
	place   = `{"type":"object","properties":{"at":{"type":"string"}},"required":["at"],"additionalProperties":false}`
	// stops are six texts, of which the last is in the answers of the services.
	stops = `["stop1","stop2","stop3","stop4","stop5","six"]`
	// cut is what the last stop leaves of an answer.
	cut = "one two three four five "
)

var clients = []client{
	{
		format: "messages", path: site.MessagesPath, forced: service.Set{"tool_choice.type": "any"},
		body: `{"model":"m","max_tokens":1000000,"temperature":0.7,"top_p":0.9,"top_k":40,"thinking":{"type":"enabled","budget_tokens":16384},
			"output_config":{"effort":"high","format":{"type":"json_schema","schema":` + schema + `}},"stop_sequences":` + stops + `,
			"tools":[{"name":"look","input_schema":` + place + `}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},
			"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture + `"}}]}]}`,
	},
	{
		format: "chat", path: site.ChatPath, forced: service.Set{"tool_choice": "required"},
		body: `{"model":"m","max_completion_tokens":1000000,"temperature":0.7,"top_p":0.9,"top_k":40,"presence_penalty":0.5,"frequency_penalty":0.5,"reasoning_effort":"high","stop":` + stops + `,
			"response_format":{"type":"json_schema","json_schema":{"name":"sight","strict":true,"schema":` + schema + `}},
			"tools":[{"type":"function","function":{"name":"look","parameters":` + place + `}}],"tool_choice":"auto","parallel_tool_calls":false,
			"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture + `"}}]}]}`,
	},
	{
		format: "completions", path: site.CompletionsPath,
		body: `{"model":"m","max_tokens":1000000,"temperature":0.7,"top_p":0.9,"top_k":40,"presence_penalty":0.5,"frequency_penalty":0.5,"stop":` + stops + `,"prompt":"What is this?"}`,
	},
	{
		format: "responses", path: site.ResponsesPath, forced: service.Set{"tool_choice": "required"},
		body: `{"model":"m","max_output_tokens":1000000,"temperature":0.7,"top_p":0.9,"reasoning":{"effort":"high"},
			"text":{"format":{"type":"json_schema","name":"sight","strict":true,"schema":` + schema + `}},
			"tools":[{"type":"function","name":"look","strict":true,"parameters":` + place + `}],"tool_choice":"auto","parallel_tool_calls":false,
			"input":[{"role":"user","content":[{"type":"input_text","text":"What is this?"},{"type":"input_image","image_url":"data:image/png;base64,` + picture + `"}]}]}`,
	},
	{
		format: "gemini", path: site.GeminiPath, forced: service.Set{"toolConfig.functionCallingConfig.mode": "ANY"},
		body: `{"model":"m","generationConfig":{"maxOutputTokens":1000000,"temperature":0.7,"topP":0.9,"topK":40,"presencePenalty":0.5,"frequencyPenalty":0.5,"thinkingConfig":{"thinkingLevel":"HIGH"},
			"stopSequences":` + stops + `,"responseMimeType":"application/json","responseJsonSchema":` + schema + `},
			"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":` + place + `}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},
			"contents":[{"role":"user","parts":[{"text":"What is this?"},{"inlineData":{"mimeType":"image/png","data":"` + picture + `"}}]}]}`,
	},
}

// silent takes from a request what is said about thinking, and what depends on it.
var silent = service.Set{
	"thinking": nil, "output_config": nil, "reasoning_effort": nil, "reasoning": nil, "generationConfig.thinkingConfig": nil,
	"tools": nil, "tool_choice": nil, "parallel_tool_calls": nil, "toolConfig": nil,
}

// ownBound is the bound of clients that know the model.
const ownBound = "16000"

// own is what a client of some models of a service writes in the service's own format, in place of
// what is in the body: the values of these members reach the service as they are. nil are members
// that such a client leaves out. Members that a model refuses whatever their value are the gateway's
// business, and stay.
var own = []struct {
	services, models, formats string
	members                   service.Set
}{
	{"openai azure", "*", "chat", service.Set{"stop": []string{"stop1", "six"}, "top_k": nil}},
	{"openai azure", "gpt-5.4*", "chat", service.Set{"tools": nil, "tool_choice": nil, "parallel_tool_calls": nil}},
	{"openai azure", "gpt-5.[56]*", "chat", service.Set{"tools": nil, "tool_choice": nil, "parallel_tool_calls": nil}},
	{"openai azure", "gpt-6*", "chat", service.Set{"tools": nil, "tool_choice": nil, "parallel_tool_calls": nil}},

	{"gemini vertex", "*", "gemini", service.Set{"generationConfig.stopSequences": []string{"stop1", "six"}}},
	{"gemini vertex", "gemini-2*", "gemini", service.Set{"generationConfig.responseMimeType": nil, "generationConfig.responseJsonSchema": nil}},

	{"mistral", "*", "chat", service.Set{"max_completion_tokens": nil, "max_tokens": json.Number(ownBound), "top_k": nil}},
	{"deepseek", "*", "chat", service.Set{
		"max_completion_tokens": nil, "max_tokens": json.Number(ownBound), "top_k": nil, "messages": []any{service.Set{"role": "user", "content": "What is this?"}},
	}},
	{"groq", "*", "chat", service.Set{"response_format": nil, "stop": []string{"stop1", "six"}}},
	{"moonshot siliconflow zai cohere", "*", "chat", service.Set{"stop": []string{"six"}}},
}

// forces reports whether a client that knows the model forces a call: beside thinking, those of
// Anthropic and DeepSeek cannot.
func forces(n named) bool {
	return !strings.Contains(n.model, "claude") || n.service == service.OpenRouter
}

// request returns the body of the client for a model, and its members. It is false if no client
// writes such a request.
func (c client) request(t *testing.T, n named, forced bool) (members map[string]any, is bool) {
	require.NoError(t, json.Unmarshal([]byte(c.body), &members))
	members["model"] = n.alias()
	if forced {
		if c.forced == nil || n.owns(c.format) && !forces(n) {
			return nil, false
		}
		change(members, c.forced)
	}
	if !n.owns(c.format) {
		return members, true
	}
	for _, o := range own {
		if strings.Contains(o.services, n.service) && strings.Contains(o.formats, c.format) && like(o.models, n.model) {
			change(members, o.members)
		}
	}
	return members, true
}

func like(pattern, model string) bool {
	is, _ := path.Match(pattern, strings.ReplaceAll(model, "/", "-"))
	return is
}

// change sets or removes the members at paths.
func change(object map[string]any, members service.Set) {
	for at, value := range members {
		inner, names := object, strings.Split(at, ".")
		for _, name := range names[:len(names)-1] {
			inner, _ = inner[name].(map[string]any)
		}
		if last := names[len(names)-1]; value == nil {
			delete(inner, last)
		} else {
			inner[last] = value
		}
	}
}
