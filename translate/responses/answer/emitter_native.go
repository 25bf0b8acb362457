package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// native contains what the stream of a native answer (see event.Native) has of it: all but
// the events between the beginning and the end of an item, which other events become.
type native struct {
	begun, whole []byte // the response at its beginning and at its end
	item         []byte // the item that has not ended; nil for none
	id           []byte // of the item, escaped
	summary      bool   // the item has a summary
	arguments    bool   // the item has arguments, or a free input
	room         int    // for the events, in bytes
}

// The bounds of the events of a native answer. A stream contains a text five times, and
// every event about an item repeats its id, which may be as long as the answer.
const (
	nativeTimes = 8
	nativeRoom  = 8 << 20
)

var (
	errTooLarge = errors.New("events that are far larger than the answer")
	errNoItem   = errors.New("an item that is not an object")
)

// The members that a response, an item, and an item with content or arguments have only at
// their end.
var (
	atResponseEnd = event.Without{
		"output": "[]", "status": `"in_progress"`, "usage": "null", "incomplete_details": "null", "completed_at": "null",
	}
	atItemEnd    = event.Without{"encrypted_content": "", "status": `"in_progress"`}
	atContentEnd = event.Without{
		"encrypted_content": "", "status": `"in_progress"`, "content": "[]", "summary": "[]", "arguments": `""`, "input": `""`,
	}
)

func readNative(response []byte) *native {
	return &native{
		begun: appendBegun(response, atResponseEnd), whole: jsonscan.AppendCompact(nil, response),
		room: nativeRoom + nativeTimes*len(response),
	}
}

// appendBegun returns an object as it is at its beginning.
func appendBegun(object []byte, replacements event.Without) []byte {
	begun := event.AppendNative(nil, object, replacements)
	if len(begun) == 0 {
		return []byte("{}")
	}
	begun[0] = '{'
	return append(begun, '}')
}

// next keeps the item that the next events are about, which must be an object.
func (n *native) next(item []byte) error {
	if item[0] != '{' {
		return errNoItem
	}
	n.item, n.id, n.summary, n.arguments = jsonscan.AppendCompact(nil, item), nil, false, false
	for name, value := range jsonscan.Members(item) {
		switch {
		case string(name) == "id" && value[0] == '"':
			n.id = append([]byte(nil), jsonscan.Inner(value)...)
		case string(name) == "summary":
			n.summary = !jsonscan.Blank(value)
		case string(name) == "arguments" || string(name) == "input":
			n.arguments = !jsonscan.Blank(value)
		}
	}
	return nil
}

// endNative writes an item of which there were no events.
func (w *itemWriter) endNative() {
	if n := w.native; n != nil && n.item != nil {
		w.itemEvent("response.output_item.added", n.begunItem())
		w.add(completed)
	}
}

// begunItem returns the item at its beginning.
func (n *native) begunItem() []byte {
	c := jsonscan.Again(n.item)
	if kindOf(c.TypeAhead()) == unknownItem {
		return appendBegun(n.item, atItemEnd)
	}
	return appendBegun(n.item, atContentEnd)
}

// has reports whether nothing is written for an event, since the item itself has the
// content.
func (n *native) has(e *event.Event) bool {
	switch e.Kind {
	case event.Signature, event.Redacted, event.Inline:
		return true
	case event.Reasoning:
		return !n.summary
	case event.ToolArgs:
		return !n.arguments
	default:
		return false
	}
}
