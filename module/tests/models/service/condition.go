package service

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// condition is what a rule demands of a request: all of its terms, which are separated by spaces.
//
//	temperature            the member is there and is not null
//	thinking.type=enabled  it has one of these values, which | separates
//	tools>128              it is greater, or has more elements or bytes; < likewise
//	messages.*.id~^[a-z]+$ its text matches; !~ its text does not
//	messages@unordered     one of predicates holds for what is at the path
//	!stop                  a leading ! inverts a term
//
// In a path, * is every element or member and -1 the last element. The value behind < or > may
// be another path. A first segment that is one of names is the member with that meaning
// in the format of the request.
type condition []*term

type term struct {
	inverted bool
	path     string
	operator string
	operand  string
	pattern  *regexp.Regexp // of ~ and !~
}

var termSyntax = regexp.MustCompile(`^(!?)([^=<>~@!]+)(=|<|>|~|!~|@)?(.*)$`)

func parseCondition(s string) (c condition) {
	for text := range strings.FieldsSeq(s) {
		found := termSyntax.FindStringSubmatch(text)
		t := &term{inverted: found[1] != "", path: found[2], operator: found[3], operand: found[4]}
		if strings.HasSuffix(t.operator, "~") {
			t.pattern = regexp.MustCompile(t.operand)
		}
		if t.operator == "@" && predicates[t.operand] == nil {
			panic("reading a rule: no predicate " + t.operand)
		}
		c = append(c, t)
	}
	return c
}

func (c condition) holds(q *Request) bool {
	for _, t := range c {
		if t.holds(q) == t.inverted {
			return false
		}
	}
	return true
}

// limit returns the number that a term compares with.
func (c condition) limit() string {
	for _, t := range c {
		if t.operator == ">" || t.operator == "<" {
			return t.operand
		}
	}
	return ""
}

// words returns the values that a term compares with.
func (c condition) words() []string {
	for _, t := range c {
		if t.operator == "=" {
			return strings.Split(t.operand, "|")
		}
	}
	return nil
}

// names are the paths of members that formats name differently. Those of Converse are the names
// of messages, for the models of Anthropic.
var names = map[Format]map[string][]string{
	Chat: {
		"effort": {"reasoning_effort"}, "bound": {"max_completion_tokens", "max_tokens"}, "stops": {"stop"}, "schema": {"response_format.json_schema.schema"},
	},
	Completions: {"bound": {"max_tokens"}, "stops": {"stop"}},
	Responses:   {"effort": {"reasoning.effort"}, "bound": {"max_output_tokens"}},
	Messages:    {"effort": {"output_config.effort"}, "bound": {"max_tokens"}, "stops": {"stop_sequences"}, "forced": {"tool_choice.type"}},
	Gemini: {
		"effort": {ofThinking + "thinkingLevel"}, "budget": {ofThinking + "thinkingBudget"},
		"bound": {ofConfig + "maxOutputTokens"}, "stops": {ofConfig + "stopSequences"},
		"temperature": {ofConfig + "temperature"}, "top_p": {ofConfig + "topP"}, "top_k": {ofConfig + "topK"},
	},
	Converse: {
		"bound": {"inferenceConfig.maxTokens"}, "stops": {"inferenceConfig.stopSequences"},
		"temperature": {"inferenceConfig.temperature"}, "top_p": {"inferenceConfig.topP"}, "top_k": {ofModel + "top_k"},
		"thinking": {ofModel + "thinking"}, "output_config": {ofModel + "output_config", "outputConfig"}, "effort": {ofModel + "output_config.effort", "outputConfig.effort"},
		"forced": {"toolConfig.toolChoice.any", "toolConfig.toolChoice.tool"},
	},
}

const ofModel = "additionalModelRequestFields."

// pathsOf returns the paths of a member in a format.
func pathsOf(f Format, path string) (paths []string) {
	first, rest, _ := strings.Cut(path, ".")
	for _, named := range names[f][first] {
		paths = append(paths, strings.TrimSuffix(named+"."+rest, "."))
	}
	if paths == nil {
		return []string{path}
	}
	return paths
}

// Find returns the values at a path, in the syntax of conditions.
func (q *Request) Find(path string) (found []any) {
	for _, path := range pathsOf(q.Format, path) {
		found = append(found, at(q.Body, strings.Split(path, "."))...)
	}
	return found
}

// at returns the values at a path below a value. null is nothing.
func at(v any, path []string) (found []any) {
	if v == nil {
		return nil
	}
	if len(path) == 0 {
		return []any{v}
	}
	switch v := v.(type) {
	case map[string]any:
		if path[0] != "*" {
			return at(v[path[0]], path[1:])
		}
		for _, member := range v {
			found = append(found, at(member, path[1:])...)
		}
	case []any:
		switch {
		case path[0] == "*":
			for _, element := range v {
				found = append(found, at(element, path[1:])...)
			}
		case path[0] == "-1" && len(v) > 0:
			return at(v[len(v)-1], path[1:])
		}
	}
	return found
}

func (t *term) holds(q *Request) bool {
	found := q.Find(t.path)
	if t.operator == "@" {
		return len(found) > 0 && predicates[t.operand](found)
	}
	for _, v := range found {
		if t.is(q, v) {
			return true
		}
	}
	return false
}

// is reports whether the term holds for one value.
func (t *term) is(q *Request, v any) bool {
	switch t.operator {
	case "=":
		for word := range strings.SplitSeq(t.operand, "|") {
			if strings.EqualFold(text(v), word) {
				return true
			}
		}
		return false
	case "<":
		return size(v) < t.number(q)
	case ">":
		return size(v) > t.number(q)
	case "~":
		return t.pattern.MatchString(text(v))
	case "!~":
		return !t.pattern.MatchString(text(v))
	}
	return true
}

// number returns the operand, or the number at its path.
func (t *term) number(q *Request) float64 {
	n, err := strconv.ParseFloat(t.operand, 64)
	if err != nil {
		if found := q.Find(t.operand); len(found) > 0 {
			return size(found[0])
		}
	}
	return n
}

// text returns a string as it is, and other values as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, _ := json.Marshal(v) // has been decoded
	return string(raw)
}

// size returns a number as it is, and the length of other values.
func size(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case string:
		return float64(len(v))
	case []any:
		return float64(len(v))
	}
	return 0
}
