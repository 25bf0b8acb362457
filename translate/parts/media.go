package parts

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// KeepImage sets the source of an image from its raw URL, an address or a data URL, and
// reports whether the writer gets the image. unknown is the row of any other URL.
func KeepImage(x *core.Translation, m *core.Media, raw []byte, unknown *core.Row) bool {
	if isWeb(jsonscan.DecodedOf(raw)) {
		m.Kind, m.URL = core.Address, jsonscan.Inner(raw)
		return x.Keep(core.ImageAddress, nil)
	}
	var ok bool
	m.MediaType, m.Data, ok = dataURL(raw)
	if string(m.MediaType) == "image/jpg" {
		m.MediaType = []byte("image/jpeg")
	}
	if !ok || len(m.MediaType) == 0 {
		x.Lose(unknown, nil)
		return false
	}
	return true
}

// KeepFile sets the source of a file from its raw data URL, and reports whether the
// writer gets the file. unknown is the row of a URL of neither a PDF nor a plain text.
func KeepFile(x *core.Translation, m *core.Media, raw []byte, unknown *core.Row) bool {
	var ok bool
	m.MediaType, m.Data, ok = dataURL(raw)
	switch string(m.MediaType) {
	case "application/pdf":
		if ok {
			return x.Keep(core.File, nil)
		}
	case "text/plain":
		if ok && decode(m) {
			return x.Keep(core.TextDocument, nil)
		}
	}
	x.Lose(unknown, nil)
	return false
}

// Lifetime returns how long a raw breakpoint of the cache holds, nil for the default.
// The breakpoint is the member of the element at hand, and kind is its own member that
// states its type; other members are reported as lost.
func Lifetime(x *core.Translation, breakpoint []byte, member, kind string) (ttl []byte) {
	for name, value := range jsonscan.Members(breakpoint) {
		switch text := string(jsonscan.Inner(value)); {
		case string(name) == kind:
		case string(name) != "ttl" || !jsonscan.IsZero(value) && text != "5m" && text != "1h":
			x.LoseMember(member, name)
		case !jsonscan.IsZero(value) && x.Keep(core.CachePartTTL, nil):
			ttl = value
		}
	}
	return ttl
}
