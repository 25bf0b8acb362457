package parts

import (
	"bytes"
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// FileName returns the escaped name of a document that is sent as a file.
func FileName(m *core.Media) []byte {
	if len(m.Title) == 0 {
		return []byte("document." + cmp.Or(media.Find(m.MediaType, nil).Word, "pdf"))
	}
	return m.Title
}

// IsWeb reports whether a raw URL has the scheme http or https.
func IsWeb(raw []byte) bool {
	url := jsonscan.DecodedOf(raw)
	return hasScheme(url, "http:") || hasScheme(url, "https:")
}

func hasScheme(url []byte, scheme string) bool {
	return len(url) >= len(scheme) && bytes.EqualFold(url[:len(scheme)], []byte(scheme))
}

// AddRecording passes the sound in the raw members of an object to the writer, and reports
// whether the writer got the sound. data is base64, or a data URL in its place. field are the rows
// of the format.
func AddRecording(x *core.Translation, w core.Writer, field *core.MediaField, m *core.Media, data, format []byte) bool {
	text := jsonscan.DecodedOf(data)
	u, isURL := media.ParseURL(text)
	if !isURL {
		u = media.URL{Type: []byte(media.Named(jsonscan.DecodedOf(format)).Name), Data: media.Standard(text)}
	}
	kind := media.Find(u.Type, nil).Kind
	if kind != media.Sound && kind != media.RareSound || bytes.IndexByte(u.Data, ':') >= 0 { // an address
		x.Lose(field.Unknown(), format)
		return false
	}
	*m = core.Media{MediaType: u.Type, Data: core.EscapedAs(data, u.Data)}
	return field.AddInline(x, w, m)
}
