package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Image adds an image.
func (w *writer) Image(m *core.Media) {
	to := w.texts()
	if w.result.open && !w.x.Traits.ToolImagesInline {
		to = w.hoist("Images", "[image returned by this tool is in the next user message]")
	}
	to.Part(`{"type":"image_url","image_url":{"url":"`)
	if m.Kind == core.Address {
		to.Buf = append(to.Buf, m.URL...)
	} else {
		to.Buf = media.AppendURL(to.Buf, m.MediaType, m.Data)
	}
	if len(m.Detail) > 0 {
		to.Buf = append(append(to.Buf, `","detail":"`...), m.Detail...)
	}
	to.Buf = append(to.Buf, `"}}`...)
	w.turn.marked = to
}

// Recording adds a sound.
func (w *writer) Recording(m *core.Media) {
	to := w.texts()
	if w.result.open {
		to = w.hoist("Recordings", "[recording returned by this tool is in the next user message]")
	}
	to.Part(`{"type":"input_audio","input_audio":{"data":"`)
	to.Buf = append(append(to.Buf, m.Data...), `","format":"`...)
	to.Buf = append(append(to.Buf, media.Find(m.MediaType, nil).Word...), `"}}`...)
	w.turn.marked = to
}

// hoist returns the content for media that the result of a tool cannot contain: the user
// message behind all results. A text in front of the first media of a result names the
// call. elsewhere is the text of a result that has no other content.
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
	to, name := w.texts(), parts.FileName(m)
	switch {
	case m.Kind == core.PlainText:
		to.AddLines(m.Title, m.Context, m.Data)
	case w.x.Traits.Files == trait.FilesDrop:
		to.AddLines(m.Context)
		to.AddLeftOut(m)
	default:
		if to.AddLines(m.Context); w.result.open {
			to = w.hoist("Documents", "[document returned by this tool is in the next user message]")
		}
		to.Part(`{"type":"file","file":{"filename":"`)
		to.Buf = append(append(to.Buf, name...), `","file_data":"`...)
		to.Buf = append(media.AppendURL(to.Buf, m.MediaType, m.Data), `"}}`...)
	}
	w.turn.marked = to
}

// OpenDocument adds the title and the context of a document whose parts follow.
func (w *writer) OpenDocument(m *core.Media) { w.texts().AddLines(m.Title, m.Context) }

// CloseDocument ends a document.
func (w *writer) CloseDocument() {}

// OpenSearchResult begins a text of several lines: the title, the source, and the texts
// that follow.
func (w *writer) OpenSearchResult(title, source []byte) { w.texts().OpenLines(title, source) }

// CloseSearchResult ends the lines.
func (w *writer) CloseSearchResult() {
	w.turn.marked = w.texts()
	w.turn.marked.CloseLines()
}
