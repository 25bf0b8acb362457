package core

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// mediaConcepts are the concepts of contents in bytes by their kinds, each with a type of the
// kind, of which the table of a reader has a row.
var mediaConcepts = [...]struct {
	concept Concept
	sample  string
}{
	media.Unknown:    {Nothing, "*"},
	media.Image:      {Image, "image/png"},
	media.RareImage:  {RareImage, "image/tiff"},
	media.PDF:        {File, "application/pdf"},
	media.Text:       {TextDocument, "text/plain"},
	media.Office:     {OfficeFile, "application/msword"},
	media.RareOffice: {RareFile, "application/rtf"},
	media.Sound:      {Sound, "audio/wav"},
	media.RareSound:  {RareSound, "audio/flac"},
	media.Video:      {Video, "video/mp4"},
	media.RareVideo:  {RareVideo, "video/avi"},
}

// MediaRows returns the rows about a field with contents in bytes, one for each kind. form is
// the name of the row with "%" for the media type. The path in reports is that of the name
// unless another one is given.
func MediaRows(form string, path ...string) (rows []Row) {
	for _, m := range mediaConcepts {
		name := strings.Replace(form, "%", m.sample, 1)
		if m.concept == Nothing {
			name, _, _ = strings.Cut(form, "%")
			name = name[:strings.LastIndexByte(name, '=')+1] + "*"
		}
		row := Structural(name, m.concept)
		if len(path) > 0 {
			row = row.As(path[0])
		}
		rows = append(rows, row)
	}
	return rows
}

// MediaField is the rows of MediaRows in the table of a reader.
type MediaField [len(mediaConcepts)]*Row

// MediaField finds the rows of a field.
func (t *Rows) MediaField(form string) (f MediaField) {
	for kind, row := range MediaRows(form) {
		f[kind] = t.Named(row.Name)
	}
	return f
}

// SoundRows returns the rows about a field with a word for the type of a sound.
func SoundRows(path string) []Row {
	return []Row{Structural(path+"=wav", Sound), Structural(path+"=flac", RareSound), Structural(path+"=*", Nothing)}
}

// SoundField finds the rows of SoundRows. All that is no sound is unknown in such a field.
func (t *Rows) SoundField(path string) (f MediaField) {
	for kind := range f {
		f[kind] = t.Named(path + "=*")
	}
	f[media.Sound], f[media.RareSound] = t.Named(path+"=wav"), t.Named(path+"=flac")
	return f
}

// Unknown returns the row of a content of no known kind.
func (f *MediaField) Unknown() *Row { return f[media.Unknown] }

// AddURL is AddInline for a content in a raw string: a data URL, or base64 of a file that has a
// name.
func (f *MediaField) AddURL(x *Translation, w Writer, m *Media, raw []byte) (written bool) {
	text := jsonscan.DecodedOf(raw)
	u, ok := media.ParseURL(text)
	if !ok && len(m.Title) > 0 && len(text) > 0 && bytes.IndexByte(text, ':') < 0 {
		u, ok = media.URL{Data: media.Standard(text)}, true
	}
	if !ok {
		x.Lose(f.Unknown(), nil)
		return false
	}
	m.MediaType, m.Data = u.Type, EscapedAs(raw, u.Data)
	return f.AddInline(x, w, m)
}

// EscapedAs returns a text that was in a raw string, with escapes if the string has some.
func EscapedAs(raw, text []byte) []byte {
	if jsonscan.HasEscapes(raw) {
		return jsonscan.AppendEscaped(nil, text)
	}
	return text
}

// DropImage adds the note that takes the place of an image, and reports whether it does: only
// under the trait that leaves out images.
func DropImage(x *Translation, w Writer) bool {
	if x.Traits.Images != trait.ImagesDrop {
		return false
	}
	w.Text([]byte("[image was left out: this model does not support image input]"))
	return true
}

// AddNamed passes a content that a request names without its bytes, by its address or its id, to the
// writer: as what its concept is, by the row of its field, nil for the first row of the concept. It
// reports whether the writer got the content.
func AddNamed(x *Translation, w Writer, c Concept, r *Row, m *Media) (written bool) {
	r = cmp.Or(r, x.From.Rows.of(c))
	if c == ImageAddress && len(m.MediaType) == 0 && media.Find(nil, m.URL).Kind == media.PDF {
		c = FileAddress // clients of chat name documents where images are, as others have no place for them
	}
	if !x.KeepAs(c, r, nil) {
		return false
	}
	isImage := c == ImageAddress || c == ImageReference
	if isImage && DropImage(x, w) {
		return true
	}
	x.Answer.Input.Media = true
	switch {
	case isImage:
		addImage(x, w, m)
	case c == RecordingAddress:
		w.Recording(m)
	default:
		w.Document(m)
	}
	return true
}

// addImage passes an image that the writer keeps to it.
func addImage(x *Translation, w Writer, m *Media) {
	x.Answer.Input.Images = true
	w.Image(m)
}

// AddInline passes a content in bytes to the writer, as what its first bytes or its media type show
// that it is. It reports whether the writer got the content.
func (f *MediaField) AddInline(x *Translation, w Writer, m *Media) (written bool) {
	t := media.Of(m.MediaType, m.Title, m.Data)
	row := f[t.Kind]
	switch {
	case row.Concept == Nothing:
		x.Lose(row, nil)
		return false
	case !x.KeepAs(row.Concept, row, nil):
		return false
	case (t.Kind == media.Image || t.Kind == media.RareImage) && DropImage(x, w):
		return true
	case t.Kind == media.Text:
		text, ok := media.DecodeText(m.Data, m.MediaType)
		if !ok {
			x.Lose(f.Unknown(), nil)
			return false
		}
		m.Kind, m.Data = PlainText, jsonscan.AppendEscaped(nil, text)
		m.MediaType = []byte("text/plain")
		if len(text)+len(m.Title)+len(m.Context) == 0 {
			return false
		}
		w.Document(m)
		return true
	}
	if string(m.MediaType) != t.Name {
		m.MediaType = []byte(t.Name)
	}
	x.Answer.Input.Media = true
	switch t.Kind {
	case media.Image, media.RareImage:
		addImage(x, w, m)
	case media.Sound, media.RareSound, media.Video, media.RareVideo:
		w.Recording(m)
	default:
		w.Document(m)
	}
	return true
}
