package translatetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// conversedMedia is an image, a video or a document in a request of the converse format.
type conversedMedia struct {
	Format, Name string
	Source       struct{ Bytes []byte }
}

type conversedBlock struct {
	Text     *string
	Image    *conversedMedia
	Video    *conversedMedia
	Document *conversedMedia
	ToolUse  *struct {
		ToolUseID, Name string
		Input           map[string]any
	}
	ToolResult *struct {
		ToolUseID string
		Content   []conversedBlock
		Status    string
	}
	ReasoningContent *struct {
		ReasoningText   *struct{ Text, Signature string }
		RedactedContent []byte
	}
	CachePoint *struct{ Type, TTL string }
}

type conversedBody struct {
	Messages []struct {
		Role    string
		Content []conversedBlock
	}
	System []struct {
		Text       *string
		CachePoint *struct{ Type, TTL string }
	}
	InferenceConfig struct {
		MaxTokens         *int32
		Temperature, TopP *float64
		StopSequences     []string
	}
	ToolConfig *struct {
		Tools []struct {
			ToolSpec struct {
				Name        string
				Description *string
				InputSchema struct{ JSON map[string]any }
				Strict      bool
			}
		}
		ToolChoice map[string]any
	}
	OutputConfig struct {
		Effort     string
		TextFormat *struct {
			Type      string
			Structure struct {
				JSONSchema struct{ Name, Description, Schema string }
			}
		}
	}
	ServiceTier                       *struct{ Type string }
	AdditionalModelRequestFields      map[string]any
	AdditionalModelResponseFieldPaths []string
}

var conversedFile = regexp.MustCompile(`^[a-zA-Z0-9 ()\[\]-]+$`)

var conversedName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// StrictConverse returns why a strict service of the converse format refuses a request, "" if it
// accepts it.
func StrictConverse(request []byte) string {
	var b conversedBody
	decoder := json.NewDecoder(bytes.NewReader(request))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b); err != nil {
		return err.Error()
	}
	if t := b.InferenceConfig.Temperature; t != nil && (*t < 0 || *t > 1) {
		return "temperature"
	}
	for _, s := range b.System {
		if s.CachePoint == nil && (s.Text == nil || strings.TrimSpace(*s.Text) == "") {
			return "The text field in the system content block is blank"
		}
	}
	if f := b.OutputConfig.TextFormat; f != nil && !json.Valid([]byte(f.Structure.JSONSchema.Schema)) {
		return "the schema is no JSON"
	}
	return cmp.Or(b.tools(), b.conversation())
}

func (b *conversedBody) tools() string {
	if b.ToolConfig == nil {
		return ""
	}
	if len(b.ToolConfig.Tools) == 0 {
		return "toolConfig.tools must not be empty"
	}
	for _, t := range b.ToolConfig.Tools {
		switch spec := t.ToolSpec; {
		case !conversedName.MatchString(spec.Name):
			return "invalid name " + spec.Name
		case spec.Description != nil && *spec.Description == "":
			return "an empty description"
		case spec.InputSchema.JSON["type"] != "object":
			return "a schema without a type"
		}
	}
	return ""
}

// conversation checks the order of messages and blocks.
func (b *conversedBody) conversation() string {
	if len(b.Messages) == 0 {
		return "a conversation must start with a user message"
	}
	calls, points := map[string]bool{}, 0
	for i, m := range b.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Sprintf("message %d has the role %s", i, m.Role)
		}
		if len(m.Content) == 0 {
			return "a message without content"
		}
		results, answered, text, file := 0, false, false, false
		called := map[string]bool{}
		for _, c := range m.Content {
			switch {
			case c.CachePoint != nil:
				points++
				continue
			case c.ToolResult != nil:
				if answered || m.Role != "user" || !calls[c.ToolResult.ToolUseID] {
					return "a result that is behind other blocks, or without its call"
				}
				if why := conversedKinds(c.ToolResult.Content); why != "" || len(c.ToolResult.Content) == 0 {
					return "in a result: " + why
				}
				results++
				continue
			case c.ToolUse != nil:
				if m.Role != "assistant" || !conversedName.MatchString(c.ToolUse.ToolUseID) || !conversedName.MatchString(c.ToolUse.Name) || c.ToolUse.Input == nil || b.ToolConfig == nil {
					return "a call without a name, an id, an object or toolConfig"
				}
				called[c.ToolUse.ToolUseID] = true
			case c.ReasoningContent != nil:
				if r := c.ReasoningContent.ReasoningText; r != nil && r.Signature == "" {
					return "thinking.signature: Field required"
				}
			}
			answered, text, file = true, text || c.Text != nil, file || c.Document != nil
		}
		switch why := conversedKinds(m.Content); {
		case why != "":
			return why
		case m.Role == "user" && results != len(calls):
			return fmt.Sprintf("message %d has %d results for %d calls", i, results, len(calls))
		case file && !text:
			return "a document without a text"
		}
		calls = called
	}
	if points > 4 {
		return "too many cache points"
	}
	return ""
}

func conversedKinds(all []conversedBlock) string {
	for _, c := range all {
		kinds := 0
		for _, is := range []bool{c.Text != nil, c.Image != nil, c.Video != nil, c.Document != nil, c.ToolUse != nil, c.ToolResult != nil, c.ReasoningContent != nil, c.CachePoint != nil} {
			if is {
				kinds++
			}
		}
		switch {
		case kinds != 1:
			return "a block with more than one kind, or none"
		case c.Text != nil && strings.TrimSpace(*c.Text) == "":
			return "The text field in the ContentBlock object is blank"
		case c.Document != nil && !conversedFile.MatchString(c.Document.Name):
			return "the name of a document"
		}
	}
	return ""
}
