package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

// Failure is an error body or an in-stream error event. Type is the status of the gemini format.
type Failure struct {
	Type, Message, Code string
}

// ParseFailure reads an error body of any format.
func ParseFailure(body []byte) (Failure, error) {
	var b struct {
		Error *struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Status  string `json:"status"`
			Code    any    `json:"code"` // a number from some providers
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return Failure{}, fmt.Errorf("reading an error body: %w", err)
	}
	if b.Error == nil {
		return Failure{}, errors.New("no error object")
	}
	f := Failure{Type: cmp.Or(b.Error.Type, b.Error.Status), Message: b.Error.Message}
	if b.Error.Code != nil {
		f.Code = fmt.Sprint(b.Error.Code)
	}
	return f, nil
}
