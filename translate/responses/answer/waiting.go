package answer

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// The items of a stream may interleave, which other formats cannot express: their texts and
// their reasoning follow each other. So the events of a message or of reasoning wait until
// the one before has ended. Calls wait only behind items that wait, since the core events of
// several calls may interleave.
//
// Nothing waits for an item that was not announced, nor does an event without an index:
// servers that leave out the announcement or the index end all items only at the end of the
// stream, if at all. Such an item is left when the next one begins, and more content of it is
// a fault.

// waiting contains the events that wait, in their order.
type waiting struct {
	events []waitingEvent
	held   int // bytes
}

// waitingEvent is an event about the item with an index.
type waitingEvent struct {
	index int64
	sse.Event
}

// maxWaiting bounds the events that wait, in bytes.
const maxWaiting = 4 << 20

var errWaiting = fmt.Errorf("more than %d bytes behind an item that has not ended", maxWaiting)

// add adds a copy of an event about the item with an index.
func (w *waiting) add(index int64, e sse.Event) error {
	if w.held += eventSize(e); w.held > maxWaiting {
		return errWaiting
	}
	e.Name, e.Data = bytes.Clone(e.Name), bytes.Clone(e.Data)
	w.events = append(w.events, waitingEvent{index, e})
	return nil
}

// next removes the events about the item whose event is the first one, and returns them.
func (w *waiting) next() (events []sse.Event) {
	first := w.events[0].index
	w.events = slices.DeleteFunc(w.events, func(e waitingEvent) bool {
		if e.index == first {
			events = append(events, e.Event)
			w.held -= eventSize(e.Event)
		}
		return e.index == first
	})
	return events
}

// eventSize returns the number of bytes that a waiting event takes.
func eventSize(e sse.Event) int { return len(e.Name) + len(e.Data) + 128 }
