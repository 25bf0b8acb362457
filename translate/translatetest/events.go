package translatetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Object is a JSON object whose numbers keep their digits.
type Object = map[string]any

// ErrFailed is returned for a stream that ended with an error event.
var ErrFailed = errors.New("the stream failed")

// Event is one event of a stream.
type Event struct{ Name, Data string }

// Events divides a stream that the gateway wrote into its events. It refuses lines that
// official clients do not need: an event has an optional event line, one data line and a
// blank line.
func Events(stream []byte) ([]Event, error) {
	text, ended := strings.CutSuffix(string(stream), "\n\n")
	if !ended {
		if text == "" {
			return nil, nil
		}
		return nil, errors.New("the last event is not terminated")
	}
	var events []Event
	for lines := range strings.SplitSeq(text, "\n\n") {
		var e Event
		if rest, named := strings.CutPrefix(lines, "event: "); named {
			e.Name, lines, _ = strings.Cut(rest, "\n")
		}
		data, ok := strings.CutPrefix(lines, "data: ")
		if !ok || strings.ContainsAny(data, "\r\n") {
			return nil, fmt.Errorf("not one data line: %q", lines)
		}
		e.Data = data
		events = append(events, e)
	}
	return events, nil
}

// Decode decodes a document that is one JSON object.
func Decode(data []byte) (Object, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var o Object
	if err := decoder.Decode(&o); err != nil {
		return nil, fmt.Errorf("decoding %q: %w", data, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one value: %q", data)
	}
	return o, nil
}

// text returns a member that is a string.
func text(o Object, name string) string {
	s, _ := o[name].(string)
	return s
}

// object returns a member that is an object.
func object(o Object, name string) Object {
	inner, _ := o[name].(Object)
	return inner
}

// number returns a member that is an integer, -1 for none.
func number(o Object, name string) int {
	n, _ := o[name].(json.Number)
	i, err := n.Int64()
	if err != nil {
		return -1
	}
	return int(i)
}

// counts checks that all numbers of a usage object are integers of at least 0.
func counts(value any) error {
	switch v := value.(type) {
	case Object:
		for name, member := range v {
			if err := counts(member); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	case json.Number:
		if n, err := v.Int64(); err != nil || n < 0 {
			return fmt.Errorf("%s is no count", v)
		}
	}
	return nil
}
