package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Image adds an image.
func (w *requestWriter) Image(m *core.Media) {
	b := w.begin(`{"type":"image","source":`)
	b.appendSource(m)
	b.buf = append(b.buf, '}')
}

// Document adds a document in bytes or by its address, or a text that is not blank.
func (w *requestWriter) Document(m *core.Media) {
	if w.turn.blank = m.Kind == core.PlainText && jsonscan.OnlySpace(m.Data); w.turn.blank {
		core.Report(w.x, core.TextDocument, core.Hinted)
		return
	}
	b := w.begin(`{"type":"document","source":`)
	b.appendSource(m)
	if len(m.Title) > 0 {
		b.buf = append(append(append(b.buf, `,"title":"`...), m.Title...), '"')
	}
	b.buf = append(b.buf, '}')
}

// appendSource appends the source of an image or a document: an address, or data.
func (b *blockBuffer) appendSource(m *core.Media) {
	kind := "base64"
	switch m.Kind {
	case core.Address:
		b.buf = append(append(append(b.buf, `{"type":"url","url":"`...), m.URL...), `"}`...)
		return
	case core.PlainText:
		kind = "text"
	}
	b.buf = append(append(append(b.buf, `{"type":"`...), kind...), `","media_type":"`...)
	b.buf = append(append(b.buf, m.MediaType...), `","data":"`...)
	b.buf = append(append(b.buf, m.Data...), `"}`...)
}
