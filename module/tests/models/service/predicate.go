package service

import "slices"

// predicates are what no other term expresses, about all values at a path.
var predicates = map[string]func(found []any) bool{
	"open":       func(found []any) bool { return slices.ContainsFunc(found, open) },
	"twice":      twice,
	"unsigned":   func(found []any) bool { return slices.ContainsFunc(found, unsigned) },
	"unreasoned": func(found []any) bool { return slices.ContainsFunc(found, unreasoned) },
	"unordered":  func(found []any) bool { return unordered(found[0]) },
	"instructed": func(found []any) bool { return instructedLate(found[0]) },
	"unknown":    func(found []any) bool { return slices.ContainsFunc(found, unknown) },
}

// open reports whether a schema, or one within it, lets an object have further members.
func open(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "object" && v["additionalProperties"] != false {
			return true
		}
		for _, member := range v {
			if open(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, open)
	}
	return false
}

func twice(found []any) bool {
	for i, v := range found {
		if slices.Contains(found[:i], v) {
			return true
		}
	}
	return false
}

// unsigned reports whether the first call among the parts of a content of gemini has no signature.
func unsigned(parts any) bool {
	list, _ := parts.([]any)
	for _, part := range list {
		if p, _ := part.(map[string]any); p["functionCall"] != nil {
			return p["thoughtSignature"] == nil
		}
	}
	return false
}

// unreasoned reports whether a message of chat calls tools without its reasoning, or one of
// messages without its thinking.
func unreasoned(message any) bool {
	m, _ := message.(map[string]any)
	if m["tool_calls"] != nil {
		return m["reasoning_content"] == nil
	}
	blocks, _ := m["content"].([]any)
	has := func(kind string) bool {
		return slices.ContainsFunc(blocks, func(b any) bool { return b.(map[string]any)["type"] == kind })
	}
	return m["role"] == "assistant" && has("tool_use") && !has("thinking")
}

// unordered reports whether the message of a user directly follows that of a tool.
func unordered(messages any) bool {
	list, _ := messages.([]any)
	last := ""
	for _, message := range list {
		role, _ := message.(map[string]any)["role"].(string)
		if role == "user" && last == "tool" || role == "tool" && last == "user" {
			return true
		}
		last = role
	}
	return false
}

// instructedLate reports whether a system message is not the first message.
func instructedLate(messages any) bool {
	list, _ := messages.([]any)
	return slices.ContainsFunc(list[min(1, len(list)):], func(message any) bool {
		m, _ := message.(map[string]any)
		return m["role"] == "system"
	})
}

// ofMistral are the members of a message that Mistral knows.
var ofMistral = []string{"role", "content", "tool_calls", "tool_call_id", "name", "prefix"}

// unknown reports whether a message has a member that Mistral does not know.
func unknown(message any) bool {
	m, _ := message.(map[string]any)
	for name := range m {
		if !slices.Contains(ofMistral, name) {
			return true
		}
	}
	return false
}
