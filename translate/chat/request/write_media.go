package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// The texts of a tool message whose media are in another message.
const (
	imageElsewhere    = "[image returned by this tool is in the next user message]"
	documentElsewhere = "[document returned by this tool is in the next user message]"
)

// result is the result of a tool that is being written.
type result struct {
	open      bool
	content   parts.Content
	id        []byte // the provider's id of the call, escaped
	elsewhere string // the text if the result consists of media in the next message
}

// texts returns the open content.
func (w *writer) texts() *parts.Content {
	if w.result.open {
		return &w.result.content
	}
	return &w.turn.content
}

// OpenResult begins the message of a tool's result.
func (w *writer) OpenResult(r *core.Result) {
	if !w.turn.content.Empty() {
		w.x.Keep(core.TextBeforeResult, nil) // a result follows its call immediately
	}
	w.turn.results = true
	w.result.open, w.result.elsewhere = true, ""
	w.result.id = w.calls.AppendID(w.result.id[:0], r.ID)
	w.result.content.Reset(openText, parts.LineFeed)
}

// CloseResult writes the message.
func (w *writer) CloseResult(failed bool) {
	r := &w.result
	r.open = false
	if r.content.Empty() && r.elsewhere != "" {
		r.content.Add([]byte(r.elsewhere))
	}
	if failed {
		r.content.Blame()
	}
	w.spread(&r.content)
	head := append(w.scratch[:0], `,"tool_call_id":"`...)
	w.scratch = append(append(head, r.id...), '"')
	w.messages.add(w.x.At, "tool", w.scratch, &r.content, nil)
}

// ToolReference adds the name of a tool that a search for tools has found.
func (w *writer) ToolReference(name []byte) {
	w.texts().Add([]byte("[tool available: "), name, []byte("]"))
}

// Image adds an image.
func (w *writer) Image(m *core.Media) {
	to := w.texts()
	if w.result.open && !w.x.Traits.ToolImagesInline {
		to = w.hoist("Images", imageElsewhere)
	}
	to.Part(`{"type":"image_url","image_url":{"url":"`)
	if m.Kind == core.Address {
		to.Buf = append(to.Buf, m.URL...)
	} else {
		to.Buf = parts.AppendDataURL(to.Buf, m.MediaType, m.Data)
	}
	if len(m.Detail) > 0 {
		to.Buf = append(append(to.Buf, `","detail":"`...), m.Detail...)
	}
	to.Buf = append(to.Buf, `"}}`...)
	w.turn.marked = to
}

// hoist returns the content for media that the result of a tool cannot contain: the user
// message behind all results. A text in front of the first media of a result names the
// call.
func (w *writer) hoist(kind, elsewhere string) *parts.Content {
	to := &w.turn.hoisted
	if w.result.elsewhere == "" {
		w.result.elsewhere = elsewhere
		to.Add([]byte(kind+" returned by tool call "), w.result.id, []byte(":"))
	}
	return to
}

// Document adds a document as a text or a file.
func (w *writer) Document(m *core.Media) {
	to := w.texts()
	if m.Kind == core.PlainText {
		to.AddLines(m.Title, m.Context, m.Data)
		w.turn.marked = to
		return
	}
	name := m.Title
	if len(name) == 0 {
		name = []byte("document.pdf")
	}
	if to.AddLines(m.Context); w.x.Traits.Files == trait.FilesDrop {
		to.Add([]byte("["), name, []byte(parts.LeftOut))
		w.turn.marked = to
		return
	}
	if w.result.open {
		to = w.hoist("Documents", documentElsewhere)
	}
	to.Part(`{"type":"file","file":{"filename":"`)
	to.Buf = append(to.Buf, name...)
	to.Buf = append(to.Buf, `","file_data":"`...)
	to.Buf = append(parts.AppendDataURL(to.Buf, m.MediaType, m.Data), `"}}`...)
	w.turn.marked = to
}

// OpenDocument adds the title and the context of a document whose parts follow.
func (w *writer) OpenDocument(m *core.Media) { w.texts().AddLines(m.Title, m.Context) }

// CloseDocument ends a document.
func (w *writer) CloseDocument() {}

// OpenSearchResult begins a text of several lines: the title, the source, and the texts
// that follow.
func (w *writer) OpenSearchResult(title, source []byte) {
	to := w.texts()
	to.Open()
	to.Buf = append(append(to.Buf, title...), parts.LineFeed...)
	to.Buf = append(to.Buf, source...)
	w.lines = true
}

// CloseSearchResult ends the lines.
func (w *writer) CloseSearchResult() {
	to := w.texts()
	to.Close()
	w.turn.marked = to
	w.lines = false
}
