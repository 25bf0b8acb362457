package gatewaytest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// OllamaTurn is what the model says; both texts may be empty.
type OllamaTurn struct{ Thinking, Text string }

// The tokens that Ollama counts of every answer.
const (
	OllamaPromptTokens = 12
	OllamaOutputTokens = 5
)

// Ollama answers any of the three formats as Ollama does: an answer that says
// nothing has null for its content, thinking has no signature, usage has no
// details, and completions streams that are asked for usage have zeros in every
// chunk but the last.
func Ollama(turn OllamaTurn) Step {
	return func(c *Call) {
		var asked struct {
			Model   string
			Stream  bool
			Options struct {
				IncludeUsage bool `json:"include_usage"`
			} `json:"stream_options"`
		}
		if err := json.NewDecoder(c.Request.Body).Decode(&asked); err != nil {
			Body(http.StatusBadRequest, "application/json", []byte(`{"error":"unexpected EOF"}`))(c)
			return
		}
		o := ollama{OllamaTurn: turn, model: asked.Model, stream: asked.Stream, usage: asked.Options.IncludeUsage}
		switch path := c.Request.URL.Path; {
		case strings.HasSuffix(path, "/messages"):
			o.messages()
		case strings.HasSuffix(path, "/chat/completions"):
			o.chat()
		default:
			o.completions()
		}
		if asked.Stream {
			Chunks("text/event-stream", o.events...)(c)
			return
		}
		Body(http.StatusOK, "application/json", o.body)(c)
	}
}

// ollama writes one answer.
type ollama struct {
	OllamaTurn
	model  string
	stream bool
	usage  bool // the stream is to tell it
	events []string
	body   []byte
}

// object is a JSON object.
type object map[string]any

func (o *ollama) event(name string, data object) {
	raw, _ := json.Marshal(data) // these values always encode
	if name != "" {
		data["type"] = name
		raw, _ = json.Marshal(data)
		o.events = append(o.events, "event: "+name+"\ndata: "+string(raw)+"\n\n")
		return
	}
	o.events = append(o.events, "data: "+string(raw)+"\n\n")
}

func (o *ollama) messages() {
	usage := object{"input_tokens": OllamaPromptTokens, "output_tokens": OllamaOutputTokens}
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": o.model}
	var blocks []object // nil is null
	if o.Thinking != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": o.Thinking})
	}
	if o.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": o.Text})
	}
	if !o.stream {
		message["content"], message["stop_reason"], message["usage"] = blocks, "end_turn", usage
		o.body, _ = json.Marshal(message)
		return
	}
	message["content"], message["usage"] = []object{}, object{"input_tokens": OllamaPromptTokens, "output_tokens": 0}
	o.event("message_start", object{"message": message})
	for i, block := range blocks {
		kind := block["type"].(string)
		o.event("content_block_start", object{"index": i, "content_block": object{"type": kind, kind: ""}})
		for _, word := range words(block[kind].(string)) {
			o.event("content_block_delta", object{"index": i, "delta": object{"type": kind + "_delta", kind: word}})
		}
		o.event("content_block_stop", object{"index": i})
	}
	o.event("message_delta", object{"delta": object{"stop_reason": "end_turn"}, "usage": usage})
	o.event("message_stop", object{})
}

func (o *ollama) chat() {
	if !o.stream {
		message := object{"role": "assistant", "content": o.Text}
		if o.Thinking != "" {
			message["reasoning"] = o.Thinking
		}
		o.answer("chatcmpl-1", "chat.completion", object{"index": 0, "message": message, "finish_reason": "stop"})
		return
	}
	said := func(delta object, finish any) {
		delta["role"] = "assistant"
		o.chunk("chatcmpl-1", "chat.completion.chunk", object{"index": 0, "delta": delta, "finish_reason": finish}, nil)
	}
	for _, word := range words(o.Thinking) {
		said(object{"content": "", "reasoning": word}, nil)
	}
	for _, word := range words(o.Text) {
		said(object{"content": word}, nil)
	}
	said(object{"content": ""}, "stop")
	o.end("chatcmpl-1", "chat.completion.chunk")
}

// completions has no thinking: the model continues a text.
func (o *ollama) completions() {
	choice := func(text string, finish any) object { return object{"index": 0, "text": text, "finish_reason": finish} }
	if !o.stream {
		o.answer("cmpl-1", "text_completion", choice(o.Text, "stop"))
		return
	}
	var zeros object
	if o.usage {
		zeros = object{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
	}
	for _, word := range words(o.Text) {
		o.chunk("cmpl-1", "text_completion", choice(word, nil), zeros)
	}
	o.chunk("cmpl-1", "text_completion", choice("", "stop"), zeros)
	o.end("cmpl-1", "text_completion")
}

func (o *ollama) head(id, kind string) object {
	return object{"id": id, "object": kind, "created": 1, "model": o.model, "system_fingerprint": "fp_ollama"}
}

func ollamaUsage() object {
	return object{
		"prompt_tokens": OllamaPromptTokens, "completion_tokens": OllamaOutputTokens,
		"total_tokens": OllamaPromptTokens + OllamaOutputTokens,
	}
}

// answer writes a JSON answer of one choice.
func (o *ollama) answer(id, kind string, choice object) {
	answer := o.head(id, kind)
	answer["choices"], answer["usage"] = []object{choice}, ollamaUsage()
	o.body, _ = json.Marshal(answer)
}

func (o *ollama) chunk(id, kind string, choice, usage object) {
	chunk := o.head(id, kind)
	chunk["choices"] = []object{choice}
	if usage != nil {
		chunk["usage"] = usage
	}
	o.event("", chunk)
}

// end writes the usage, where it was asked for, and the end of a stream.
func (o *ollama) end(id, kind string) {
	if o.usage {
		last := o.head(id, kind)
		last["choices"], last["usage"] = []object{}, ollamaUsage()
		o.event("", last)
	}
	o.events = append(o.events, "data: [DONE]\n\n")
}

// words divides a text behind its spaces.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}
