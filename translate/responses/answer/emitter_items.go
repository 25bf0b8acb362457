package answer

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// openItem is the item that is being written. Its memory is reused for the next one.
type openItem struct {
	kind  itemKind // unknownItem for none
	id    []byte
	parts []byte // the parts that have ended, with commas between them
	count int    // the number of parts that have ended

	// The open part: a text of a message or of a summary, or the arguments of a call.
	open    bool
	part    int    // the number of the part in core events
	refusal bool   // the part is the text of a refusal
	text    []byte // escaped
	delta   *delta // nil in a JSON answer
	from    int    // characters of text before the part
	notes   []byte // annotations, with commas between them
	noted   int    // the number of annotations
	scores  []byte // log probabilities, with commas between them

	thought []byte // the escaped reasoning, to be sealed
	sealed  []byte // the raw encrypted_content of reasoning; nil for none
	call    openCall
}

// reset begins another item in the same memory.
func (it *openItem) reset(kind itemKind, id []byte) {
	*it = openItem{
		kind: kind, id: id, parts: it.parts[:0], text: it.text[:0], notes: it.notes[:0], scores: it.scores[:0],
		thought: it.thought[:0],
	}
}

// resetPart ends the open part.
func (it *openItem) resetPart() {
	it.open, it.refusal, it.delta, it.noted = false, false, nil, 0
	it.text, it.notes, it.scores = it.text[:0], it.notes[:0], it.scores[:0]
}

// size returns the number of bytes in the memory of the item.
func (it *openItem) size() int {
	return len(it.parts) + len(it.text) + len(it.notes) + len(it.scores) + len(it.thought) + len(it.sealed) + len(it.call.held)
}

// appendPlace appends the members that identify the item and the part of an event.
func (it *openItem) appendPlace(dst []byte, output int, index string) []byte {
	dst = append(dst, `,"item_id":"`...)
	dst = append(dst, it.id...)
	dst = append(dst, `","output_index":`...)
	dst = strconv.AppendInt(dst, int64(output), 10)
	if index == "" {
		return dst
	}
	dst = append(dst, `,"`+index+`":`...)
	return strconv.AppendInt(dst, int64(it.count), 10)
}

// nextPart returns the parts that have ended, ready for another one to be appended.
func (it *openItem) nextPart() []byte {
	if it.count > 0 {
		return append(it.parts, ',')
	}
	return it.parts
}

// addPart keeps the parts after one was appended.
func (it *openItem) addPart(parts []byte) {
	it.parts = parts
	it.count++
	it.resetPart()
}

// begin announces the open item.
func (m *Emitter) begin() {
	switch {
	case m.native != nil:
		m.itemEvent("response.output_item.added", m.native.begunItem())
	case m.context.Stream:
		m.itemEvent("response.output_item.added", m.item.append(nil, inProgress))
	}
}

// append appends the item with its parts that have ended.
func (it *openItem) append(dst []byte, status string) []byte {
	switch it.kind {
	case messageItem:
		return it.appendMessage(dst, status)
	case reasoningItem:
		return it.appendReasoning(dst, status)
	default:
		return it.appendCall(dst, status)
	}
}

// closeIf closes the open item if it is of that kind.
func (m *Emitter) closeIf(kind itemKind) {
	if m.item.kind == kind {
		m.close(completed)
	}
}

// close closes the open item, if there is one, with a status. Empty reasoning was never
// announced, and is left out.
func (m *Emitter) close(status string) {
	switch m.item.kind {
	case unknownItem:
		return
	case messageItem:
		m.closeText()
	case reasoningItem:
		m.closeReasoning()
	case callItem:
		m.closeArguments()
	}
	if m.item.id != nil {
		m.endItem(status)
	}
	m.item.reset(unknownItem, nil)
}

// endItem appends the open item to the items that have ended.
func (m *Emitter) endItem(status string) {
	m.output = slices.Grow(m.output, m.item.size()+roomOfItem)
	if m.items > 0 {
		m.output = append(m.output, ',')
	}
	before := len(m.output)
	if m.native != nil {
		m.output = append(m.output, m.native.item...)
		m.native.item = nil
	} else {
		m.output = m.item.append(m.output, status)
	}
	if m.context.Stream {
		m.itemEvent("response.output_item.done", m.output[before:])
	}
	m.items++
}

// roomOfItem is about the size of an item without its texts, and roomOfFrame that of a
// response without its items, in bytes.
const (
	roomOfItem  = 192
	roomOfFrame = 1024
)

// text writes a fragment of text, or of the text of a refusal.
func (m *Emitter) text(e *event.Event) {
	it := &m.item
	if it.kind != messageItem {
		m.close(completed)
		it.reset(messageItem, m.itemID("msg_"))
		m.begin()
	}
	if it.open && (it.part != e.Part || it.refusal != e.Refusal) {
		m.closeText()
	}
	if !it.open {
		m.openText(e)
	}
	m.characters += utf8.RuneCount(e.Text)
	m.fragment(e.Text)
}

// fragment writes a fragment of the open part.
func (m *Emitter) fragment(fragment []byte) {
	it := &m.item
	it.text = jsonscan.AppendEscaped(it.text, fragment)
	if it.delta == nil {
		return
	}
	m.out = m.appendDelta(m.out, fragment)
	m.scores = len(m.out) - len(textEnd) + len(`","logprobs":[`)
}

// textEnd is the end of the delta of a text.
const textEnd = `","logprobs":[]}` + "\n\n"

// openText begins a part of the message.
func (m *Emitter) openText(e *event.Event) {
	it := &m.item
	it.open, it.part, it.refusal, it.from = true, e.Part, e.Refusal, m.characters
	if !m.context.Stream {
		return
	}
	m.openPart("response.content_part.added", "content_index")
	m.out = append(m.out, `,"part":`...)
	m.out = it.appendText(m.out)
	m.shut()
	if it.refusal {
		m.beginDeltas("response.refusal.delta", "content_index", `"}`+"\n\n")
	} else {
		m.beginDeltas("response.output_text.delta", "content_index", textEnd)
	}
}

// appendText appends the open part of the message.
func (it *openItem) appendText(dst []byte) []byte {
	if it.refusal {
		dst = append(append(dst, `{"type":"refusal","refusal":"`...), it.text...)
		return append(dst, `"}`...)
	}
	dst = append(append(dst, `{"type":"output_text","text":"`...), it.text...)
	dst = append(append(dst, `","annotations":[`...), it.notes...)
	dst = append(append(dst, `],"logprobs":[`...), it.scores...)
	return append(dst, "]}"...)
}

// closeText ends the open part of the message.
func (m *Emitter) closeText() {
	it := &m.item
	if !it.open {
		return
	}
	it.parts = slices.Grow(it.parts, it.size()-len(it.parts)+roomOfItem)
	before := it.nextPart()
	parts := it.appendText(before)
	if m.context.Stream {
		m.endText()
		m.openPart("response.content_part.done", "content_index")
		m.out = append(append(m.out, `,"part":`...), parts[len(before):]...)
		m.shut()
	}
	it.addPart(parts)
}

// endText writes the event that ends the deltas of a text.
func (m *Emitter) endText() {
	if m.item.refusal {
		m.openPart("response.refusal.done", "content_index")
		m.member("refusal", m.item.text)
	} else {
		m.openPart("response.output_text.done", "content_index")
		m.member("text", m.item.text)
		m.out = append(append(m.out, `,"logprobs":[`...), m.item.scores...)
		m.out = append(m.out, ']')
	}
	m.shut()
}

// appendMessage appends the message with the parts that have ended.
func (it *openItem) appendMessage(dst []byte, status string) []byte {
	dst = append(append(dst, `{"id":"`...), it.id...)
	dst = append(dst, `","type":"message","status":"`+status+`","role":"assistant","content":[`...)
	return append(append(dst, it.parts...), "]}"...)
}

// annotate writes a source of the open text.
func (m *Emitter) annotate(s *event.Citation) {
	it := &m.item
	if it.kind != messageItem || !it.open || it.refusal {
		m.Drop("annotations")
		return
	}
	note := it.appendNote(nil, s)
	if m.context.Stream {
		m.openPart("response.output_text.annotation.added", "content_index")
		m.out = append(m.out, `,"annotation_index":`...)
		m.out = strconv.AppendInt(m.out, int64(it.noted), 10)
		m.out = append(append(m.out, `,"annotation":`...), note...)
		m.shut()
	}
	if it.noted > 0 {
		it.notes = append(it.notes, ',')
	}
	it.notes = append(it.notes, note...)
	it.noted++
}

// appendNote appends an annotation; its indexes count from the beginning of its part.
func (it *openItem) appendNote(dst []byte, s *event.Citation) []byte {
	dst = append(dst, `{"type":"url_citation","start_index":`...)
	dst = strconv.AppendInt(dst, int64(max(0, s.Start-it.from)), 10)
	dst = append(dst, `,"end_index":`...)
	dst = strconv.AppendInt(dst, int64(max(0, s.End-it.from)), 10)
	dst = append(dst, `,"url":`...)
	dst = jsonscan.AppendString(dst, s.URL)
	dst = append(dst, `,"title":`...)
	dst = jsonscan.AppendString(dst, s.Title)
	return append(dst, '}')
}

// score writes the log probabilities of the preceding text: into its delta, or into a
// delta of their own if that one was already returned by Output. They are compacted,
// since line breaks of a provider would end the data line of an event.
func (m *Emitter) score(list []byte) {
	it := &m.item
	if !m.context.Logprobs.Asked && m.native == nil || it.kind != messageItem || !it.open || it.refusal || jsonscan.Blank(list) {
		return
	}
	if len(it.scores) > 0 {
		it.scores = append(it.scores, ',')
	}
	from := len(it.scores)
	it.scores = jsonscan.AppendCompact(it.scores, list[1:len(list)-1])
	if it.delta == nil {
		return
	}
	if m.scores == 0 {
		m.fragment(nil)
	}
	m.out = append(m.out[:m.scores], it.scores[from:]...)
	m.out = append(m.out, "]}\n\n"...)
	m.scores = 0
}
