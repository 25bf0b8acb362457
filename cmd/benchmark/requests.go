package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// format is a wire format of requests and answers.
type format string

const (
	chat      format = "chat"
	messages  format = "messages"
	responses format = "responses"
)

// object is a JSON object.
type object = map[string]any

// paths are the paths of the formats.
var paths = map[format]string{
	chat:      "/v1/chat/completions",
	messages:  "/v1/messages",
	responses: "/v1/responses",
}

// body returns the body of a request for a model.
func (s scenario) body(model string) []byte {
	body := object{"model": model, "stream": s.events > 0}
	switch s.client {
	case chat:
		body["messages"] = s.size.conversation(chatCall)
		body["tools"] = s.size.definitions(func(name string) object {
			return object{"type": "function", "function": object{"name": name, "description": text(400), "parameters": schema}}
		})
	case messages:
		body["max_tokens"] = 1024
		body["messages"] = s.size.conversation(messagesCall)
		body["tools"] = s.size.definitions(func(name string) object {
			return object{"name": name, "description": text(400), "input_schema": schema}
		})
	case responses:
		body["store"] = false
		body["input"] = s.size.conversation(nil)
	}
	if s.size.tools == 0 {
		delete(body, "tools")
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err) // only strings, numbers and lists
	}
	return encoded
}

// conversation returns the turns. call returns a turn with the call of a tool, and a turn
// with its result.
func (z size) conversation(call func(id, content string) []object) []object {
	turns := []object{{"role": "user", "content": text(z.bytes)}}
	for i := 1; i < z.turns; i += 2 {
		if z.tools > 0 {
			turns = append(turns, call(fmt.Sprintf("call_%d", i), text(z.bytes))...)
			continue
		}
		turns = append(turns, object{"role": "assistant", "content": text(z.bytes)}, object{"role": "user", "content": text(z.bytes)})
	}
	return turns
}

func chatCall(id, content string) []object {
	return []object{
		{"role": "assistant", "content": content, "tool_calls": []object{{
			"id": id, "type": "function", "function": object{"name": "tool_0", "arguments": `{"path":"main.go"}`},
		}}},
		{"role": "tool", "tool_call_id": id, "content": content},
	}
}

func messagesCall(id, content string) []object {
	return []object{
		{"role": "assistant", "content": []object{
			{"type": "text", "text": content},
			{"type": "tool_use", "id": id, "name": "tool_0", "input": object{"path": "main.go"}},
		}},
		{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": content}}},
	}
}

// definitions returns the definitions of the tools.
func (z size) definitions(define func(name string) object) []object {
	tools := make([]object, z.tools)
	for i := range tools {
		tools[i] = define(fmt.Sprintf("tool_%d", i))
	}
	return tools
}

// schema is the schema of the arguments of each tool.
var schema = object{
	"type":     "object",
	"required": []string{"path"},
	"properties": object{
		"path":  object{"type": "string", "description": "path of a file, from the root of the project"},
		"lines": object{"type": "array", "items": object{"type": "integer"}, "description": "the first and the last line"},
	},
}

// text returns a text of a number of bytes, with escapes and letters beyond ASCII, as code
// and prose have them.
func text(bytes int) string {
	const part = "A gateway forwards \"requests\", größer and\nsmaller ones: if err != nil { return err } "
	return strings.ToValidUTF8(strings.Repeat(part, bytes/len(part)+1)[:bytes], "")
}
