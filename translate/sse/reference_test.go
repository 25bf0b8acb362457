package sse_test

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// event is what a test remembers of an event.
type event struct {
	Name, Data string
	Start, End int64
}

// reference reads a whole stream in the plainest way, as the oracle of the
// lexer: it knows nothing of feeds, and searches byte by byte.
func reference(stream string) (events []event) {
	rest := strings.TrimPrefix(stream, "\ufeff")
	offset := func() int64 { return int64(len(stream) - len(rest)) }
	var start int64
	var name string
	var data []string
	end := func() {
		if data != nil {
			events = append(events, event{name, strings.Join(data, "\n"), start, offset()})
		}
		start, name, data = offset(), "", nil
	}
	for rest != "" {
		var line string
		line, rest = cutLine(rest)
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			end()
		case field == "data":
			data = append(data, value)
		case field == "event":
			name = value
		}
	}
	if text := strings.Join(data, "\n"); text == "[DONE]" || utf8.ValidString(text) && json.Valid([]byte(text)) {
		end()
	}
	return events
}

// cutLine cuts a stream behind its first line.
func cutLine(stream string) (line, rest string) {
	for i := range len(stream) {
		switch {
		case stream[i] == '\n':
			return stream[:i], stream[i+1:]
		case stream[i] == '\r' && strings.HasPrefix(stream[i+1:], "\n"):
			return stream[:i], stream[i+2:]
		case stream[i] == '\r':
			return stream[:i], stream[i+1:]
		}
	}
	return stream, ""
}
