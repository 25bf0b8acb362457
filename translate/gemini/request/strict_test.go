package request_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// The strict service of the tests: it refuses what the real one refuses.

type content struct {
	Role  string
	Parts []struct {
		Text             *string
		ThoughtSignature string
		FunctionCall     *struct {
			ID, Name string
			Args     map[string]any
		}
		FunctionResponse *struct {
			ID, Name string
			Response map[string]any
			Parts    []any
		}
		InlineData *struct{ MimeType, Data string }
		FileData   *struct{ MimeType, FileURI string }
	}
}

type body struct {
	Contents          []content
	SystemInstruction *content
	Tools             []struct {
		FunctionDeclarations []struct {
			Name, Description    string
			Parameters           map[string]any
			ParametersJSONSchema map[string]any
		}
	}
	ToolConfig       any
	GenerationConfig map[string]any
	ServiceTier      string
}

var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

// strictly returns why the service refuses a request for a model, "" if it accepts it.
func strictly(request, model string) string {
	var b body
	decoder := json.NewDecoder(bytes.NewReader([]byte(request)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b); err != nil {
		return err.Error()
	}
	if len(b.Contents) == 0 {
		return "contents are not specified"
	}
	for _, tool := range b.Tools {
		for _, f := range tool.FunctionDeclarations {
			if !functionName.MatchString(f.Name) {
				return "invalid function name " + f.Name
			}
			if f.ParametersJSONSchema != nil && strings.HasPrefix(model, "gemini-2.0") {
				return "the model has no JSON schema"
			}
			if why := dialect(f.Parameters); why != "" {
				return why
			}
		}
	}
	if schema, ok := b.GenerationConfig["responseSchema"].(map[string]any); ok {
		if why := dialect(schema); why != "" {
			return why
		}
	}
	if thinking, ok := b.GenerationConfig["thinkingConfig"].(map[string]any); ok {
		if strings.HasPrefix(model, "gemini-2") == (thinking["thinkingLevel"] != nil) && thinking["thinkingLevel"] != nil {
			return "thinking level is not supported for this model"
		}
	}
	return b.conversation(strings.HasPrefix(model, "gemini-3"))
}

// conversation checks the order of contents and parts.
func (b *body) conversation(signs bool) string {
	current := 0
	for i, c := range b.Contents {
		if c.Role == "user" && c.results() < len(c.Parts) {
			current = i
		}
	}
	calls := 0 // of the content before
	for i, c := range b.Contents {
		want := []string{"user", "model"}[i%2]
		switch {
		case c.Role != want:
			return fmt.Sprintf("content %d has the role %s", i, c.Role)
		case len(c.Parts) == 0:
			return "a content without parts"
		case c.Role == "user" && c.results() != calls:
			return fmt.Sprintf("content %d has %d results for %d calls", i, c.results(), calls)
		}
		first, behind := true, false
		calls = 0
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				if c.Role != "model" {
					return "a call of the user"
				}
				if signs && first && i > current && p.ThoughtSignature == "" {
					return "function call is missing a thought_signature"
				}
				if !signs && p.FunctionCall.ID != "" {
					return "unknown id"
				}
				first = false
				calls++
			case p.FunctionResponse != nil:
				if behind || c.Role != "user" || p.FunctionResponse.Response == nil {
					return "a result that is behind other parts, of the model, or without an object"
				}
				if len(p.FunctionResponse.Parts) > 0 && !signs {
					return "media in a result"
				}
				if p.FunctionResponse.Name == "" {
					return "a result without a name"
				}
			case p.Text == nil && p.InlineData == nil && p.FileData == nil:
				return "a part without data"
			default:
				behind = true
			}
		}
	}
	return ""
}

func (c *content) results() (n int) {
	for _, p := range c.Parts {
		if p.FunctionResponse != nil {
			n++
		}
	}
	return n
}

// dialect checks a schema of the older dialect.
func dialect(schema map[string]any) string {
	for name, value := range schema {
		switch name {
		case "properties":
			for _, property := range value.(map[string]any) {
				if why := dialect(property.(map[string]any)); why != "" {
					return why
				}
			}
		case "items":
			if why := dialect(value.(map[string]any)); why != "" {
				return why
			}
		case "anyOf":
			for _, choice := range value.([]any) {
				if why := dialect(choice.(map[string]any)); why != "" {
					return why
				}
			}
		case "type", "format", "title", "description", "nullable", "enum", "minItems", "maxItems", "required",
			"propertyOrdering", "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "default":
		default:
			return "unknown name " + name
		}
	}
	return ""
}
