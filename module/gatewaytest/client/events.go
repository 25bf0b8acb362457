// Package client reads answers of the gateway as strictly as the official clients of each
// format do: an answer that one of them would not accept is an error.
package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// Event is one event of a stream.
type Event struct{ Name, Data string }

// ReadEvents reads a stream to its end, as the HTML standard describes. With an error, it
// also returns the events before the error.
func ReadEvents(r io.Reader) ([]Event, error) {
	raw, err := io.ReadAll(r)
	var events []Event
	for block := range eventBlocks(string(raw)) {
		if e, ok := parseEvent(block); ok {
			events = append(events, e)
		}
	}
	if err != nil {
		return events, fmt.Errorf("reading events: %w", err)
	}
	return events, nil
}

// eventBlocks returns the events of a stream, and the rest behind the last one unless it is empty.
func eventBlocks(raw string) iter.Seq[string] {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(raw, "\ufeff"))
	return strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n")
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

// Failure is an error body or an in-stream error event. Type is the status of the gemini format.
type Failure struct {
	Type, Message, Code string
}

var errNoFailure = errors.New("no error object")

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
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&b); err != nil {
		return Failure{}, fmt.Errorf("reading an error body: %w", err)
	}
	if b.Error == nil {
		return Failure{}, errNoFailure
	}
	f := Failure{Type: cmp.Or(b.Error.Type, b.Error.Status), Message: b.Error.Message}
	if b.Error.Code != nil {
		f.Code = fmt.Sprint(b.Error.Code)
	}
	return f, nil
}
