package translatetest

import (
	"errors"
	"fmt"
	"maps"
)

// message is the state of an accumulator of the messages format.
type message struct {
	answer Object
	blocks []any
	open   bool // the last block is
	input  string
	signed bool
	ended  bool // message_delta came
	over   bool // message_stop or error came
}

// Message adds up a stream of the messages format. A tool call whose arguments are not a
// JSON object gets them as a string for its input, which no JSON answer has.
func Message(stream []byte) (Object, error) {
	events, err := Events(stream)
	if err != nil {
		return nil, err
	}
	var m message
	for _, e := range events {
		if err := m.take(e); err != nil {
			return nil, fmt.Errorf("%s %s: %w", e.Name, e.Data, err)
		}
	}
	if !m.over {
		return nil, errors.New("the stream does not end")
	}
	m.answer["content"] = m.blocks
	return m.answer, nil
}

func (m *message) take(e Event) error {
	data, err := Decode([]byte(e.Data))
	switch {
	case err != nil:
		return err
	case m.over:
		return errors.New("behind the end")
	case text(data, "type") != e.Name:
		return errors.New("the type is not the event's name")
	case m.answer == nil && e.Name != "message_start" && e.Name != "error" && e.Name != "ping":
		return errors.New("before message_start")
	case m.ended && e.Name != "message_stop" && e.Name != "error":
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
		m.over = true
		if !m.ended {
			return errors.New("no message_delta")
		}
	case "ping":
	case "error":
		return ErrFailed
	default:
		return errors.New("unknown event")
	}
	return nil
}

func (m *message) start(data Object) error {
	if m.answer != nil {
		return errors.New("a second message_start")
	}
	m.answer = object(data, "message")
	content, ok := m.answer["content"].([]any)
	if !ok || len(content) > 0 || m.answer["stop_reason"] != nil || object(m.answer, "usage") == nil {
		return errors.New("not an empty message")
	}
	if text(m.answer, "type") != "message" || m.answer["role"] != "assistant" || text(m.answer, "id") == "" || text(m.answer, "model") == "" {
		return errors.New("not a message of an assistant")
	}
	if err := counts(m.answer["usage"]); err != nil {
		return err
	}
	m.blocks = []any{}
	return nil
}

func (m *message) openBlock(data Object) error {
	block := object(data, "content_block")
	if m.open || number(data, "index") != len(m.blocks) {
		return errors.New("not the next block")
	}
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
	m.blocks, m.open, m.input, m.signed = append(m.blocks, block), true, "", false
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
	of, known := fragments[text(delta, "type")]
	if !known || text(block, "type") != of[0] {
		return errors.New("not a delta of its block")
	}
	fragment := text(delta, of[1])
	if fragment == "" || len(delta) != 2 {
		return errors.New("not one fragment")
	}
	if m.signed {
		return errors.New("behind the signature")
	}
	switch of[1] {
	case "partial_json":
		m.input += fragment
	case "signature":
		m.signed = true
		block["signature"] = fragment
	default:
		block[of[1]] = text(block, of[1]) + fragment
	}
	return nil
}

func (m *message) closeBlock(data Object) error {
	block, err := m.last(data)
	if err != nil {
		return err
	}
	m.open = false
	switch text(block, "type") {
	case "thinking":
		if !m.signed {
			return errors.New("thinking without a signature")
		}
	case "text":
		if text(block, "text") == "" {
			return errors.New("an empty text")
		}
	case "tool_use":
		if input, err := Decode([]byte(m.input)); err == nil {
			block["input"] = input
		} else {
			block["input"] = m.input
		}
	}
	return nil
}

// end takes the stop fields and the usage, whose counts overwrite earlier ones.
func (m *message) end(data Object) error {
	if m.open {
		return errors.New("a block is open")
	}
	m.ended = true
	if text(object(data, "delta"), "stop_reason") == "" {
		return errors.New("no stop_reason")
	}
	maps.Copy(m.answer, object(data, "delta"))
	usage := object(data, "usage")
	for _, name := range []string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"} {
		if number(usage, name) < 0 {
			return fmt.Errorf("no %s", name)
		}
	}
	maps.Copy(object(m.answer, "usage"), usage)
	return counts(usage)
}

// Settled replaces the string input of an added up message by the input of the JSON
// answer. Only in that input may the two differ: arguments that begin like an object
// reach the client of a stream before they turn out to be invalid, while a JSON answer
// wraps them, or omits them if they were cut off.
func Settled(added Object) Object {
	blocks, _ := added["content"].([]any)
	for _, b := range blocks {
		block := b.(Object)
		if raw, broken := block["input"].(string); broken {
			block["input"] = Object{"_invalid_arguments": raw}
			if reason := added["stop_reason"]; reason == "max_tokens" || reason == "refusal" {
				block["input"] = Object{}
			}
		}
	}
	return added
}
