package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Image adds an image.
func (w *requestWriter) Image(m *core.Media) {
	if m.Kind == core.Address {
		b := w.begin(`{"type":"image","source":{"type":"url","url":"`)
		b.buf = append(append(b.buf, m.URL...), `"}}`...)
		return
	}
	b := w.begin(`{"type":"image","source":`)
	b.appendData(m)
	b.buf = append(b.buf, '}')
}

// Document adds a document in bytes, or a text that is not blank.
func (w *requestWriter) Document(m *core.Media) {
	if w.turn.blank = m.Kind == core.PlainText && jsonscan.OnlySpace(m.Data); w.turn.blank {
		core.Report(w.x, core.TextDocument, core.Hinted)
		return
	}
	b := w.begin(`{"type":"document","source":`)
	b.appendData(m)
	if len(m.Title) > 0 {
		b.buf = append(append(append(b.buf, `,"title":"`...), m.Title...), '"')
	}
	b.buf = append(b.buf, '}')
}

// appendData appends a source of inline data.
func (b *blockBuffer) appendData(m *core.Media) {
	kind := "base64"
	if m.Kind == core.PlainText {
		kind = "text"
	}
	b.buf = append(append(append(b.buf, `{"type":"`...), kind...), `","media_type":"`...)
	b.buf = append(append(b.buf, m.MediaType...), `","data":"`...)
	b.buf = append(append(b.buf, m.Data...), `"}`...)
}
