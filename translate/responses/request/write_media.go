package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// resultWriter is the result of a tool that is being written.
type resultWriter struct {
	open    bool
	free    bool
	id      []byte // of the call, escaped
	content parts.Content
}

// OpenResult begins the result of a tool.
func (w *requestWriter) OpenResult(r *core.Result) {
	w.message(roleUser)
	w.turn.content.Reset(openInput, parts.LineFeed)
	w.result.open, w.result.free, w.result.id = true, r.Free, r.ID
	w.result.content.Reset(openInput, parts.LineFeed)
}

// CloseResult writes it.
func (w *requestWriter) CloseResult(failed bool) {
	r, t := &w.result, &w.items
	if r.open = false; failed {
		r.content.Blame()
	}
	kind := `{"type":"function_call_output","call_id":"`
	if r.free {
		kind = `{"type":"custom_tool_call_output","call_id":"`
	}
	t.add(w.x.At, roleTool, kind)
	t.buf = append(w.calls.AppendID(t.buf, r.id), `","output":`...)
	t.buf = append(r.content.AppendTo(t.buf), '}')
	w.turn.began, r.id = true, nil
}

// ToolReference names a tool that a search for tools has found.
func (w *requestWriter) ToolReference(name []byte) {
	w.to().Add([]byte("[tool available: "), name, []byte("]"))
}

// Image adds an image.
func (w *requestWriter) Image(m *core.Media) {
	c := w.to()
	c.Part(`{"type":"input_image","image_url":"`)
	if m.Kind == core.Address {
		c.Buf = append(c.Buf, m.URL...)
	} else {
		c.Buf = parts.AppendDataURL(c.Buf, m.MediaType, m.Data)
	}
	detail := m.Detail
	if len(detail) == 0 {
		detail = []byte("auto")
	}
	c.Buf = append(append(c.Buf, `","detail":"`...), detail...)
	c.Buf = append(c.Buf, `"}`...)
}

// Document adds a document as a text or a file.
func (w *requestWriter) Document(m *core.Media) {
	if m.Kind == core.PlainText {
		w.to().AddLines(m.Title, m.Context, m.Data)
		return
	}
	name := m.Title
	if len(name) == 0 {
		name = []byte("document.pdf")
	}
	if w.addContext(m); w.x.Traits.Files == trait.FilesDrop {
		w.to().Add([]byte("["), name, []byte(parts.LeftOut))
		return
	}
	w.file(m, name)
}

// addContext adds the client's description of a document.
func (w *requestWriter) addContext(m *core.Media) {
	if len(m.Context) > 0 {
		w.to().Add(m.Context)
	}
}

func (w *requestWriter) file(m *core.Media, name []byte) {
	c := w.to()
	if m.Kind == core.Address {
		c.Part(`{"type":"input_file","file_url":"`)
		c.Buf = append(append(c.Buf, m.URL...), `"}`...)
		return
	}
	c.Part(`{"type":"input_file","filename":"`)
	c.Buf = append(append(c.Buf, name...), `","file_data":"`...)
	c.Buf = append(parts.AppendDataURL(c.Buf, m.MediaType, m.Data), `"}`...)
}

// OpenDocument adds the description of a document whose parts follow.
func (w *requestWriter) OpenDocument(m *core.Media) {
	if len(m.Title)+len(m.Context) > 0 {
		w.to().AddLines(m.Title, m.Context)
	}
}

// CloseDocument ends a document.
func (w *requestWriter) CloseDocument() {}

// OpenSearchResult begins lines: title, source, and the texts that follow.
func (w *requestWriter) OpenSearchResult(title, source []byte) {
	c := w.to()
	c.Open()
	c.Buf = append(append(c.Buf, title...), parts.LineFeed...)
	c.Buf = append(c.Buf, source...)
	w.turn.lines = true
}

// CloseSearchResult ends the lines.
func (w *requestWriter) CloseSearchResult() {
	w.open().Close()
	w.turn.lines = false
}
