package chat

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
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
	if raw := r.inner.Raw(mediaDetail); raw != nil && r.x.Keep(core.ImageDetail, nil) {
		m.Detail = jsonscan.Inner(raw)
	}
	if !r.imageSource(m, r.inner.Raw(mediaURL)) {
		return
	}
	r.x.Memory.HasImages, r.x.Memory.HasMedia, r.spoke = true, true, true
	r.w.Image(m)
	r.breakpoint(true)
}

// imageSource finds out where an image is. It reports false where nobody could
// get it.
func (r *reader) imageSource(m *core.Media, raw []byte) (ok bool) {
	if isWeb(plain(raw)) {
		m.Kind, m.URL = core.Address, jsonscan.Inner(raw)
		return r.x.Keep(core.ImageAddress, nil)
	}
	if m.MediaType, m.Data, ok = dataURL(raw); !ok || len(m.MediaType) == 0 {
		r.x.Lose(unknownImageRow, nil)
		return false
	}
	if string(m.MediaType) == "image/jpg" {
		m.MediaType = []byte("image/jpeg")
	}
	return true
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
	r.x.Memory.HasMedia, r.spoke = true, true
	r.w.Document(m)
	r.breakpoint(true)
}

// fileSource finds out where a file is, and reports whether the writer gets it.
func (r *reader) fileSource(m *core.Media) (ok bool) {
	if id := r.inner.Raw(mediaID); id != nil {
		m.Kind, m.URL = core.Reference, jsonscan.Inner(id)
		return r.x.Keep(core.FileReference, nil)
	}
	m.MediaType, m.Data, ok = dataURL(r.inner.Raw(mediaData))
	switch kind := string(m.MediaType); {
	case ok && kind == "application/pdf":
		return r.x.Keep(core.File, nil)
	case ok && kind == "text/plain":
		return r.plainText(m)
	default:
		r.x.Lose(unknownFileRow, nil)
		return false
	}
}

// plainText decodes a file that is a text.
func (r *reader) plainText(m *core.Media) bool {
	text, err := base64.StdEncoding.AppendDecode(nil, m.Data)
	if err != nil || !utf8.Valid(text) {
		r.x.Lose(unknownFileRow, nil)
		return false
	}
	m.Kind, m.Data = core.PlainText, jsonscan.AppendEscaped(nil, text)
	return r.x.Keep(core.TextDocument, nil)
}

// plain returns the text of a raw string.
func plain(raw []byte) []byte {
	if text := jsonscan.Inner(raw); !jsonscan.HasEscapes(text) {
		return text
	}
	return jsonscan.AppendText(nil, raw)
}

// isWeb reports whether a URL leads to the web.
func isWeb(url []byte) bool { return hasScheme(url, "http:") || hasScheme(url, "https:") }

func hasScheme(url []byte, scheme string) bool {
	return len(url) >= len(scheme) && bytes.EqualFold(url[:len(scheme)], []byte(scheme))
}

// dataURL returns the type of what a data URL holds, in lower case and without
// parameters, and its payload, escaped and without white space. ok is false for
// other URLs and those whose payload is not in base64.
func dataURL(raw []byte) (kind, payload []byte, ok bool) {
	url := plain(raw)
	head, data, found := bytes.Cut(url, []byte(","))
	if !found || !hasScheme(head, "data:") {
		return nil, nil, false
	}
	head, ok = bytes.CutSuffix(lower(head[len("data:"):]), []byte(";base64"))
	head, _, _ = bytes.Cut(head, []byte(";"))
	if payload = unspaced(data); jsonscan.HasEscapes(raw) {
		payload = jsonscan.AppendEscaped(nil, payload)
	}
	return head, payload, ok
}

// lower returns a text in lower case, in new memory where it is not.
func lower(text []byte) []byte {
	for _, b := range text {
		if 'A' <= b && b <= 'Z' {
			return bytes.ToLower(text)
		}
	}
	return text
}

// unspaced returns data without the white space of ASCII, in new memory where
// there is some.
func unspaced(data []byte) []byte {
	for _, space := range []byte(" \t\r\n\f") {
		if bytes.IndexByte(data, space) >= 0 {
			return bytes.Join(bytes.Fields(data), nil)
		}
	}
	return data
}
