package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Completion is an answer in the chat or the completions format. It was read from a JSON
// body, or assembled from a stream by the rules of the official clients.
type Completion struct {
	ID      string     `json:"id"`
	Object  string     `json:"object"`
	Created int64      `json:"created"`
	Model   string     `json:"model"`
	Choices []Choice   `json:"choices"`
	Usage   *ChatUsage `json:"usage"`

	Complete bool     `json:"-"` // the stream ended with [DONE]
	Failure  *Failure `json:"-"` // the error that ended the stream
}

// Choice is one choice. Text is the text of completions, or the content of chat.
type Choice struct {
	Index     int             `json:"index"`
	Text      string          `json:"text"`
	Message   ChatMessage     `json:"message"`
	Finish    string          `json:"finish_reason"`
	Logprobs  json.RawMessage `json:"logprobs"`
	RoleSeen  bool            `json:"-"`
	NoContent bool            `json:"-"` // chat: the content was null
}

// ChatMessage is the message of a chat choice, or the sum of its deltas.
type ChatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"`
	Reasoning string     `json:"reasoning_content"`
	ToolCalls []ToolCall `json:"tool_calls"`
}

// ToolCall is a tool call, or a piece of one.
type ToolCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Custom struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`
}

// ChatUsage is the usage of the chat and completions formats.
type ChatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    *struct {
		Cached *int `json:"cached_tokens"`
		Text   *int `json:"text_tokens"`
		Audio  *int `json:"audio_tokens"`
		Image  *int `json:"image_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails *struct {
		Text      *int `json:"text_tokens"`
		Audio     *int `json:"audio_tokens"`
		Reasoning *int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// ParseCompletion reads a JSON answer of either format.
func ParseCompletion(body []byte) (*Completion, error) {
	var c Completion
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, fmt.Errorf("reading a completion: %w", err)
	}
	if len(c.Choices) == 0 {
		return nil, errors.New("the answer is not a completion")
	}
	for i := range c.Choices {
		message := &c.Choices[i].Message
		c.Choices[i].NoContent = message.Content == nil
		if message.Content != nil {
			c.Choices[i].Text = *message.Content
		}
	}
	return &c, nil
}

// ReadCompletionStream assembles a stream of either format. If the stream violates a rule
// or breaks off, it returns the answer so far and an error. A stream that ends with an error
// event, or properly but too early, is not an error.
func ReadCompletionStream(r io.Reader) (*Completion, error) {
	c := &Completion{}
	events, err := ReadEvents(r)
	for _, e := range events {
		if err := c.event(e); err != nil {
			return c, err
		}
	}
	return c, err
}

type chunk struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Usage   *ChatUsage      `json:"usage"`
	Choices []struct {
		Index    int             `json:"index"`
		Text     string          `json:"text"`
		Delta    ChatMessage     `json:"delta"`
		Finish   string          `json:"finish_reason"`
		Logprobs json.RawMessage `json:"logprobs"`
	} `json:"choices"`
}

func (c *Completion) event(e Event) error {
	if c.Complete || c.Failure != nil {
		return fmt.Errorf("%s after the end", e.Data)
	}
	if e.Name != "" {
		return fmt.Errorf("an event named %q", e.Name)
	}
	if e.Data == "[DONE]" {
		c.Complete = true
		return c.ended()
	}
	var v chunk
	if err := e.decode(&v); err != nil {
		return err
	}
	if v.Error != nil { // clients end the stream at the member, whatever its value
		f, err := ParseFailure([]byte(e.Data))
		c.Failure = &f
		return err
	}
	return c.chunk(v)
}

func (c *Completion) chunk(v chunk) error {
	if v.ID == "" || (c.ID != "" && c.ID != v.ID) {
		return fmt.Errorf("a chunk has the id %q, but others have %q", v.ID, c.ID)
	}
	c.ID, c.Object, c.Created, c.Model = v.ID, v.Object, v.Created, v.Model
	if v.Usage != nil {
		if c.Usage != nil {
			return errors.New("usage occurs twice; clients add it up")
		}
		c.Usage = v.Usage
	}
	for _, delta := range v.Choices {
		choice := c.choice(delta.Index)
		if choice.Finish != "" {
			return fmt.Errorf("choice %d continues after its finish", delta.Index)
		}
		choice.Finish = delta.Finish
		choice.Text += delta.Text
		if err := choice.add(delta.Delta); err != nil {
			return err
		}
	}
	return nil
}

// choice returns the choice with this index, and creates it if it is missing.
func (c *Completion) choice(index int) *Choice {
	for len(c.Choices) <= index {
		c.Choices = append(c.Choices, Choice{Index: len(c.Choices)})
	}
	return &c.Choices[index]
}

func (c *Choice) add(delta ChatMessage) error {
	if delta.Role != "" {
		c.RoleSeen = true
		c.Message.Role = delta.Role
	}
	if delta.Content != nil {
		c.Text += *delta.Content
	}
	if delta.Refusal != nil {
		text := *delta.Refusal
		if c.Message.Refusal != nil {
			text = *c.Message.Refusal + text
		}
		c.Message.Refusal = &text
	}
	c.Message.Reasoning += delta.Reasoning
	for _, call := range delta.ToolCalls {
		if err := c.addCall(call); err != nil {
			return err
		}
	}
	return nil
}

// addCall adds a piece of a call. Names are concatenated, as clients do.
func (c *Choice) addCall(piece ToolCall) error {
	if piece.Index == nil || *piece.Index > len(c.Message.ToolCalls) {
		return fmt.Errorf("the index of a tool call leaves a gap after %d others", len(c.Message.ToolCalls))
	}
	if *piece.Index == len(c.Message.ToolCalls) {
		if piece.ID == "" || piece.Type == "" {
			return errors.New("the first piece of a tool call lacks its id or type")
		}
		c.Message.ToolCalls = append(c.Message.ToolCalls, piece)
		return nil
	}
	call := &c.Message.ToolCalls[*piece.Index]
	if piece.ID != "" || piece.Type != "" {
		return errors.New("a later piece of a tool call repeats its id or type")
	}
	call.Function.Name += piece.Function.Name
	call.Function.Arguments += piece.Function.Arguments
	call.Custom.Name += piece.Custom.Name
	call.Custom.Input += piece.Custom.Input
	return nil
}

// ended checks that every choice has finished before [DONE].
func (c *Completion) ended() error {
	for _, choice := range c.Choices {
		if choice.Finish == "" {
			return fmt.Errorf("[DONE] before the finish of choice %d", choice.Index)
		}
	}
	return nil
}
