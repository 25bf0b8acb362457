package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Image adds an image.
func (w *writer) Image(m *core.Media) {
	content := w.texts()
	if w.result.open && !w.x.Traits.ToolImagesInline {
		content = w.hoist("Images", "[image returned by this tool is in the next user message]")
	}
	content.Part(`{"type":"image_url","image_url":{"url":"`)
	if m.Kind == core.Address {
		content.Buf = append(content.Buf, m.URL...)
	} else {
		content.Buf = media.AppendURL(content.Buf, m.MediaType, m.Data)
	}
	if len(m.Detail) > 0 {
		content.Buf = append(append(content.Buf, `","detail":"`...), m.Detail...)
	}
	content.Buf = append(content.Buf, `"}}`...)
	w.turn.marked = content
}

// Recording adds a sound or a video.
func (w *writer) Recording(m *core.Media) {
	content := w.texts()
	if w.result.open {
		content = w.hoist("Recordings", "[recording returned by this tool is in the next user message]")
	}
	if recorded := media.Find(m.MediaType, nil); recorded.Kind == media.Video {
		content.Part(`{"type":"video_url","video_url":{"url":"`)
		content.Buf = append(media.AppendURL(content.Buf, m.MediaType, m.Data), `"}}`...)
	} else {
		content.Part(`{"type":"input_audio","input_audio":{"data":"`)
		content.Buf = append(append(content.Buf, m.Data...), `","format":"`...)
		content.Buf = append(append(content.Buf, recorded.Word...), `"}}`...)
	}
	w.turn.marked = content
}

// hoist returns the content for media that the result of a tool cannot contain: the user
// message behind all results. A text in front of the first media of a result names the
// call. elsewhere is the text of a result that has no other content.
func (w *writer) hoist(kind, elsewhere string) *parts.Content {
	content := &w.turn.hoisted
	if w.result.elsewhere == "" {
		w.result.elsewhere = elsewhere
		content.Add([]byte(kind+" returned by tool call "), w.result.id, []byte(":"))
	}
	return content
}

// Document adds a document as a text or a file.
func (w *writer) Document(m *core.Media) {
	content, name := w.texts(), parts.FileName(m)
	switch {
	case m.Kind == core.PlainText:
		content.AddLines(m.Title, m.Context, m.Data)
	case w.x.Traits.Files == trait.FilesDrop:
		content.AddLines(m.Context)
		content.AddLeftOut(m)
	default:
		if content.AddLines(m.Context); w.result.open {
			content = w.hoist("Documents", "[document returned by this tool is in the next user message]")
		}
		content.Part(`{"type":"file","file":{"filename":"`)
		content.Buf = append(append(content.Buf, name...), `","file_data":"`...)
		content.Buf = append(media.AppendURL(content.Buf, m.MediaType, m.Data), `"}}`...)
	}
	w.turn.marked = content
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
