package usage_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// kind is the kind of a part of an answer.
type kind uint8

const (
	text kind = iota
	reasoning
	arguments // of a call of the tool f
)

// part is a part of an answer, in the pieces of a stream.
type part struct {
	kind   kind
	pieces []string
}

func (p part) whole() string { return strings.Join(p.pieces, "") }

// object is a JSON object.
type object = map[string]any

// writer writes the answers of a provider in one format, by what its documentation says.
type writer struct {
	// answer returns a whole answer.
	answer func(parts []part, u *usage) object
	// begin, deltas and end return the events of a stream; end includes the usage.
	begin    func(u *usage) []event
	deltas   func(index int, p part) []event
	end      func(parts []part, u *usage) []event
	partEnds int // events that end a part: 0 or 1
	// failure is the event of a provider that fails in the middle.
	failure event
	// read returns the text that an event has for the client.
	read func(data object) string
	last string // only whole answers contain it
}

// event is an event of a stream. Its data are an object, or a text.
type event struct {
	name string
	data any
}

func (e event) String() string {
	data, ok := e.data.(string)
	if !ok {
		data = encoded(e.data)
	}
	if e.name == "" {
		return "data: " + data + "\n\n"
	}
	return "event: " + e.name + "\ndata: " + data + "\n\n"
}

func encoded(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// writers are the formats, by the endpoint.
var writers = map[string]writer{
	site.MessagesPath: {
		answer: func(parts []part, u *usage) object {
			var content []any
			for _, p := range parts {
				content = append(content, block(p.kind, p.whole()))
			}
			return object{"id": "msg_1", "type": "message", "role": "assistant", "model": "x", "content": content,
				"stop_reason": "end_turn", "stop_sequence": nil, "usage": messagesUsage(u, true)}
		},
		begin: func(u *usage) []event {
			return []event{named(object{"type": "message_start", "message": object{
				"id": "msg_1", "type": "message", "role": "assistant", "model": "x", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
				"usage": messagesUsage(u, false)}})}
		},
		deltas: func(index int, p part) (events []event) {
			events = append(events, named(object{"type": "content_block_start", "index": index, "content_block": block(p.kind, "")}))
			member := [...]string{"text", "thinking", "partial_json"}[p.kind]
			delta := [...]string{"text_delta", "thinking_delta", "input_json_delta"}[p.kind]
			for _, piece := range p.pieces {
				events = append(events, named(object{"type": "content_block_delta", "index": index, "delta": object{"type": delta, member: piece}}))
			}
			return append(events, named(object{"type": "content_block_stop", "index": index}))
		},
		end: func(_ []part, u *usage) []event {
			return []event{
				named(object{"type": "message_delta", "delta": object{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": messagesUsage(u, true)}),
				named(object{"type": "message_stop"}),
			}
		},
		partEnds: 1,
		failure:  named(object{"type": "error", "error": object{"type": "overloaded_error", "message": "Overloaded"}}),
		read: func(data object) string {
			delta, _ := data["delta"].(object)
			return texts(delta, "text", "thinking", "partial_json")
		},
		last: "message_stop",
	},
	site.ChatPath: {
		answer: func(parts []part, u *usage) object {
			message := object{"role": "assistant", "content": nil}
			for _, p := range parts {
				message[chatMembers[p.kind]] = chatMember(p.kind, p.whole())
			}
			return chatUsage(object{"id": "c1", "object": "chat.completion", "created": 1, "model": "x",
				"choices": []any{object{"index": 0, "message": message, "finish_reason": "stop"}}}, u)
		},
		begin: func(*usage) []event { return []event{chunk(object{"role": "assistant", "content": ""}, nil)} },
		deltas: func(_ int, p part) (events []event) {
			if p.kind == arguments {
				events = append(events, chunk(object{"tool_calls": []any{object{"index": 0, "id": "call_1", "type": "function", "function": object{"name": "f", "arguments": ""}}}}, nil))
			}
			for _, piece := range p.pieces {
				member := any(piece)
				if p.kind == arguments {
					member = []any{object{"index": 0, "function": object{"arguments": piece}}}
				}
				events = append(events, chunk(object{chatMembers[p.kind]: member}, nil))
			}
			return events
		},
		end: func(_ []part, u *usage) []event {
			events := []event{chunk(object{}, "stop")}
			if u != nil {
				events = append(events, event{"", chatUsage(object{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": []any{}}, u)})
			}
			return append(events, event{"", "[DONE]"})
		},
		failure: event{"", object{"error": object{"message": "The server had an error", "type": "server_error"}}},
		read: func(data object) (all string) {
			for _, choice := range list(data["choices"]) {
				delta, _ := choice["delta"].(object)
				all += texts(delta, "content", "reasoning_content")
				for _, call := range list(delta["tool_calls"]) {
					function, _ := call["function"].(object)
					all += texts(function, "arguments")
				}
			}
			return all
		},
		last: "[DONE]",
	},
	site.CompletionsPath: {
		answer: func(parts []part, u *usage) object {
			return chatUsage(object{"id": "t1", "object": "text_completion", "created": 1, "model": "x",
				"choices": []any{object{"index": 0, "text": parts[0].whole(), "logprobs": nil, "finish_reason": "stop"}}}, u)
		},
		begin: func(*usage) []event { return nil },
		deltas: func(_ int, p part) (events []event) {
			for _, piece := range p.pieces {
				events = append(events, completion(piece, nil))
			}
			return events
		},
		end: func(_ []part, u *usage) []event {
			events := []event{completion("", "stop")}
			if u != nil {
				events = append(events, event{"", chatUsage(object{"id": "t1", "object": "text_completion", "created": 1, "model": "x", "choices": []any{}}, u)})
			}
			return append(events, event{"", "[DONE]"})
		},
		failure: event{"", object{"error": object{"message": "The server had an error", "type": "server_error"}}},
		read: func(data object) (all string) {
			for _, choice := range list(data["choices"]) {
				all += texts(choice, "text")
			}
			return all
		},
		last: "[DONE]",
	},
	site.ResponsesPath: {
		answer: func(parts []part, u *usage) object { return response("completed", parts, u) },
		begin: func(*usage) []event {
			return []event{named(object{"type": "response.created", "sequence_number": 0, "response": response("in_progress", nil, nil)})}
		},
		deltas: func(index int, p part) (events []event) {
			events = append(events, named(object{"type": "response.output_item.added", "sequence_number": 1, "output_index": index, "item": item(p.kind, "")}))
			delta := [...]string{"response.output_text.delta", "response.reasoning_summary_text.delta", "response.function_call_arguments.delta"}[p.kind]
			place := [...]string{"content_index", "summary_index", "call_index"}[p.kind]
			for i, piece := range p.pieces {
				events = append(events, named(object{"type": delta, "sequence_number": 2 + i, "item_id": "i", "output_index": index, place: 0,
					"delta": piece, "obfuscation": strings.Repeat("x", 1+i%16)}))
			}
			return append(events, named(object{"type": "response.output_item.done", "sequence_number": 3, "output_index": index, "item": item(p.kind, p.whole())}))
		},
		end: func(parts []part, u *usage) []event {
			return []event{named(object{"type": "response.completed", "sequence_number": 9, "response": response("completed", parts, u)})}
		},
		partEnds: 1,
		failure:  named(object{"type": "error", "sequence_number": 5, "code": "server_error", "message": "The server had an error", "param": nil}),
		read: func(data object) string {
			if kind, _ := data["type"].(string); !strings.HasSuffix(kind, ".delta") {
				return ""
			}
			return texts(data, "delta")
		},
		last: "response.completed",
	},
	site.GeminiPath: {
		answer: func(parts []part, u *usage) object {
			var content []any
			for _, p := range parts {
				content = append(content, contentPart(p.kind, p.whole()))
			}
			return candidate(content, "STOP", u)
		},
		begin: func(*usage) []event { return nil },
		deltas: func(_ int, p part) (events []event) {
			if p.kind == arguments {
				return []event{{"", candidate([]any{contentPart(p.kind, p.whole())}, nil, nil)}}
			}
			for _, piece := range p.pieces {
				events = append(events, event{"", candidate([]any{contentPart(p.kind, piece)}, nil, nil)})
			}
			return events
		},
		end: func(_ []part, u *usage) []event {
			return []event{{"", candidate([]any{contentPart(text, "")}, "STOP", u)}}
		},
		failure: event{"", object{"error": object{"code": 500, "message": "The server had an error", "status": "INTERNAL"}}},
		read: func(data object) (all string) {
			for _, candidate := range list(data["candidates"]) {
				content, _ := candidate["content"].(object)
				for _, p := range list(content["parts"]) {
					all += texts(p, "text")
					if call, ok := p["functionCall"].(object); ok {
						all += encoded(call["args"])
					}
				}
			}
			return all
		},
		last: `"finishReason":"STOP"`,
	},
}

// contentPart returns a part of the gemini format.
func contentPart(k kind, whole string) object {
	switch k {
	case reasoning:
		return object{"text": whole, "thought": true}
	case arguments:
		return object{"functionCall": object{"id": "f1", "name": "f", "args": json.RawMessage(whole)}}
	default:
		return object{"text": whole}
	}
}

// candidate returns an answer of the gemini format, or an event of its stream.
func candidate(parts []any, finish any, u *usage) object {
	one := object{"content": object{"role": "model", "parts": parts}, "index": 0}
	if finish != nil {
		one["finishReason"] = finish
	}
	answer := object{"candidates": []any{one}, "modelVersion": "x", "responseId": "g1"}
	if u != nil {
		answer["usageMetadata"] = object{
			"promptTokenCount": u.prompt(), "cachedContentTokenCount": u.cacheRead, "candidatesTokenCount": u.output - u.reasoning,
			"thoughtsTokenCount": u.reasoning, "totalTokenCount": u.prompt() + u.output,
		}
	}
	return answer
}

// named returns an event that is named after its type.
func named(data object) event { return event{data["type"].(string), data} }

// texts returns the members of an object that are texts.
func texts(source object, members ...string) (all string) {
	for _, member := range members {
		text, _ := source[member].(string)
		all += text
	}
	return all
}

// list returns the objects of a list.
func list(value any) (objects []object) {
	elements, _ := value.([]any)
	for _, element := range elements {
		if o, ok := element.(object); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// block returns a content block of the messages format.
func block(k kind, whole string) object {
	switch k {
	case reasoning:
		return object{"type": "thinking", "thinking": whole, "signature": ""}
	case arguments:
		input := object{}
		_ = json.Unmarshal([]byte(whole), &input) // the beginning of a block has none
		return object{"type": "tool_use", "id": "toolu_1", "name": "f", "input": input}
	default:
		return object{"type": "text", "text": whole}
	}
}

func messagesUsage(u *usage, final bool) object {
	if u == nil {
		return object{}
	}
	counts := object{
		"input_tokens": u.input, "cache_read_input_tokens": u.cacheRead, "cache_creation_input_tokens": u.cacheWrite + u.cacheWriteLong,
		"cache_creation": object{"ephemeral_5m_input_tokens": u.cacheWrite, "ephemeral_1h_input_tokens": u.cacheWriteLong},
		"output_tokens":  1, "service_tier": "standard",
	}
	if u.tier != "" {
		counts["service_tier"] = u.tier
	}
	if u.fast {
		counts["speed"] = "fast"
	}
	if u.us {
		counts["inference_geo"] = "us"
	}
	if final {
		counts["output_tokens"] = u.output
		counts["output_tokens_details"] = object{"thinking_tokens": u.reasoning}
		counts["server_tool_use"] = object{"web_search_requests": u.searches}
		var runs []any
		for _, run := range u.further {
			runs = append(runs, object{"type": "compaction", "input_tokens": run.input, "cache_read_input_tokens": run.cacheRead, "output_tokens": run.output})
		}
		if runs != nil {
			counts["iterations"] = append(runs, object{
				"type": "message", "input_tokens": u.input, "output_tokens": u.output, "cache_read_input_tokens": u.cacheRead,
				"cache_creation_input_tokens": u.cacheWrite + u.cacheWriteLong,
			})
		}
	}
	return counts
}

// chatMembers are the members of a chat message.
var chatMembers = [...]string{"content", "reasoning_content", "tool_calls"}

func chatMember(k kind, whole string) any {
	if k == arguments {
		return []any{object{"id": "call_1", "type": "function", "function": object{"name": "f", "arguments": whole}}}
	}
	return whole
}

func chunk(delta object, finish any) event {
	return event{"", object{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "x",
		"choices": []any{object{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}, "usage": nil}}
}

func completion(text string, finish any) event {
	return event{"", object{"id": "t1", "object": "text_completion", "created": 1, "model": "x",
		"choices": []any{object{"index": 0, "text": text, "logprobs": nil, "finish_reason": finish}}}}
}

// chatUsage adds the usage to an answer or a chunk.
func chatUsage(answer object, u *usage) object {
	if u == nil {
		return answer
	}
	answer["usage"] = object{
		"prompt_tokens": u.prompt(), "completion_tokens": u.output, "total_tokens": u.prompt() + u.output,
		"prompt_tokens_details":     object{"cached_tokens": u.cacheRead, "cache_write_tokens": u.cacheWrite},
		"completion_tokens_details": object{"reasoning_tokens": u.reasoning},
	}
	if u.tier != "" {
		answer["service_tier"] = u.tier
	}
	return answer
}

// item returns an item of the responses format.
func item(k kind, whole string) object {
	switch k {
	case reasoning:
		summary := []any{}
		if whole != "" {
			summary = []any{object{"type": "summary_text", "text": whole}}
		}
		return object{"id": "i", "type": "reasoning", "summary": summary}
	case arguments:
		return object{"id": "i", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": whole, "status": "completed"}
	default:
		content := []any{}
		if whole != "" {
			content = []any{object{"type": "output_text", "text": whole, "annotations": []any{}}}
		}
		return object{"id": "i", "type": "message", "role": "assistant", "status": "completed", "content": content}
	}
}

func response(status string, parts []part, u *usage) object {
	output, tier := []any{}, any(nil)
	for i, p := range parts {
		it := item(p.kind, p.whole())
		it["id"] = fmt.Sprint("i", i)
		output = append(output, it)
	}
	r := object{"id": "resp_1", "object": "response", "created_at": 1, "status": status, "error": nil, "incomplete_details": nil, "model": "x", "output": output, "usage": nil}
	if u != nil {
		for i := range u.searches {
			output = append(output, object{"id": fmt.Sprint("ws", i), "type": "web_search_call", "status": "completed", "action": object{"type": "search", "query": "q"}})
		}
		r["output"] = output
		r["usage"] = object{
			"input_tokens": u.prompt(), "output_tokens": u.output, "total_tokens": u.prompt() + u.output,
			"input_tokens_details":  object{"cached_tokens": u.cacheRead, "cache_write_tokens": u.cacheWrite},
			"output_tokens_details": object{"reasoning_tokens": u.reasoning},
		}
		if u.tier != "" {
			tier = u.tier
		}
	}
	r["service_tier"] = tier
	return r
}
