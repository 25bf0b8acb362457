package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Content is an answer in the gemini format. It was read from a JSON body, or joined from the
// events of a stream.
type Content struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Role  string        `json:"role"`
			Parts []ContentPart `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Total      int `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`

	Parts    []ContentPart `json:"-"` // those of the first candidate, of all events
	Complete bool          `json:"-"` // there is a finishReason
	Failure  *Failure      `json:"-"` // the error that ended the stream
}

// ContentPart is a part of an answer. Signatures are standard base64, as the client for Go
// demands.
type ContentPart struct {
	Text         string `json:"text"`
	Thought      bool   `json:"thought"`
	Signature    []byte `json:"thoughtSignature"`
	FunctionCall *struct {
		ID   string         `json:"id"`
		Name string         `json:"name"`
		Args map[string]any `json:"args"`
	} `json:"functionCall"`
}

// Text joins the texts that are no thoughts.
func (c *Content) Text() (text string) {
	for _, part := range c.Parts {
		if !part.Thought {
			text += part.Text
		}
	}
	return text
}

// ParseContent reads a JSON answer.
func ParseContent(body []byte) (*Content, error) {
	c := new(Content)
	if err := c.add(body); err != nil {
		return nil, err
	}
	if len(c.Candidates) == 0 {
		return nil, errors.New("the answer has no candidate")
	}
	return c, nil
}

// ReadContentStream joins a stream. The clients accept nothing but lines of data with one object
// each: no comment, no name of an event, no empty line more.
func ReadContentStream(r io.Reader) (*Content, error) {
	raw, err := io.ReadAll(r)
	c := new(Content)
	for block := range eventBlocks(string(raw)) {
		e, ok := parseEvent(block)
		if !ok || "data: "+e.Data != block {
			return c, fmt.Errorf("the event %q is not one line of data", block)
		}
		if c.Failure != nil {
			return c, fmt.Errorf("%s after the end", e.Data)
		}
		if err := c.add([]byte(e.Data)); err != nil {
			return c, err
		}
	}
	if err != nil {
		return c, fmt.Errorf("reading events: %w", err)
	}
	return c, nil
}

// add reads the answer, or an event.
func (c *Content) add(raw []byte) error {
	c.Candidates = nil
	if err := json.Unmarshal(raw, c); err != nil {
		return fmt.Errorf("reading content: %w", err)
	}
	if c.Error != nil {
		f, err := ParseFailure(raw)
		c.Failure = &f
		return err
	}
	for _, candidate := range c.Candidates {
		if candidate.Index > 0 {
			continue
		}
		c.Parts = append(c.Parts, candidate.Content.Parts...)
		c.Complete = c.Complete || candidate.Finish != ""
	}
	return nil
}
