package pairs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// judgeResponses accepts a responses request only if the public API would: no field
// that it does not state, every value of the type that it states, nothing that the
// provider would keep, no reasoning that leads to nothing.
func judgeResponses(body []byte) error {
	var r responsesRequest
	if err := strictly(body, &r); err != nil {
		return err
	}
	switch {
	case r.Model == "" || len(r.Input) == 0:
		return fmt.Errorf("model and input are required")
	case r.Store == nil || *r.Store:
		return fmt.Errorf("store must be false")
	case r.MaxOutputTokens != nil && *r.MaxOutputTokens < 16:
		return fmt.Errorf("max_output_tokens %d", *r.MaxOutputTokens)
	case len(r.Tools) == 0 && (r.ToolChoice != nil || r.ParallelToolCalls != nil || r.Tools != nil):
		return fmt.Errorf("a choice without tools, or no tools in a list")
	}
	for i, tool := range r.Tools {
		if err := tool.judge(); err != nil {
			return fmt.Errorf("tools[%d]: %w", i, err)
		}
	}
	for i, item := range r.Input {
		if err := item.judge(); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
		if item.Type == "reasoning" && (i+1 == len(r.Input) || !r.Input[i+1].follows()) {
			return fmt.Errorf("input[%d]: reasoning that leads to nothing", i)
		}
	}
	return nil
}

type responsesRequest struct {
	Model           string      `json:"model"`
	Instructions    *string     `json:"instructions"`
	Input           []askedItem `json:"input"`
	MaxOutputTokens *int        `json:"max_output_tokens"`
	Temperature     *float64    `json:"temperature"`
	TopP            *float64    `json:"top_p"`
	TopLogprobs     *int        `json:"top_logprobs"`
	Reasoning       *struct {
		Effort  string `json:"effort"`
		Summary string `json:"summary"`
	} `json:"reasoning"`
	Text *struct {
		Verbosity string `json:"verbosity"`
		Format    *struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"schema"`
			Strict      *bool           `json:"strict"`
		} `json:"format"`
	} `json:"text"`
	Tools                []askedTool       `json:"tools"`
	ToolChoice           any               `json:"tool_choice"`
	ParallelToolCalls    *bool             `json:"parallel_tool_calls"`
	Include              []string          `json:"include"`
	User                 string            `json:"user"`
	SafetyIdentifier     string            `json:"safety_identifier"`
	ServiceTier          string            `json:"service_tier"`
	Moderation           map[string]any    `json:"moderation"`
	Metadata             map[string]string `json:"metadata"`
	PromptCacheKey       string            `json:"prompt_cache_key"`
	PromptCacheOptions   map[string]any    `json:"prompt_cache_options"`
	PromptCacheRetention string            `json:"prompt_cache_retention"`
	Store                *bool             `json:"store"`
	Stream               *bool             `json:"stream"`
	MinP                 *float64          `json:"min_p"` // an extension
}

type askedTool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	Parameters  map[string]any `json:"parameters"`
	Strict      *bool          `json:"strict"`
	Format      *struct {
		Type       string `json:"type"`
		Syntax     string `json:"syntax"`
		Definition string `json:"definition"`
	} `json:"format"`
}

func (t *askedTool) judge() error {
	function := t.Type == "function" && t.Strict != nil && t.Parameters["type"] != nil && t.Format == nil
	custom := t.Type == "custom" && t.Strict == nil && t.Parameters == nil
	images := t.Type == "image_generation" && t.Name == "" && t.Parameters == nil
	if !images && (!toolName.MatchString(t.Name) || !function && !custom) {
		return fmt.Errorf("%+v", t)
	}
	return nil
}

type askedItem struct {
	Type             string          `json:"type"`
	ID               string          `json:"id"`
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	CallID           string          `json:"call_id"`
	Name             string          `json:"name"`
	Arguments        *string         `json:"arguments"`
	Input            *string         `json:"input"`
	Output           json.RawMessage `json:"output"`
	Summary          []summaryText   `json:"summary"`
	EncryptedContent string          `json:"encrypted_content"`
}

type summaryText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// follows reports whether the item is one that reasoning leads to.
func (it *askedItem) follows() bool {
	return slices.Contains([]string{"reasoning", "function_call", "custom_tool_call"}, it.Type) || it.Type == "message" && it.Role == "assistant"
}

func (it *askedItem) judge() error {
	ok := false
	switch it.Type {
	case "message":
		return judgeItemContent(it.Content, it.Role)
	case "function_call":
		ok = it.CallID != "" && toolName.MatchString(it.Name) && it.Arguments != nil && it.ID == ""
	case "custom_tool_call":
		ok = it.CallID != "" && toolName.MatchString(it.Name) && it.Input != nil && it.ID == ""
	case "function_call_output", "custom_tool_call_output":
		if it.CallID == "" {
			return fmt.Errorf("no call_id")
		}
		return judgeItemContent(it.Output, "tool")
	case "reasoning":
		ok = it.Summary != nil && (it.EncryptedContent != "" || it.Content != nil || len(it.Summary) > 0)
	}
	if !ok {
		return fmt.Errorf("%+v", it)
	}
	return nil
}

// itemParts are the types of parts by who has them.
var itemParts = map[string]string{
	"user": " input_text input_image input_file ", "tool": " input_text input_image input_file ",
	"system": " input_text ", "developer": " input_text ", "assistant": " output_text refusal ",
}

func judgeItemContent(content json.RawMessage, role string) error {
	if itemParts[role] == "" || len(content) == 0 {
		return fmt.Errorf("content %s of %q", content, role)
	}
	if content[0] == '"' && role != "assistant" {
		return nil
	}
	var parts []struct {
		Type       string  `json:"type"`
		Text       *string `json:"text"`
		Refusal    *string `json:"refusal"`
		ImageURL   *string `json:"image_url"`
		Detail     string  `json:"detail"`
		FileData   *string `json:"file_data"`
		FileURL    *string `json:"file_url"`
		Filename   *string `json:"filename"`
		Breakpoint any     `json:"prompt_cache_breakpoint"`
	}
	if err := strictly(content, &parts); err != nil || len(parts) == 0 {
		return fmt.Errorf("%s: %w", content, err)
	}
	for _, p := range parts {
		ok := p.Text != nil || p.Refusal != nil || p.ImageURL != nil && p.Detail != "" || p.FileData != nil && p.Filename != nil || p.FileURL != nil
		if !ok || !strings.Contains(itemParts[role], " "+p.Type+" ") {
			return fmt.Errorf("part %+v of %s", p, role)
		}
	}
	return nil
}
