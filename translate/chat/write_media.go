package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// What a tool message says when all that the tool returned went elsewhere.
const (
	imageElsewhere    = "[image returned by this tool is in the next user message]"
	documentElsewhere = "[document returned by this tool is in the next user message]"
)

// leftOut follows the name of a document that is not sent.
const leftOut = " was left out: this model does not support PDF input]"

// result is the result of a tool that is being written.
type result struct {
	open      bool
	content   contentBuffer
	id        []byte // of the call, escaped
	elsewhere string // what the tool message says if all went to the next one
}

// lines are a search result that is being written: a text of several lines.
type lines struct {
	open bool
}

// texts returns where texts go.
func (w *writer) texts() *contentBuffer {
	if w.result.open {
		return &w.result.content
	}
	return &w.turn.content
}

// OpenResult begins the message of a tool's result.
func (w *writer) OpenResult(r *core.Result) {
	if !w.turn.content.empty() {
		w.x.Keep(core.TextBeforeResult, nil) // nothing may stand between a call and its results
	}
	w.turn.results = true
	w.result.open, w.result.elsewhere = true, ""
	w.result.id = r.ID
	if mayBeForeign(r.ID) {
		w.result.id = w.appendID(nil, r.ID)
	}
	w.result.content.reset(lineFeed)
}

// CloseResult writes the message.
func (w *writer) CloseResult(failed bool) {
	r := &w.result
	r.open = false
	if r.content.empty() && r.elsewhere != "" {
		r.content.add([]byte(r.elsewhere))
	}
	if failed {
		r.content.blame()
	}
	w.spread(&r.content)
	head := append(w.scratch[:0], `,"tool_call_id":"`...)
	w.scratch = append(append(head, r.id...), '"')
	w.messages.add(w.x.At, "tool", w.scratch, &r.content, nil)
}

// ToolReference names a tool that a search for tools has found.
func (w *writer) ToolReference(name []byte) {
	w.texts().add([]byte("[tool available: "), name, []byte("]"))
}

// Image adds an image.
func (w *writer) Image(m *core.Media) {
	to := w.texts()
	if w.result.open && !w.x.Traits.ToolImagesInline {
		to = w.hoist("Images", imageElsewhere)
	}
	to.part(`{"type":"image_url","image_url":{"url":"`)
	if m.Kind == core.Address {
		to.buf = append(to.buf, m.URL...)
	} else {
		to.buf = appendDataURL(to.buf, m.MediaType, m.Data)
	}
	to.buf = append(to.buf, `"}}`...)
	w.turn.marked = to
}

// hoist returns where media go that cannot stand in the result of a tool: into the
// user message behind all results. The first of a result is preceded by a word on
// where it comes from.
func (w *writer) hoist(kind, elsewhere string) *contentBuffer {
	to := &w.turn.hoisted
	if w.result.elsewhere == "" {
		w.result.elsewhere = elsewhere
		to.add([]byte(kind+" returned by tool call "), w.result.id, []byte(":"))
	}
	return to
}

func appendDataURL(dst, mediaType, data []byte) []byte {
	dst = append(dst, "data:"...)
	dst = append(dst, mediaType...)
	dst = append(dst, ";base64,"...)
	return append(dst, data...)
}

// Document adds a document as a text or a file.
func (w *writer) Document(m *core.Media) {
	to := w.texts()
	if m.Kind == core.PlainText {
		to.addLines(m.Title, m.Context, m.Data)
		w.turn.marked = to
		return
	}
	name := m.Title
	if len(name) == 0 {
		name = []byte("document.pdf")
	}
	if to.addLines(m.Context); w.x.Traits.Files == translate.FilesDrop {
		to.add([]byte("["), name, []byte(leftOut))
		w.turn.marked = to
		return
	}
	if w.result.open {
		to = w.hoist("Documents", documentElsewhere)
	}
	to.part(`{"type":"file","file":{"filename":"`)
	to.buf = append(to.buf, name...)
	to.buf = append(to.buf, `","file_data":"`...)
	to.buf = append(appendDataURL(to.buf, m.MediaType, m.Data), `"}}`...)
	w.turn.marked = to
}

// OpenDocument adds what is said of a document whose parts follow.
func (w *writer) OpenDocument(m *core.Media) { w.texts().addLines(m.Title, m.Context) }

// CloseDocument ends a document.
func (w *writer) CloseDocument() {}

// OpenSearchResult begins lines: title, source, and the texts that follow.
func (w *writer) OpenSearchResult(title, source []byte) {
	to := w.texts()
	to.open()
	to.buf = append(append(to.buf, title...), lineFeed...)
	to.buf = append(to.buf, source...)
	w.lines.open = true
}

// CloseSearchResult ends the lines.
func (w *writer) CloseSearchResult() {
	to := w.texts()
	to.close()
	w.turn.marked = to
	w.lines.open = false
}
