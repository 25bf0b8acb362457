package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readMedia writes the data or the file of the part.
func (r *reader) readMedia() {
	o, x := &r.data, r.x
	var m core.Media
	if raw := r.part.Raw("inlineData"); raw != nil {
		o.ReadRaw(x, raw, blobMembers, "inlineData")
		m = core.Media{MediaType: o.Word("mimeType"), Data: standardBase64(o.Text("data")), Title: o.Text("displayName")}
		if inlineData.AddInline(x, r.w, &m) && !isDocument(&m) && len(m.Title) > 0 {
			x.LoseMember("inlineData", []byte("displayName"))
		}
		return
	}
	o.ReadRaw(x, r.part.Raw("fileData"), fileMembers, "fileData")
	m = core.Media{Kind: core.Address, URL: o.Text("fileUri")}
	if !isPublic(o.Word("fileUri")) {
		x.Lose(unknownAddressRow, nil)
		return
	}
	t := media.Find(o.Word("mimeType"), m.URL)
	m.MediaType = []byte(t.Name)
	switch t.Kind {
	case media.Image, media.RareImage:
		core.AddNamed(x, r.w, core.ImageAddress, nil, &m)
	case media.PDF:
		m.Title = o.Text("displayName")
		core.AddNamed(x, r.w, core.FileAddress, nil, &m)
	case media.Sound, media.RareSound, media.Video, media.RareVideo:
		core.AddNamed(x, r.w, core.RecordingAddress, nil, &m)
	default:
		x.Lose(unknownFileRow, nil)
	}
}

// isDocument reports whether a content is a document, which alone has a name.
func isDocument(m *core.Media) bool {
	switch media.Find(m.MediaType, nil).Kind {
	case media.Text, media.PDF, media.Office, media.RareOffice:
		return true
	default:
		return false
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

// standardBase64 returns escaped data in the standard alphabet of base64.
func standardBase64(data []byte) []byte {
	if jsonscan.HasEscapes(data) {
		return jsonscan.AppendEscaped(nil, media.Standard(jsonscan.AppendUnescaped(nil, data)))
	}
	return media.Standard(data)
}
