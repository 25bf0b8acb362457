package answer

import (
	"bytes"
	"fmt"

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

// waiting contains the events that wait, item by item, in the order of their first events.
type waiting struct {
	queues []queue
	held   int // bytes
}

// queue contains the events of the item with an index.
type queue struct {
	index  int64
	events []sse.Event
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
	for i := range w.queues {
		if q := &w.queues[i]; q.index == index {
			q.events = append(q.events, e)
			return nil
		}
	}
	w.queues = append(w.queues, queue{index, []sse.Event{e}})
	return nil
}

// next removes the events of the first item, and returns them.
func (w *waiting) next() []sse.Event {
	events := w.queues[0].events
	w.queues = w.queues[1:]
	for _, e := range events {
		w.held -= eventSize(e)
	}
	return events
}

// eventSize returns the number of bytes that a waiting event takes.
func eventSize(e sse.Event) int { return len(e.Name) + len(e.Data) + 128 }
