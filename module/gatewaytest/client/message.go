package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Message is an answer in the messages format. It was read from a JSON body, or assembled
// from a stream by the rules of the official clients.
type Message struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Model        string        `json:"model"`
	Content      []Block       `json:"content"`
	StopReason   string        `json:"stop_reason"`
	StopSequence string        `json:"stop_sequence"`
	Usage        MessagesUsage `json:"usage"`

	Complete bool     `json:"-"` // the stream ended with message_stop
	Pings    int      `json:"-"`
	Failure  *Failure `json:"-"` // the error event that ended the stream
}

// Block is a content block. Input is the JSON of a tool's input.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	closed bool
	pieces string // the pieces of Input
}

// MessagesUsage is the usage of the messages format.
type MessagesUsage struct {
	InputTokens   int  `json:"input_tokens"`
	CacheCreation *int `json:"cache_creation_input_tokens"`
	CacheRead     *int `json:"cache_read_input_tokens"`
	OutputTokens  int  `json:"output_tokens"`
	OutputDetails *struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// Text joins the text blocks.
func (m *Message) Text() (text string) {
	for _, b := range m.Content {
		text += b.Text
	}
	return text
}

// Blocks returns the blocks of one type.
func (m *Message) Blocks(kind string) (list []Block) {
	for _, b := range m.Content {
		if b.Type == kind {
			list = append(list, b)
		}
	}
	return list
}

// ParseMessage reads a JSON answer.
func ParseMessage(body []byte) (*Message, error) {
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	if m.Type != "message" || m.Role != "assistant" || m.Content == nil {
		return nil, errors.New("the answer is not a message")
	}
	return &m, nil
}

// ReadMessageStream assembles a stream. If the stream violates a rule or breaks off, it
// returns the message so far and an error. A stream that ends with an error event, or
// properly but too early, is not an error: see Complete and Failure.
func ReadMessageStream(r io.Reader) (*Message, error) {
	var m messageReader
	events, err := ReadEvents(r)
	for _, e := range events {
		if err := m.event(e); err != nil {
			return &m.Message, err
		}
	}
	return &m.Message, err
}

type messageReader struct {
	Message
	started bool
}

// messageEvent is the union of all events.
type messageEvent struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message json.RawMessage `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   json.RawMessage `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
}

func (m *messageReader) event(e Event) error {
	var v messageEvent
	if err := e.decode(&v); err != nil {
		return err
	}
	if e.Name == "" || e.Name != v.Type {
		return fmt.Errorf("the event has the name %q and the type %q", e.Name, v.Type)
	}
	if m.Complete || m.Failure != nil {
		return fmt.Errorf("%s after the end", v.Type)
	}
	if !m.started && v.Type != "message_start" && v.Type != "ping" && v.Type != "error" {
		return fmt.Errorf("%s before message_start", v.Type)
	}
	return m.take(e, v)
}

func (m *messageReader) take(e Event, v messageEvent) error {
	switch v.Type {
	case "message_start":
		return m.start(v)
	case "content_block_start":
		return m.open(v)
	case "content_block_delta":
		return m.delta(v)
	case "content_block_stop":
		return m.stop(v)
	case "message_delta":
		return m.finish(v)
	case "message_stop":
		m.Complete = true
		return m.ended()
	case "ping":
		m.Pings++
	case "error":
		f, err := ParseFailure([]byte(e.Data))
		m.Failure = &f
		return err
	}
	return nil
}

func (m *messageReader) start(v messageEvent) error {
	if m.started {
		return errors.New("a second message_start")
	}
	m.started = true
	return decodeInto(v.Message, &m.Message)
}

func (m *messageReader) open(v messageEvent) error {
	if v.Index != len(m.Content) {
		return fmt.Errorf("block %d starts after %d others", v.Index, len(m.Content))
	}
	if n := len(m.Content); n > 0 && !m.Content[n-1].closed {
		return fmt.Errorf("block %d starts before the end of the previous block", v.Index)
	}
	var b Block
	if err := decodeInto(v.Block, &b); err != nil {
		return err
	}
	m.Content = append(m.Content, b)
	return nil
}

// block returns the open block of an event.
func (m *messageReader) block(v messageEvent) (*Block, error) {
	if v.Index < 0 || v.Index >= len(m.Content) {
		return nil, fmt.Errorf("%s for block %d, which has not started", v.Type, v.Index)
	}
	if m.Content[v.Index].closed {
		return nil, fmt.Errorf("%s for block %d, which has ended", v.Type, v.Index)
	}
	return &m.Content[v.Index], nil
}

func (m *messageReader) delta(v messageEvent) error {
	b, err := m.block(v)
	if err != nil {
		return err
	}
	var d struct {
		Type, Text, Thinking, Signature string
		Partial                         string `json:"partial_json"`
	}
	if err := decodeInto(v.Delta, &d); err != nil {
		return err
	}
	fits := map[string]string{
		"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking", "input_json_delta": "tool_use",
	}
	if want, known := fits[d.Type]; known && !strings.HasSuffix(b.Type, want) { // server_tool_use takes input, too
		return fmt.Errorf("%s in a block of type %s", d.Type, b.Type)
	}
	b.Text += d.Text
	b.Thinking += d.Thinking
	b.Signature += d.Signature
	b.pieces += d.Partial
	return nil
}

func (m *messageReader) stop(v messageEvent) error {
	b, err := m.block(v)
	if err != nil {
		return err
	}
	b.closed = true
	if b.pieces == "" {
		return nil
	}
	b.Input = json.RawMessage(b.pieces)
	return nil
}

func (m *messageReader) finish(v messageEvent) error {
	var d struct {
		StopReason   string `json:"stop_reason"`
		StopSequence string `json:"stop_sequence"`
	}
	if err := decodeInto(v.Delta, &d); err != nil {
		return err
	}
	m.StopReason, m.StopSequence = d.StopReason, d.StopSequence
	return decodeInto(v.Usage, &m.Usage) // present fields overwrite
}

// ended checks that the message and its blocks are complete.
func (m *messageReader) ended() error {
	if m.StopReason == "" {
		return errors.New("message_stop without a stop_reason")
	}
	for i, b := range m.Content {
		if !b.closed {
			return fmt.Errorf("message_stop before the end of block %d", i)
		}
		if b.pieces != "" && !json.Valid(b.Input) && m.StopReason != "max_tokens" {
			return fmt.Errorf("the input of block %d is not JSON: %s", i, b.pieces)
		}
	}
	return nil
}

func decodeInto(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("reading a part of an event: %w", err)
	}
	return nil
}
