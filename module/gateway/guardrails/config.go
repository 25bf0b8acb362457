package guardrails

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Config configures a guard.
type Config struct {
	// Name is the name of the guard in errors, logs and metrics: 1 to 64 letters, digits and
	// the characters -_.
	Name string `json:"name"`

	// GuardRaw is the module that checks texts.
	GuardRaw json.RawMessage `json:"guard,omitempty" caddy:"namespace=ai_gateway.guards inline_key=guard"`

	// Parts are the parts of exchanges that the guard checks: "request", "answer". Default: both.
	Parts []string `json:"on,omitempty"`

	// Check are the kinds of texts that the guard checks: system, user, assistant,
	// tool_result, call, tool, mcp_server, reasoning, other. Default: all but reasoning, which is the
	// reasoning in answers.
	Check []aigateway.GuardKind `json:"check,omitempty"`

	// Models are the names and patterns of the models whose exchanges the guard checks, as
	// clients name them. Default: all models.
	Models []aigateway.Pattern `json:"models,omitempty"`

	// Keys are the ids and patterns of ids of the keys whose exchanges the guard checks.
	// Default: all keys.
	Keys []aigateway.Pattern `json:"keys,omitempty"`

	// AllowReferences accepts requests that refer to what a provider keeps, such as earlier
	// responses and files, whose texts the guard does not see. Default: false, they are
	// refused with 400.
	AllowReferences bool `json:"allow_references,omitempty"`
}

// The values of On.
const (
	OnRequest = "request"
	OnAnswer  = "answer"
)

// defaultKinds are the kinds of texts that a guard checks by default.
var defaultKinds = []aigateway.GuardKind{
	aigateway.GuardSystem, aigateway.GuardUser, aigateway.GuardAssistant, aigateway.GuardToolResult,
	aigateway.GuardCall, aigateway.GuardTool, aigateway.GuardServer, aigateway.GuardOther,
}

// Validate returns an error for an invalid configuration.
func (c *Config) Validate() error {
	foreign := func(r rune) bool { return !strings.ContainsRune(aigateway.Base62+"-_.", r) }
	if c.Name == "" || len(c.Name) > 64 || strings.ContainsFunc(c.Name, foreign) {
		return fmt.Errorf("guard '%s': a name has 1 to 64 letters, digits and characters of -_. only", c.Name)
	}
	for _, part := range c.Parts {
		if part != OnRequest && part != OnAnswer {
			return fmt.Errorf("guard '%s': on must be %s or %s, not '%s'", c.Name, OnRequest, OnAnswer, part)
		}
	}
	known := append(slices.Clone(defaultKinds), aigateway.GuardReasoning)
	for _, kind := range c.Check {
		if !slices.Contains(known, kind) {
			return fmt.Errorf("guard '%s': there is no kind of text '%s'; known are: %s", c.Name, kind, join(known))
		}
	}
	for _, pattern := range slices.Concat(c.Models, c.Keys) {
		if _, err := aigateway.ParsePattern(string(pattern)); err != nil {
			return fmt.Errorf("guard '%s': %w", c.Name, err)
		}
	}
	return nil
}

func join(kinds []aigateway.GuardKind) string {
	words := make([]string, len(kinds))
	for i, kind := range kinds {
		words[i] = string(kind)
	}
	return strings.Join(words, ", ")
}

// checks reports whether the guard checks a part of exchanges.
func (c *Config) checks(part string) bool { return len(c.Parts) == 0 || slices.Contains(c.Parts, part) }

// covers reports whether the guard checks the exchanges of a key and a model.
func (c *Config) covers(key, model string) bool {
	return matches(c.Keys, key) && coverModel(c.Models, model)
}

// coverModel reports whether one of some patterns covers a model, or there are none.
func coverModel(patterns []aigateway.Pattern, model string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p aigateway.Pattern) bool { return p.Covers(model) })
}

// matches reports whether a name matches one of some patterns, or there are none.
func matches(patterns []aigateway.Pattern, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p aigateway.Pattern) bool { return p.Match(name) })
}
