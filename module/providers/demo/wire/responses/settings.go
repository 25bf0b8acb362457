package responses

import (
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// settings are the members of a request that its response repeats.
type settings struct {
	Instructions     json.RawMessage `json:"instructions"`
	MaxOutputTokens  json.RawMessage `json:"max_output_tokens"`
	MaxToolCalls     json.RawMessage `json:"max_tool_calls"`
	Metadata         json.RawMessage `json:"metadata"`
	ParallelCalls    json.RawMessage `json:"parallel_tool_calls"`
	PromptCacheKey   json.RawMessage `json:"prompt_cache_key"`
	Reasoning        json.RawMessage `json:"reasoning"`
	SafetyIdentifier json.RawMessage `json:"safety_identifier"`
	Temperature      json.RawMessage `json:"temperature"`
	Text             json.RawMessage `json:"text"`
	ToolChoice       json.RawMessage `json:"tool_choice"`
	Tools            json.RawMessage `json:"tools"`
	TopLogprobs      json.RawMessage `json:"top_logprobs"`
	TopP             json.RawMessage `json:"top_p"`
	Truncation       json.RawMessage `json:"truncation"`
	User             json.RawMessage `json:"user"`
}

func newSettings(b *wire.Body) settings {
	value := func(name, none string) json.RawMessage {
		if raw := b.Raw(name); raw != nil {
			return raw
		}
		return json.RawMessage(none)
	}
	return settings{
		Instructions:     value("instructions", "null"),
		MaxOutputTokens:  value("max_output_tokens", "null"),
		MaxToolCalls:     value("max_tool_calls", "null"),
		Metadata:         value("metadata", "{}"),
		ParallelCalls:    value("parallel_tool_calls", "true"),
		PromptCacheKey:   value("prompt_cache_key", "null"),
		Reasoning:        value("reasoning", `{"effort":null,"summary":null}`),
		SafetyIdentifier: value("safety_identifier", "null"),
		Temperature:      value("temperature", "1.0"),
		Text:             value("text", `{"format":{"type":"text"}}`),
		ToolChoice:       value("tool_choice", `"auto"`),
		Tools:            value("tools", "[]"),
		TopLogprobs:      value("top_logprobs", "0"),
		TopP:             value("top_p", "1.0"),
		Truncation:       value("truncation", `"disabled"`),
		User:             value("user", "null"),
	}
}
