package request

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
)

// readMedia writes the data or the file of the part.
func (r *reader) readMedia() {
	o, x := &r.data, r.x
	var m core.Media
	if raw := r.part.Raw("inlineData"); raw != nil {
		o.ReadRaw(x, raw, blobMembers, "inlineData")
		data := core.EscapedAs(o.Raw("data"), media.Standard(o.Word("data")))
		m = core.Media{MediaType: o.Word("mimeType"), Data: data, Title: o.Text("displayName")}
		if inlineData.AddInline(x, r.w, &m) && !media.Find(m.MediaType, nil).Kind.IsDocument() && len(m.Title) > 0 {
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

// services are the addresses of files that only the service can read.
var services = [...]string{"generativelanguage.googleapis.com/", "www.youtube.com/", "youtube.com/", "youtu.be/"}

// isPublic reports whether other providers can read the file at an address.
func isPublic(address []byte) bool {
	scheme, rest, _ := strings.Cut(strings.ToLower(string(address)), "://")
	ofService := slices.ContainsFunc(services[:], func(service string) bool { return strings.HasPrefix(rest, service) })
	return (scheme == "https" || scheme == "http") && !ofService
}
