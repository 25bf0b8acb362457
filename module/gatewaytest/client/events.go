// Package client reads answers of the gateway as strictly as the official clients of each
// format do: an answer that one of them would not accept is an error.
package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Event is one event of a stream.
type Event struct{ Name, Data string }

// ReadEvents reads a stream to its end, as the HTML standard describes. With an error, it
// also returns the events before the error.
func ReadEvents(r io.Reader) ([]Event, error) {
	raw, err := io.ReadAll(r)
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(raw), "\ufeff"))
	var events []Event
	for block := range strings.SplitSeq(text, "\n\n") {
		if e, ok := parseEvent(block); ok {
			events = append(events, e)
		}
	}
	if err != nil {
		return events, fmt.Errorf("reading events: %w", err)
	}
	return events, nil
}

func parseEvent(block string) (e Event, ok bool) {
	var data []string
	for line := range strings.SplitSeq(block, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.Name = value
		case "data":
			data = append(data, value)
		}
	}
	e.Data = strings.Join(data, "\n")
	return e, len(data) > 0
}

// decode reads the data of an event.
func (e Event) decode(into any) error {
	if err := json.Unmarshal([]byte(e.Data), into); err != nil {
		return fmt.Errorf("reading event %q: %w", e.Data, err)
	}
	return nil
}

// Failure is an error body or an in-stream error event.
type Failure struct {
	Type, Message, Code string
}

var errNoFailure = errors.New("no error object")

// ParseFailure reads an error body of either family.
func ParseFailure(body []byte) (Failure, error) {
	var b struct {
		Error *struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Code    any    `json:"code"` // a number from some providers
		} `json:"error"`
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&b); err != nil {
		return Failure{}, fmt.Errorf("reading an error body: %w", err)
	}
	if b.Error == nil {
		return Failure{}, errNoFailure
	}
	f := Failure{Type: b.Error.Type, Message: b.Error.Message}
	if b.Error.Code != nil {
		f.Code = fmt.Sprint(b.Error.Code)
	}
	return f, nil
}
