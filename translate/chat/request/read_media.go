package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
)

// media reads the object of an image or a file, a member of the part.
func (r *reader) media(member string) bool {
	raw := r.item.Raw(member)
	if !r.isObject(raw, member) {
		return false
	}
	r.readInner(raw, mediaShapes, member)
	return true
}

// image writes an image.
func (r *reader) image() {
	if !r.x.Keep(core.Image, nil) || !r.media("image_url") {
		return
	}
	m := &r.parts.media
	*m = core.Media{}
	switch raw := r.inner.Raw("detail"); {
	case raw == nil || !r.x.Keep(core.ImageDetail, nil):
	case jsonscan.IsString(raw):
		m.Detail = jsonscan.Inner(raw)
	default:
		r.x.LoseMember("image_url", []byte("detail"))
	}
	if !r.imageSource(m, r.inner.Raw("url")) {
		return
	}
	r.x.Answer.HasImages, r.x.Answer.HasMedia, r.hasContent = true, true, true
	r.w.Image(m)
	r.breakpoint(true)
}

// imageSource reads the source of an image, and reports whether the writer gets the image.
func (r *reader) imageSource(m *core.Media, raw []byte) bool {
	if !parts.Image(m, raw) {
		r.x.Lose(unknownImageRow, nil)
		return false
	}
	return m.Kind != core.Address || r.x.Keep(core.ImageAddress, nil)
}

// file writes a document: a PDF, a plain text, or a reference to a file of the vendor.
func (r *reader) file() {
	if !r.x.Keep(core.Document, nil) || !r.media("file") {
		return
	}
	m := &r.parts.media
	*m = core.Media{Title: r.inner.Text("filename")}
	if !r.fileSource(m) {
		return
	}
	r.x.Answer.HasMedia, r.hasContent = true, true
	r.w.Document(m)
	r.breakpoint(true)
}

// fileSource reads the source of a file, and reports whether the writer gets the file.
func (r *reader) fileSource(m *core.Media) bool {
	if id := r.inner.Raw("file_id"); id != nil {
		m.Kind, m.URL = core.Reference, jsonscan.Inner(id)
		return r.x.Keep(core.FileReference, nil)
	}
	if !parts.File(m, r.inner.Raw("file_data")) {
		r.x.Lose(unknownFileRow, nil)
		return false
	}
	if m.Kind == core.PlainText {
		return r.x.Keep(core.TextDocument, nil)
	}
	return r.x.Keep(core.File, nil)
}
