package pairs_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// judgeMessages accepts a messages request only if the public API would: no
// field that it does not state, every value of the type that it states, turns
// that alternate, results in front of all else, every call answered at once.
func judgeMessages(body []byte) error {
	var r messagesRequest
	if err := strictly(body, &r); err != nil {
		return err
	}
	switch {
	case r.Model == "" || r.MaxTokens < 1 || len(r.Messages) == 0:
		return fmt.Errorf("model, max_tokens and messages are required")
	case len(r.Tools) == 0 && (r.ToolChoice != nil || r.Tools != nil):
		return fmt.Errorf("a choice without tools, or no tools in a list")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 1):
		return fmt.Errorf("temperature %v", *r.Temperature)
	case strings.Count(string(body), `"cache_control"`) > 4:
		return fmt.Errorf("more than four breakpoints")
	}
	if err := judgeThinking(&r); err != nil {
		return err
	}
	for _, stop := range r.StopSequences {
		if strings.TrimSpace(stop) == "" {
			return fmt.Errorf("a blank stop")
		}
	}
	for i, tool := range r.Tools {
		if tool.Name == "" || tool.InputSchema["type"] != "object" && fmt.Sprintf("%T", tool.InputSchema["type"]) == "<nil>" {
			return fmt.Errorf("tools[%d]: %+v", i, tool)
		}
	}
	for _, b := range r.System {
		if b.Type != "text" || b.Text == nil || *b.Text == "" {
			return fmt.Errorf("system: %+v", b)
		}
	}
	return judgeTurns(r.Messages)
}

func judgeThinking(r *messagesRequest) error {
	t := r.Thinking
	switch {
	case t == nil, t.Type == "disabled":
		return nil
	case t.Type == "enabled" && (t.BudgetTokens < 1024 || t.BudgetTokens >= r.MaxTokens):
		return fmt.Errorf("a budget of %d in %d", t.BudgetTokens, r.MaxTokens)
	case t.Type == "enabled" && r.OutputConfig != nil && r.OutputConfig.Effort != "":
		return fmt.Errorf("a budget and an effort")
	case r.ToolChoice != nil && (r.ToolChoice.Type == "any" || r.ToolChoice.Type == "tool"):
		return fmt.Errorf("thinking may not be enabled when tool_choice forces tool use")
	case r.TopK != nil || r.Temperature != nil && *r.Temperature != 1:
		return fmt.Errorf("thinking beside sampling")
	}
	return nil
}

type messagesRequest struct {
	Model         string         `json:"model"`
	MaxTokens     int64          `json:"max_tokens"`
	Messages      []messagesTurn `json:"messages"`
	System        blocks         `json:"system"`
	Temperature   *float64       `json:"temperature"`
	TopP          *float64       `json:"top_p"`
	TopK          *int           `json:"top_k"`
	StopSequences []string       `json:"stop_sequences"`
	Stream        *bool          `json:"stream"`
	Tools         []struct {
		Name         string         `json:"name"`
		Description  *string        `json:"description"`
		InputSchema  map[string]any `json:"input_schema"`
		Strict       *bool          `json:"strict"`
		CacheControl *breakpoint    `json:"cache_control"`
	} `json:"tools"`
	ToolChoice *struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		OneByOne *bool  `json:"disable_parallel_tool_use"`
	} `json:"tool_choice"`
	Thinking *struct {
		Type         string `json:"type"`
		BudgetTokens int64  `json:"budget_tokens"`
		Display      string `json:"display"`
	} `json:"thinking"`
	OutputConfig *struct {
		Effort string `json:"effort"`
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	Metadata *struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
	ServiceTier string   `json:"service_tier"`
	MinP        *float64 `json:"min_p"` // an extension
}

type messagesTurn struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
}

// blocks is content, which may also be a string.
type blocks []messagesBlock

func (b *blocks) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		return strictly(data, (*[]messagesBlock)(b))
	}
	text := new(string)
	*b = blocks{{Type: "text", Text: text}}
	return json.Unmarshal(data, text)
}

type breakpoint struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

type messagesBlock struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text"`
	Source       *blockSource    `json:"source"`
	Title        *string         `json:"title"`
	Thinking     *string         `json:"thinking"`
	Signature    string          `json:"signature"`
	Data         string          `json:"data"`
	ID           *string         `json:"id"`
	Name         *string         `json:"name"`
	Input        map[string]any  `json:"input"`
	ToolUseID    *string         `json:"tool_use_id"`
	IsError      bool            `json:"is_error"`
	Content      json.RawMessage `json:"content"`
	CacheControl *breakpoint     `json:"cache_control"`
}

type blockSource struct {
	Type      string  `json:"type"`
	MediaType string  `json:"media_type"`
	Data      *string `json:"data"`
	URL       *string `json:"url"`
}

// judgeTurns judges the turns one by one.
func judgeTurns(turns []messagesTurn) error {
	role, called := "", make(map[string]bool)
	for i, turn := range turns {
		switch {
		case turn.Role != "user" && turn.Role != "assistant" && turn.Role != "system":
			return fmt.Errorf("messages.%d: role %q", i, turn.Role)
		case turn.Role == role, turn.Role == "system" && role != "user":
			return fmt.Errorf("messages.%d: %s behind %s", i, turn.Role, role)
		case len(turn.Content) == 0:
			return fmt.Errorf("messages.%d: no content", i)
		}
		role = turn.Role
		for j, b := range turn.Content {
			if j > 0 && b.Type == "tool_result" && turn.Content[j-1].Type != "tool_result" {
				return fmt.Errorf("messages.%d.content.%d: a result behind something else", i, j)
			}
			if err := judgeBlock(turn.Role, &b); err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
			if b.Type == "tool_use" {
				if called[*b.ID] {
					return fmt.Errorf("messages.%d.content.%d: the id %q again", i, j, *b.ID)
				}
				called[*b.ID] = *b.ID != ""
			}
		}
	}
	return nil
}

var claudeName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]*$`)

func judgeBlock(role string, b *messagesBlock) error {
	ok := false
	switch b.Type {
	case "text":
		ok = b.Text != nil && strings.TrimSpace(*b.Text) != ""
	case "thinking":
		ok = role == "assistant" && b.Thinking != nil && b.Signature != "" && b.CacheControl == nil
	case "redacted_thinking":
		ok = role == "assistant" && b.Data != "" && b.CacheControl == nil
	case "tool_use":
		ok = role == "assistant" && b.ID != nil && callID.MatchString(*b.ID) && b.Name != nil && claudeName.MatchString(*b.Name) && b.Input != nil
	case "tool_result":
		ok = role == "user" && b.ToolUseID != nil && callID.MatchString(*b.ToolUseID)
		if err := judgeResult(b.Content); err != nil {
			return err
		}
	case "image", "document":
		ok = role != "assistant" && role != "system" && b.Source != nil && (b.Source.Data != nil || b.Source.URL != nil)
	}
	if !ok {
		return fmt.Errorf("%+v of %s", b, role)
	}
	return nil
}

func judgeResult(content json.RawMessage) error {
	if len(content) == 0 || content[0] == '"' {
		return nil
	}
	var blocks []messagesBlock
	if err := strictly(content, &blocks); err != nil || len(blocks) == 0 {
		return fmt.Errorf("%s: %w", content, err)
	}
	for i := range blocks {
		if err := judgeBlock("", &blocks[i]); err != nil {
			return err
		}
	}
	return nil
}
