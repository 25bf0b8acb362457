package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
)

// The members of the object that holds an image or a file.
const (
	mediaURL = iota
	mediaDetail
	mediaData
	mediaID
	mediaName
)

var mediaMembers = core.NewNames("url", "detail", "file_data", "file_id", "filename")

var (
	imageMembers = core.SetOf(mediaURL, mediaDetail)
	fileMembers  = core.SetOf(mediaData, mediaID, mediaName)
)

// media reads the object of an image or a file.
func (r *reader) media(raw []byte, member string, own core.Set) bool {
	if !r.isObject(raw, member) {
		return false
	}
	c := jsonscan.Again(raw)
	r.inner.Read(r.x, &c, mediaMembers, member+".")
	r.inner.LoseOthers(r.x, own, mediaMembers, member+".")
	return true
}

// image writes an image.
func (r *reader) image() {
	if !r.x.Keep(core.Image, nil) || !r.media(r.item.Raw(partImage), "image_url", imageMembers) {
		return
	}
	m := &r.parts.media
	*m = core.Media{}
	switch raw := r.inner.Raw(mediaDetail); {
	case raw == nil || !r.x.Keep(core.ImageDetail, nil):
	case jsonscan.IsString(raw):
		m.Detail = jsonscan.Inner(raw)
	default:
		r.x.LoseMember("image_url.", []byte("detail"))
	}
	if !r.imageSource(m, r.inner.Raw(mediaURL)) {
		return
	}
	r.x.Answer.HasImages, r.x.Answer.HasMedia, r.spoke = true, true, true
	r.w.Image(m)
	r.breakpoint(true)
}

// imageSource finds out where an image is. It reports false where nobody could
// get it.
func (r *reader) imageSource(m *core.Media, raw []byte) bool {
	if !parts.Image(m, raw) {
		r.x.Lose(unknownImageRow, nil)
		return false
	}
	return m.Kind != core.Address || r.x.Keep(core.ImageAddress, nil)
}

// file writes a document: a PDF, a plain text, or a file that the vendor keeps.
func (r *reader) file() {
	if !r.x.Keep(core.Document, nil) || !r.media(r.item.Raw(partFile), "file", fileMembers) {
		return
	}
	m := &r.parts.media
	*m = core.Media{Title: jsonscan.Inner(r.inner.Raw(mediaName))}
	if !r.fileSource(m) {
		return
	}
	r.x.Answer.HasMedia, r.spoke = true, true
	r.w.Document(m)
	r.breakpoint(true)
}

// fileSource finds out where a file is, and reports whether the writer gets it.
func (r *reader) fileSource(m *core.Media) bool {
	if id := r.inner.Raw(mediaID); id != nil {
		m.Kind, m.URL = core.Reference, jsonscan.Inner(id)
		return r.x.Keep(core.FileReference, nil)
	}
	if !parts.File(m, r.inner.Raw(mediaData)) {
		r.x.Lose(unknownFileRow, nil)
		return false
	}
	if m.Kind == core.PlainText {
		return r.x.Keep(core.TextDocument, nil)
	}
	return r.x.Keep(core.File, nil)
}
