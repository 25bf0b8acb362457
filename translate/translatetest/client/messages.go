package client

import (
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Messages is the messages format.
var Messages = Format{
	open: func(r reading) accumulator { return &message{reading: r} },
	kinds: kinds{
		texts:   "type id role model stop_reason stop_sequence text thinking signature partial_json name",
		numbers: "index input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens thinking_tokens",
		objects: "message content_block delta usage output_tokens_details",
		lists:   "content", free: "input error",
	},
	check: func(o Object) error {
		if o["type"] != "message" || o["role"] != "assistant" || list(o, "content") == nil {
			return errors.New("the answer is not a message")
		}
		return nil
	},
	texts: func(o Object) []string {
		var all strings.Builder
		for _, block := range list(o, "content") {
			all.WriteString(text(block.(Object), "text"))
		}
		return []string{all.String()}
	},
}

// message is the accumulator of the messages format.
type message struct {
	reading
	answer Object
	blocks []any
	open   bool   // the last block is
	input  string // the fragments of the input of the open block
	signed bool   // the open block is
	ended  bool   // message_delta came
}

func (m *message) sum() Object {
	if m.answer == nil {
		return Object{}
	}
	m.answer["content"] = m.blocks
	return m.answer
}

func (m *message) take(e Event, data Object) error {
	switch {
	case e.Name == "" || text(data, "type") != e.Name:
		return errors.New("the type is not the event's name")
	case m.answer == nil && e.Name != "message_start" && e.Name != "error" && e.Name != "ping":
		return errors.New("before message_start")
	case m.emitted && m.ended && e.Name != "message_stop" && e.Name != "error":
		return errors.New("behind message_delta")
	}
	switch e.Name {
	case "message_start":
		return m.start(data)
	case "content_block_start":
		return m.openBlock(data)
	case "content_block_delta":
		return m.delta(data)
	case "content_block_stop":
		return m.closeBlock(data)
	case "message_delta":
		return m.end(data)
	case "message_stop":
		return m.stop()
	case "ping":
	case "error":
		return m.fail(e)
	default:
		if m.emitted {
			return errors.New("unknown event")
		}
	}
	return nil
}

func (m *message) start(data Object) error {
	if m.answer != nil {
		return errors.New("a second message_start")
	}
	m.answer, m.blocks = object(data, "message"), []any{}
	content, ok := m.answer["content"].([]any)
	if !ok || len(content) > 0 || m.answer["stop_reason"] != nil || object(m.answer, "usage") == nil {
		return errors.New("not an empty message")
	}
	if m.emitted && (text(m.answer, "type") != "message" || m.answer["role"] != "assistant" || text(m.answer, "id") == "" || text(m.answer, "model") == "") {
		return errors.New("not a message of an assistant")
	}
	return counts(m.answer["usage"])
}

func (m *message) openBlock(data Object) error {
	block := object(data, "content_block")
	if block == nil || m.open || number(data, "index") != len(m.blocks) {
		return errors.New("not the next block")
	}
	m.blocks, m.open, m.input, m.signed = append(m.blocks, block), true, "", false
	if m.emitted {
		return begins(block)
	}
	return nil
}

// begins checks that a block has what its deltas do not add, and nothing else.
func begins(block Object) error {
	switch text(block, "type") {
	case "text", "thinking":
		for name, value := range block {
			if name != "type" && value != "" {
				return fmt.Errorf("%s is there before its deltas", name)
			}
		}
	case "redacted_thinking":
		if text(block, "data") == "" {
			return errors.New("nothing redacted")
		}
	case "tool_use":
		if input, ok := block["input"].(Object); !ok || len(input) > 0 || text(block, "name") == "" || text(block, "id") == "" {
			return errors.New("not an empty call")
		}
	default:
		return errors.New("unknown block")
	}
	return nil
}

// last returns the open block, if the event is about it.
func (m *message) last(data Object) (Object, error) {
	if !m.open || number(data, "index") != len(m.blocks)-1 {
		return nil, errors.New("not the open block")
	}
	return m.blocks[len(m.blocks)-1].(Object), nil
}

// fragments lists the type of block and the member that each type of delta adds to.
var fragments = map[string][2]string{
	"text_delta":       {"text", "text"},
	"thinking_delta":   {"thinking", "thinking"},
	"signature_delta":  {"thinking", "signature"},
	"input_json_delta": {"tool_use", "partial_json"},
}

func (m *message) delta(data Object) error {
	block, err := m.last(data)
	if err != nil {
		return err
	}
	delta := object(data, "delta")
	names, known := fragments[text(delta, "type")]
	kind := text(block, "type")
	switch {
	case known && kind != names[0] && (m.emitted || !strings.HasSuffix(kind, names[0])), // server_tool_use has an input, too
		!known && (m.emitted || delta == nil):
		return errors.New("not a delta of its block")
	case m.emitted && (text(delta, names[1]) == "" || len(delta) != 2):
		return errors.New("not one fragment")
	case m.emitted && m.signed:
		return errors.New("behind the signature")
	}
	switch names[1] {
	case "":
	case "partial_json":
		m.input += text(delta, "partial_json")
	default:
		m.signed = names[1] == "signature"
		block[names[1]] = text(block, names[1]) + text(delta, names[1])
	}
	return nil
}

func (m *message) closeBlock(data Object) error {
	block, err := m.last(data)
	if err != nil {
		return err
	}
	m.open = false
	switch kind := text(block, "type"); {
	case m.emitted && kind == "thinking" && !m.signed:
		return errors.New("thinking without a signature")
	case m.emitted && kind == "text" && text(block, "text") == "":
		return errors.New("an empty text")
	case m.input != "" || m.emitted && kind == "tool_use":
		block["input"] = m.input
		if input, err := Decode([]byte(m.input)); err == nil {
			block["input"] = input
		}
	}
	return nil
}

// end takes the stop fields and the usage, whose counts overwrite earlier ones.
func (m *message) end(data Object) error {
	delta, usage := object(data, "delta"), object(data, "usage")
	if m.open || delta == nil || usage == nil {
		return errors.New("a block is open, or the delta or the usage is missing")
	}
	m.ended = true
	maps.Copy(m.answer, delta)
	maps.Copy(object(m.answer, "usage"), usage)
	if m.emitted {
		return m.settle(usage)
	}
	return counts(usage)
}

// settle checks the end of a message that the gateway wrote. It replaces each input that is no
// JSON object by the input of the JSON answer. Only in that input may the two differ:
// arguments that begin like an object reach the client of a stream before they turn out to be
// invalid, while a JSON answer wraps them, or omits them if they were cut off.
func (m *message) settle(usage Object) error {
	for _, name := range []string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"} {
		if number(usage, name) < 0 {
			return fmt.Errorf("no %s", name)
		}
	}
	for _, b := range m.blocks {
		block := b.(Object)
		if raw, broken := block["input"].(string); broken {
			block["input"] = Object{"_invalid_arguments": raw}
			if reason := m.answer["stop_reason"]; reason == "max_tokens" || reason == "refusal" {
				block["input"] = Object{}
			}
		}
	}
	return counts(usage)
}

func (m *message) stop() error {
	m.complete = true
	if m.open || text(m.answer, "stop_reason") == "" {
		return errors.New("a block is open, or there is no stop_reason")
	}
	for _, block := range m.blocks {
		if _, broken := block.(Object)["input"].(string); broken && m.answer["stop_reason"] != "max_tokens" {
			return errors.New("an input is no JSON object")
		}
	}
	return nil
}
