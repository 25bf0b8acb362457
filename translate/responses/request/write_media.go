package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Image adds an image.
func (w *requestWriter) Image(m *core.Media) {
	c := w.content()
	c.Part(`{"type":"input_image","image_url":"`)
	if m.Kind == core.Address {
		c.Buf = append(c.Buf, m.URL...)
	} else {
		c.Buf = media.AppendURL(c.Buf, m.MediaType, m.Data)
	}
	c.Buf = append(c.Buf, `","detail":"`...)
	if len(m.Detail) == 0 {
		c.Buf = append(c.Buf, "auto"...)
	}
	c.Buf = append(append(c.Buf, m.Detail...), `"}`...)
}

// Recording is not called: the format has no place for sounds and videos.
func (w *requestWriter) Recording(*core.Media) {}

// Document adds a document as a text or a file.
func (w *requestWriter) Document(m *core.Media) {
	if m.Kind == core.PlainText {
		w.content().AddLines(m.Title, m.Context, m.Data)
		return
	}
	if len(m.Context) > 0 {
		w.content().Add(m.Context)
	}
	switch c := w.content(); {
	case w.x.Traits.Files == trait.FilesDrop:
		c.AddLeftOut(m)
	case m.Kind == core.Address:
		c.Part(`{"type":"input_file","file_url":"`)
		c.Buf = append(append(c.Buf, m.URL...), `"}`...)
	default:
		c.Part(`{"type":"input_file","filename":"`)
		c.Buf = append(append(c.Buf, parts.FileName(m)...), `","file_data":"`...)
		c.Buf = append(media.AppendURL(c.Buf, m.MediaType, m.Data), `"}`...)
	}
}

// OpenDocument adds the description of a document whose parts follow.
func (w *requestWriter) OpenDocument(m *core.Media) {
	if len(m.Title)+len(m.Context) > 0 {
		w.content().AddLines(m.Title, m.Context)
	}
}

// CloseDocument ends a document.
func (w *requestWriter) CloseDocument() {}

// OpenSearchResult begins lines: title, source, and the texts that follow.
func (w *requestWriter) OpenSearchResult(title, source []byte) { w.content().OpenLines(title, source) }

// CloseSearchResult ends the lines.
func (w *requestWriter) CloseSearchResult() { w.open().CloseLines() }
