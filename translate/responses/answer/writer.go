package answer

import (
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
)

// itemWriter writes the items of an answer: into the list of those that have ended, which
// a JSON body and the last event of a stream contain, and as the events of a stream. Every
// item ends before the next one begins, and so do the texts of an item.
type itemWriter struct {
	events eventWriter
	stem   string // of the ids of items: a part of the id of the answer
	ended  list
	open   openItem
	text   text    // of the open item
	native *native // nil unless the provider has the same format
}

// openItem is the item that is being written. Its memory is reused for the next one.
type openItem struct {
	shape   *itemShape // nil for none
	id      []byte     // nil until the item is announced
	content list       // the texts that have ended
	tail    []byte     // the members behind the content, each with a comma before it
}

// itemShape contains the constant parts of the items of a type.
type itemShape struct {
	prefix string    // of ids
	kind   string    // the type
	states bool      // there is a status
	head   string    // between the status and the content
	empty  string    // in place of no content
	tail   string    // behind the content
	text   *textKind // of a call; nil if there are no events about its arguments
}

var (
	messageShape   = itemShape{prefix: "msg_", kind: "message", states: true, head: `,"role":"assistant","content":[`, tail: "]"}
	reasoningShape = itemShape{prefix: "rs_", kind: "reasoning", head: `,"summary":[`, tail: "]"}
	functionShape  = itemShape{prefix: "fc_", kind: "function_call", states: true, head: `,"arguments":`, empty: `""`, text: &functionArguments}
	freeShape      = itemShape{prefix: "ctc_", kind: "custom_tool_call", states: true, head: `,"input":`, empty: `""`, text: &freeInput}
	imageShape     = itemShape{prefix: "ig_", kind: "image_generation_call", states: true, head: `,"result":`, empty: "null"}
	searchShape    = itemShape{prefix: "tsc_", kind: "tool_search_call", states: true, head: `,"arguments":`, empty: "{}"}
)

// roomOfItem is about the size of an item without its texts, and roomOfFrame that of a
// response without its items, in bytes.
const (
	roomOfItem  = 192
	roomOfFrame = 1024
)

// begin begins an item. It is announced as soon as it has content.
func (w *itemWriter) begin(shape *itemShape) {
	it := &w.open
	*it = openItem{shape: shape, content: list{json: it.content.json[:0]}, tail: it.tail[:0]}
}

// announce writes the beginning of the open item, once.
func (w *itemWriter) announce() {
	if w.open.id != nil {
		return
	}
	w.open.id = w.newID()
	switch {
	case w.native != nil:
		w.itemEvent("response.output_item.added", w.native.begunItem())
	case w.events.Context.Stream:
		w.itemEvent("response.output_item.added", w.open.append(nil, inProgress))
	}
}

// newID returns the id of the open item. It is unique, since it contains the id of the
// answer.
func (w *itemWriter) newID() []byte {
	if w.native != nil && w.native.id != nil {
		return w.native.id
	}
	number := strconv.Itoa(w.ended.count)
	id := append(append(make([]byte, 0, 32), w.open.shape.prefix...), w.stem...)
	return append(append(id, "0000"[min(4, len(number)):]...), number...)
}

// itemEvent writes an event about an item as a whole.
func (w *itemWriter) itemEvent(name string, item []byte) {
	place := strconv.AppendInt([]byte(`,"output_index":`), int64(w.ended.count), 10)
	w.events.write(name, place, "item", item)
}

// append appends the item with the texts that have ended.
func (it *openItem) append(dst []byte, status string) []byte {
	s := it.shape
	dst = append(append(append(append(dst, `{"id":"`...), it.id...), `","type":"`...), s.kind...)
	if s.states {
		dst = append(append(dst, `","status":"`...), status...)
	}
	dst = append(append(append(dst, '"'), s.head...), it.content.json...)
	if len(it.content.json) == 0 {
		dst = append(dst, s.empty...)
	}
	return append(append(append(dst, s.tail...), it.tail...), '}')
}

// end writes the end of the open item. One that was not announced is left out.
func (w *itemWriter) end(status string) {
	w.endText()
	if w.open.id != nil {
		w.add(status)
	}
	w.begin(nil)
}

// add adds the open item to those that have ended.
func (w *itemWriter) add(status string) {
	start := w.ended.next(len(w.open.content.json) + len(w.open.tail) + roomOfItem)
	if w.native == nil {
		w.ended.json = w.open.append(w.ended.json, status)
	} else {
		w.ended.json = append(w.ended.json, w.native.item...)
		w.native.item = nil
	}
	w.itemEvent("response.output_item.done", w.ended.json[start:])
	w.ended.count++
}

// size returns the number of bytes of the items.
func (w *itemWriter) size() int { return len(w.ended.json) + len(w.open.content.json) + w.text.size() }

// eventWriter writes the events of a stream.
type eventWriter struct {
	*singleanswer.Emitter
	sequence int64 // the number of the next event
	scores   int   // the position for log probabilities in the last delta, 0 for none
}

// next returns the number of an event that is written now.
func (w *eventWriter) next() int64 {
	w.sequence++
	return w.sequence - 1
}

// write writes an event with a raw value, unless the answer is a JSON body. place contains
// the members that identify what the event is about, each with a comma before it.
func (w *eventWriter) write(name string, place []byte, member string, value []byte) {
	if !w.Context.Stream {
		return
	}
	w.Written = strconv.AppendInt(appendHead(w.Written, name), w.next(), 10)
	w.Written = append(append(append(append(w.Written, place...), `,"`...), member...), `":`...)
	w.Written = append(append(w.Written, value...), "}\n\n"...)
	w.scores = 0
}

// appendHead appends the beginning of an event up to its number.
func appendHead(dst []byte, name string) []byte {
	dst = append(append(append(dst, "event: "...), name...), "\ndata: {\"type\":\""...)
	return append(append(dst, name...), `","sequence_number":`...)
}

// appendDelta appends a delta of a text.
func (w *eventWriter) appendDelta(dst []byte, t *text, escaped []byte) []byte {
	dst = strconv.AppendInt(append(dst, t.lead...), w.next(), 10)
	dst = append(append(append(dst, t.place...), `,"delta":"`...), escaped...)
	if t.kind.scored {
		return append(dst, `","logprobs":[]}`+"\n\n"...)
	}
	return append(dst, `"}`+"\n\n"...)
}

// list contains the elements of a JSON array.
type list struct {
	json  []byte // with commas between them
	count int
}

// next prepares the list for another element of about room bytes, which the caller appends
// and counts. It returns the position of the element.
func (l *list) next(room int) int {
	l.json = slices.Grow(l.json, room+1)
	if len(l.json) > 0 {
		l.json = append(l.json, ',')
	}
	return len(l.json)
}
