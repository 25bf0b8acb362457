package gatewaytest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// OllamaTurn is an answer of the model. Both texts may be empty.
type OllamaTurn struct{ Thinking, Text string }

// The numbers of tokens that Ollama reports in every answer.
const (
	OllamaPromptTokens = 12
	OllamaOutputTokens = 5
)

// Ollama answers requests of the messages, chat and completions formats as Ollama does: an
// answer without text has the content null, thinking has no signature, and usage has no
// details. If a completions request asks for usage, every chunk but the last has zeros.
func Ollama(turn OllamaTurn) Step {
	return func(c *Call) {
		o := ollama{turn: turn}
		if err := json.NewDecoder(c.Request.Body).Decode(&o.asked); err != nil {
			Body(http.StatusBadRequest, "application/json", []byte(`{"error":"unexpected EOF"}`))(c)
			return
		}
		o.write(c.Request.URL.Path)
		if o.asked.Stream {
			Chunks("text/event-stream", o.events...)(c)
			return
		}
		Body(http.StatusOK, "application/json", o.body)(c)
	}
}

// ollama writes one answer.
type ollama struct {
	turn  OllamaTurn
	asked struct {
		Model   string
		Stream  bool
		Options struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	events []string // the events of a stream
	body   []byte   // the body of a JSON answer
}

// write writes the answer of an endpoint.
func (o *ollama) write(path string) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		o.messages()
	case strings.HasSuffix(path, "/chat/completions"):
		o.chat()
	default:
		o.completions()
	}
}

// object is a JSON object.
type object map[string]any

func (o *ollama) event(name string, data object) {
	line := ""
	if name != "" {
		data["type"], line = name, "event: "+name+"\n"
	}
	raw, _ := json.Marshal(data) // these values always encode
	o.events = append(o.events, line+"data: "+string(raw)+"\n\n")
}

func (o *ollama) messages() {
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": o.asked.Model}
	if o.asked.Stream {
		o.messageEvents(message)
		return
	}
	message["content"], message["stop_reason"], message["usage"] = o.blocks(), "end_turn", messagesUsage(OllamaOutputTokens)
	o.body, _ = json.Marshal(message)
}

func (o *ollama) messageEvents(message object) {
	message["content"], message["usage"] = []object{}, messagesUsage(0)
	o.event("message_start", object{"message": message})
	for i, block := range o.blocks() {
		kind := block["type"].(string)
		o.event("content_block_start", object{"index": i, "content_block": object{"type": kind, kind: ""}})
		for _, word := range words(block[kind].(string)) {
			o.event("content_block_delta", object{"index": i, "delta": object{"type": kind + "_delta", kind: word}})
		}
		o.event("content_block_stop", object{"index": i})
	}
	o.event("message_delta", object{"delta": object{"stop_reason": "end_turn"}, "usage": messagesUsage(OllamaOutputTokens)})
	o.event("message_stop", object{})
}

// blocks returns the content blocks of a messages answer, nil if it is empty.
func (o *ollama) blocks() (blocks []object) {
	if o.turn.Thinking != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": o.turn.Thinking})
	}
	if o.turn.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": o.turn.Text})
	}
	return blocks
}

func messagesUsage(output int) object {
	return object{"input_tokens": OllamaPromptTokens, "output_tokens": output}
}

func (o *ollama) chat() {
	if !o.asked.Stream {
		message := object{"role": "assistant", "content": o.turn.Text}
		if o.turn.Thinking != "" {
			message["reasoning"] = o.turn.Thinking
		}
		o.answer("chatcmpl-1", "chat.completion", object{"index": 0, "message": message, "finish_reason": "stop"})
		return
	}
	chunk := func(delta object, finish any) {
		delta["role"] = "assistant"
		o.chunk("chatcmpl-1", "chat.completion.chunk", object{"index": 0, "delta": delta, "finish_reason": finish}, nil)
	}
	for _, word := range words(o.turn.Thinking) {
		chunk(object{"content": "", "reasoning": word}, nil)
	}
	for _, word := range words(o.turn.Text) {
		chunk(object{"content": word}, nil)
	}
	chunk(object{"content": ""}, "stop")
	o.end("chatcmpl-1", "chat.completion.chunk")
}

// completions answers without thinking, because the model continues a text.
func (o *ollama) completions() {
	choice := func(text string, finish any) object { return object{"index": 0, "text": text, "finish_reason": finish} }
	if !o.asked.Stream {
		o.answer("cmpl-1", "text_completion", choice(o.turn.Text, "stop"))
		return
	}
	var zeros object
	if o.asked.Options.IncludeUsage {
		zeros = object{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
	}
	for _, word := range words(o.turn.Text) {
		o.chunk("cmpl-1", "text_completion", choice(word, nil), zeros)
	}
	o.chunk("cmpl-1", "text_completion", choice("", "stop"), zeros)
	o.end("cmpl-1", "text_completion")
}

func (o *ollama) head(id, kind string) object {
	return object{"id": id, "object": kind, "created": 1, "model": o.asked.Model, "system_fingerprint": "fp_ollama"}
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

// end writes the usage, if the request asks for it, and the end of a stream.
func (o *ollama) end(id, kind string) {
	if o.asked.Options.IncludeUsage {
		last := o.head(id, kind)
		last["choices"], last["usage"] = []object{}, ollamaUsage()
		o.event("", last)
	}
	o.events = append(o.events, "data: [DONE]\n\n")
}

// words splits a text after each space.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}
