package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Response is an answer in the responses format. It was read from a JSON body, or assembled
// from a stream by the rules of the official clients.
type Response struct {
	ID         string          `json:"id"`
	Object     string          `json:"object"`
	CreatedAt  int64           `json:"created_at"`
	Status     string          `json:"status"`
	Model      string          `json:"model"`
	Store      *bool           `json:"store"`
	Output     []ResponseItem  `json:"output"`
	Usage      *ResponsesUsage `json:"usage"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`

	Complete bool     `json:"-"` // the stream ended with response.completed or response.incomplete
	Failure  *Failure `json:"-"` // the event response.failed or error that ended the stream
}

// ResponseItem is an item of the output.
type ResponseItem struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Status    string         `json:"status"`
	Role      string         `json:"role"`
	Phase     string         `json:"phase"`
	Content   []ResponsePart `json:"content"`
	Summary   []ResponsePart `json:"summary"`
	Encrypted *string        `json:"encrypted_content"`
	CallID    string         `json:"call_id"`
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	Arguments *string        `json:"arguments"`
	Input     *string        `json:"input"`
}

// ResponsePart is a part of the content of a message, or of a summary.
type ResponsePart struct {
	Type     string          `json:"type"`
	Text     *string         `json:"text"`
	Refusal  *string         `json:"refusal"`
	Logprobs json.RawMessage `json:"logprobs"`
}

// ResponsesUsage is the usage of the responses format.
type ResponsesUsage struct {
	InputTokens  *int `json:"input_tokens"`
	InputDetails *struct {
		Cached *int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens  *int `json:"output_tokens"`
	OutputDetails *struct {
		Reasoning *int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens *int `json:"total_tokens"`
}

// Text joins the texts of the messages.
func (r *Response) Text() (text string) {
	for _, item := range r.Items("message") {
		for _, part := range item.Content {
			if part.Text != nil {
				text += *part.Text
			}
		}
	}
	return text
}

// Items returns the items of one type.
func (r *Response) Items(kind string) []ResponseItem {
	return slices.DeleteFunc(slices.Clone(r.Output), func(i ResponseItem) bool { return i.Type != kind })
}

// ParseResponse reads a JSON answer.
func ParseResponse(body []byte) (*Response, error) {
	var r Response
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("reading a response: %w", err)
	}
	return &r, r.check()
}

// check checks the rules of official clients for a response that has ended.
func (r *Response) check() error {
	if r.Object != "response" || r.ID == "" {
		return errors.New("the answer is not a response")
	}
	for i, item := range r.Output {
		if err := item.check(); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return r.Usage.check()
}

// check checks the members without which clients cannot parse the item.
func (i ResponseItem) check() error {
	switch {
	case i.ID == "":
		return errors.New("no id")
	case i.Type == "message":
		return checkParts(i.Content)
	case i.Type == "reasoning":
		return checkParts(i.Summary)
	case i.Type == "function_call" && (i.Arguments == nil || i.Name == "" || i.CallID == ""):
		return errors.New("a function call lacks its name, arguments or call_id")
	case i.Type == "custom_tool_call" && (i.Input == nil || i.Name == "" || i.CallID == ""):
		return errors.New("a custom tool call lacks its name, input or call_id")
	}
	return nil
}

func checkParts(parts []ResponsePart) error {
	if parts == nil {
		return errors.New("no content or summary")
	}
	for _, part := range parts {
		if part.Text == nil && part.Refusal == nil {
			return errors.New("a part without text")
		}
	}
	return nil
}

// check checks that usage is absent or complete.
func (u *ResponsesUsage) check() error {
	if u == nil {
		return nil
	}
	if u.InputTokens == nil || u.OutputTokens == nil || u.TotalTokens == nil ||
		u.InputDetails == nil || u.InputDetails.Cached == nil ||
		u.OutputDetails == nil || u.OutputDetails.Reasoning == nil {
		return errors.New("usage lacks a count")
	}
	return nil
}
