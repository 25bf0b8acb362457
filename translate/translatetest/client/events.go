package client

import (
	"fmt"
	"strings"
)

// Event is one event of a stream.
type Event struct{ Name, Data string }

// Events divides a stream into its events, as the HTML standard describes. What is behind the
// last blank line is an event as well, as it is for most clients.
func Events(stream []byte) (events []Event) {
	for block := range strings.SplitSeq(lines(stream), "\n\n") {
		if e, ok := parseEvent(block); ok {
			events = append(events, e)
		}
	}
	return events
}

// lines returns a stream whose lines end with a line feed, without a mark of the byte order.
func lines(stream []byte) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(stream), "\ufeff"))
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

// EmittedEvents is Events for a stream in which each event must be an optional event line, one
// data line and a blank line, as the gateway's emitters write it.
func EmittedEvents(stream []byte) ([]Event, error) {
	events := Events(stream)
	var framed strings.Builder
	for _, e := range events {
		if e.Name != "" {
			framed.WriteString("event: " + e.Name + "\n")
		}
		framed.WriteString("data: " + e.Data + "\n\n")
	}
	if framed.String() != string(stream) {
		return nil, fmt.Errorf("not a sequence of events with one data line each: %q", stream)
	}
	return events, nil
}
