package request

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readMedia writes the data or the file of the part.
func (r *reader) readMedia() {
	o, x := &r.data, r.x
	var m core.Media
	if raw := r.part.Raw("inlineData"); raw != nil {
		o.ReadRaw(x, raw, blobMembers, "inlineData")
		m = core.Media{MediaType: bytes.ToLower(o.Word("mimeType")), Data: standardBase64(o.Text("data"))}
		r.inline(&m)
		return
	}
	o.ReadRaw(x, r.part.Raw("fileData"), fileMembers, "fileData")
	m = core.Media{Kind: core.Address, MediaType: bytes.ToLower(o.Word("mimeType")), URL: o.Text("fileUri")}
	if !isPublic(o.Word("fileUri")) {
		x.Lose(unknownAddressRow, nil)
		return
	}
	if len(m.MediaType) == 0 {
		m.MediaType = []byte(mediaTypeOf(m.URL))
	}
	switch {
	case bytes.HasPrefix(m.MediaType, []byte("image/")):
		r.image(&m, core.ImageAddress)
	case string(m.MediaType) == pdf:
		r.document(&m, core.FileAddress)
	default:
		x.Lose(unknownFileRow, nil)
	}
}

const pdf = "application/pdf"

// inline writes data.
func (r *reader) inline(m *core.Media) {
	switch {
	case bytes.HasPrefix(m.MediaType, []byte("image/")):
		r.image(m, core.Image)
	case string(m.MediaType) == pdf:
		r.document(m, core.File)
	case bytes.HasPrefix(m.MediaType, []byte("text/")):
		text, err := base64.StdEncoding.AppendDecode(nil, m.Data)
		if err != nil || !utf8.Valid(text) {
			r.x.Invalid("inlineData.data", "must be text in base64")
			return
		}
		m.Kind, m.Data = core.PlainText, jsonscan.AppendEscaped(nil, text)
		r.document(m, core.TextDocument)
	default:
		r.x.Lose(unknownDataRow, nil)
	}
}

// image writes an image. Its name is lost.
func (r *reader) image(m *core.Media, as core.Concept) {
	if !r.x.KeepAs(as, r.x.From.Rows.Named(imageRows[as]), nil) {
		return
	}
	if r.data.Raw("displayName") != nil {
		r.x.LoseMember("inlineData", []byte("displayName"))
	}
	r.x.Answer.Input.Images, r.x.Answer.Input.Media = true, true
	r.w.Image(m)
}

// imageRows are the names of the rows about images.
var imageRows = map[core.Concept]string{
	core.Image:        ofPart + "inlineData.mimeType=image/png",
	core.ImageAddress: ofPart + "fileData.mimeType=image/png",
}

// document writes a document, whose name is its title.
func (r *reader) document(m *core.Media, as core.Concept) {
	if r.x.Keep(as, nil) {
		m.Title = r.data.Text("displayName")
		r.x.Answer.Input.Media = r.x.Answer.Input.Media || as != core.TextDocument
		r.w.Document(m)
	}
}

// services are the addresses of files that only the service can read.
var services = [...]string{"generativelanguage.googleapis.com/", "www.youtube.com/", "youtube.com/", "youtu.be/"}

// isPublic reports whether other providers can read the file at an address.
func isPublic(address []byte) bool {
	address = bytes.ToLower(address)
	rest, ok := bytes.CutPrefix(address, []byte("https://"))
	if !ok {
		rest, ok = bytes.CutPrefix(address, []byte("http://"))
	}
	for _, service := range services {
		if bytes.HasPrefix(rest, []byte(service)) {
			return false
		}
	}
	return ok
}

// standardBase64 returns data in the standard alphabet of base64, with padding: clients in some
// languages write the other alphabet.
func standardBase64(data []byte) []byte {
	if !jsonscan.HasEscapes(data) && !bytes.ContainsAny(data, "-_") && len(data)%4 == 0 {
		return data
	}
	data = jsonscan.AppendUnescaped(nil, data)
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("-"), []byte("+")), []byte("_"), []byte("/"))
	for len(data)%4 != 0 {
		data = append(data, '=')
	}
	return jsonscan.AppendEscaped(nil, data)
}
