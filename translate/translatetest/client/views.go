package client

import (
	"encoding/json"
	"slices"
)

// Message is what tests look at in an answer of the messages format.
type Message struct {
	Answer       `json:"-"`
	Content      []Block `json:"content"`
	StopReason   string  `json:"stop_reason"`
	StopSequence string  `json:"stop_sequence"`
	Usage        struct {
		InputTokens   int  `json:"input_tokens"`
		CacheCreation *int `json:"cache_creation_input_tokens"`
		CacheRead     *int `json:"cache_read_input_tokens"`
		OutputTokens  int  `json:"output_tokens"`
		OutputDetails *struct {
			Thinking int `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// Block is a content block.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// Message decodes an answer of the messages format.
func (a Answer) Message() (*Message, error) {
	m := Message{Answer: a}
	return &m, a.Decode(&m)
}

// Blocks returns the blocks of one type.
func (m *Message) Blocks(kind string) []Block {
	return slices.DeleteFunc(slices.Clone(m.Content), func(b Block) bool { return b.Type != kind })
}

// Completion is what tests look at in an answer of the chat or the completions format.
type Completion struct {
	Answer  `json:"-"`
	Choices []Choice `json:"choices"`
	Usage   *struct {
		PromptTokens      int `json:"prompt_tokens"`
		CompletionTokens  int `json:"completion_tokens"`
		CompletionDetails *struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
}

// Choice is one choice. Text is the text of completions, or the content of chat.
type Choice struct {
	Index   int    `json:"index"`
	Text    string `json:"-"`
	Message struct {
		Role      string     `json:"role"`
		Content   *string    `json:"content"`
		Reasoning string     `json:"reasoning_content"`
		ToolCalls []ToolCall `json:"tool_calls"`
	} `json:"message"`
	Finish   string          `json:"finish_reason"`
	Logprobs json.RawMessage `json:"logprobs"`
}

// ToolCall is a call of a function, or of a custom tool.
type ToolCall struct {
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

// Completion decodes an answer of the chat or the completions format.
func (a Answer) Completion() (*Completion, error) {
	c := Completion{Answer: a}
	err := a.Decode(&c)
	for i := range c.Choices {
		c.Choices[i].Text = a.Texts[i]
	}
	return &c, err
}

// Response is what tests look at in an answer of the responses format.
type Response struct {
	Answer `json:"-"`
	ID     string         `json:"id"`
	Store  *bool          `json:"store"`
	Output []ResponseItem `json:"output"`
}

// ResponseItem is an item of the output.
type ResponseItem struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Input  string `json:"input"`
}

// Response decodes an answer of the responses format.
func (a Answer) Response() (*Response, error) {
	r := Response{Answer: a}
	return &r, a.Decode(&r)
}

// Items returns the items of one type.
func (r *Response) Items(kind string) []ResponseItem {
	return slices.DeleteFunc(slices.Clone(r.Output), func(i ResponseItem) bool { return i.Type != kind })
}
