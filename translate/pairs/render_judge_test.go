package pairs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// judgeChat accepts a chat request only if the public API would: no field that
// it does not state, every value of the type that it states, every call
// answered at once.
func judgeChat(body []byte) error {
	var r chatRequest
	if err := strictly(body, &r); err != nil {
		return err
	}
	if r.Model == "" || len(r.Messages) == 0 {
		return fmt.Errorf("model and messages are required")
	}
	if err := judgeConversation(r.Messages); err != nil {
		return err
	}
	for i, tool := range r.Tools {
		if !tool.isRight() {
			return fmt.Errorf("tools[%d]: %+v", i, tool)
		}
	}
	if len(r.Tools) == 0 && (r.ToolChoice != nil || r.ParallelToolCalls != nil || r.Tools != nil) {
		return fmt.Errorf("a choice without tools, or no tools in a list")
	}
	return nil
}

type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	MaxTokens           *int          `json:"max_tokens"`
	MaxCompletionTokens *int          `json:"max_completion_tokens"`
	Temperature         *float64      `json:"temperature"`
	TopP                *float64      `json:"top_p"`
	TopK                *int          `json:"top_k"` // an extension
	N                   *int          `json:"n"`
	Stop                any           `json:"stop"`
	Stream              *bool         `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage *bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools             []chatTool `json:"tools"`
	ToolChoice        any        `json:"tool_choice"`
	ParallelToolCalls *bool      `json:"parallel_tool_calls"`
	ResponseFormat    *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict *bool           `json:"strict"`

			Description string `json:"description"`
		} `json:"json_schema"`
	} `json:"response_format"`
	ReasoningEffort      string             `json:"reasoning_effort"`
	Verbosity            string             `json:"verbosity"`
	Modalities           []string           `json:"modalities"`
	PromptCacheKey       string             `json:"prompt_cache_key"`
	User                 string             `json:"user"`
	SafetyIdentifier     string             `json:"safety_identifier"`
	ServiceTier          string             `json:"service_tier"`
	Moderation           map[string]any     `json:"moderation"`
	Seed                 *int               `json:"seed"`
	LogitBias            map[string]float64 `json:"logit_bias"`
	PresencePenalty      *float64           `json:"presence_penalty"`
	FrequencyPenalty     *float64           `json:"frequency_penalty"`
	Logprobs             *bool              `json:"logprobs"`
	TopLogprobs          *int               `json:"top_logprobs"`
	ContinueFinalMessage *bool              `json:"continue_final_message"` // extensions
	AddGenerationPrompt  *bool              `json:"add_generation_prompt"`
	ChatTemplateKwargs   map[string]any     `json:"chat_template_kwargs"`
	Thinking             map[string]any     `json:"thinking"`
	MinP                 *float64           `json:"min_p"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function *struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters"`
		Strict      *bool          `json:"strict"`
	} `json:"function"`
	Custom *struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Format      *struct {
			Type    string `json:"type"`
			Grammar *struct {
				Syntax     string `json:"syntax"`
				Definition string `json:"definition"`
			} `json:"grammar"`
		} `json:"format"`
	} `json:"custom"`
}

// isRight reports whether a tool has the members of its type.
func (t *chatTool) isRight() bool {
	if t.Type == "custom" {
		return t.Custom != nil && t.Function == nil && toolName.MatchString(t.Custom.Name)
	}
	return t.Type == "function" && t.Function != nil && t.Custom == nil && toolName.MatchString(t.Function.Name)
}

type chatMessage struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ToolCallID       string          `json:"tool_call_id"`
	ToolCalls        []chatCall      `json:"tool_calls"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function *struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Custom *struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`
}

// isRight reports whether a call has the members of its type.
func (c *chatCall) isRight() bool {
	if c.Type == "custom" {
		return c.ID != "" && c.Custom != nil && c.Function == nil && toolName.MatchString(c.Custom.Name)
	}
	return c.Type == "function" && c.ID != "" && c.Function != nil && c.Custom == nil &&
		toolName.MatchString(c.Function.Name) && json.Valid([]byte(c.Function.Arguments))
}

type chatPart struct {
	Type     string `json:"type"`
	Text     *string
	ImageURL *struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"image_url"`
	InputAudio *struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
	VideoURL *struct {
		URL string `json:"url"`
	} `json:"video_url"` // of the services with models that see videos
	File *struct {
		Filename string `json:"filename"`
		FileData string `json:"file_data"`
	} `json:"file"`
	Breakpoint *struct {
		Mode string `json:"mode"`
	} `json:"prompt_cache_breakpoint"`
	Thinking []struct{ Type, Text string } `json:"thinking"` // of Mistral
	Closed   bool                          `json:"closed"`
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// strictly decodes one JSON value and refuses members that v does not have.
func strictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// judgeConversation judges the messages one by one.
func judgeConversation(messages []chatMessage) error {
	for i, m := range messages {
		if err := judgeContent(m); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		for _, call := range m.ToolCalls {
			if !call.isRight() {
				return fmt.Errorf("messages[%d]: call %+v", i, call)
			}
		}
	}
	return nil
}

func judgeContent(m chatMessage) error {
	if !strings.Contains(" system developer user assistant tool ", " "+m.Role+" ") {
		return fmt.Errorf("role %q", m.Role)
	}
	if (m.ToolCallID != "") != (m.Role == "tool") || len(m.ToolCalls) > 0 && m.Role != "assistant" {
		return fmt.Errorf("%s with calls or their id", m.Role)
	}
	switch {
	case len(m.Content) == 0, string(m.Content) == "null" && len(m.ToolCalls) == 0:
		return fmt.Errorf("content is missing")
	case m.Content[0] == '"', string(m.Content) == "null":
		return nil
	}
	var parts []chatPart
	if err := strictly(m.Content, &parts); err != nil {
		return err
	}
	if len(parts) == 0 {
		return fmt.Errorf("no parts")
	}
	for _, p := range parts {
		ok := p.Type == "text" && p.Text != nil || p.Type == "image_url" && p.ImageURL != nil || p.Type == "file" && p.File != nil ||
			p.Type == "input_audio" && p.InputAudio != nil ||
			p.Type == "video_url" && p.VideoURL != nil
		if p.Type == "thinking" && m.Role == "assistant" && len(p.Thinking) == 1 && p.Closed {
			continue
		}
		if !ok || p.Type != "text" && m.Role != "user" && m.Role != "tool" {
			return fmt.Errorf("part %+v in a message of role %s", p, m.Role)
		}
	}
	return nil
}
