// Package files estimates the tokens of the files in a request, by their kinds, sizes and lengths. It
// decodes no file, and never fails: what it cannot read costs by its size.
package files

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/playtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Kind is a kind of file that a request may contain in base64.
type Kind uint8

// The kinds of files. None includes plain texts, which cost what their bytes cost.
const (
	None Kind = iota
	Image
	PDF
	Audio
	Video
)

// costOf are the tokens of a file by its kind: the least number, and the bytes of base64 for each
// token. An image costs about the same whatever its size, a PDF by its pages. The rates bound what
// a file can hide. Sound and video cost by their length in seconds, or if it is unknown, by their
// size: as sound of 32 kbit/s, and video of 512 kbit/s.
//
// The tokens of a second are those of Gemini (https://ai.google.dev/gemini-api/docs/tokens: 32 of
// sound, and 258 for each frame of video, of which there is one a second). Others have fewer.
var costOf = [...]struct {
	least, bytesPerToken int64
	perSecond            int64
	kind                 playtime.Kind
}{
	Image: {token.OfImage, 4 << 10, 0, 0},
	PDF:   {token.OfDocument, 40, 0, 0},
	Audio: {100, 170, 32, playtime.Sound},
	Video: {300, 290, 258 + 32, playtime.Video},
}

// Add counts a file in base64.
func Add(f *token.FileCosts, kind Kind, data []byte) {
	if kind == None || len(data) == 0 {
		return
	}
	cost := &costOf[kind]
	tokens := int64(len(data)) / cost.bytesPerToken
	if cost.perSecond > 0 {
		if seconds, ok := playtime.OfBase64(data, cost.kind); ok {
			tokens = seconds * cost.perSecond
		}
	}
	f.Bytes += int64(len(data))
	f.Tokens += max(cost.least, tokens)
}

// AddNamed counts a file of a kind that the body names without its content, by an address or an
// id. Its size is unknown.
func AddNamed(f *token.FileCosts, kind Kind) {
	if kind == Image {
		f.Tokens += token.OfImage
	} else {
		f.Tokens += token.OfDocument
	}
}

// AddURL counts the file in a raw string that is a data URL. Any other URL names a file of the
// kind.
func AddURL(f *token.FileCosts, kind Kind, raw []byte) {
	switch url := jsonscan.Inner(raw); {
	case media.IsURL(url):
		const longest = 64 // type, of those with a kind
		mediaType, _, _ := bytes.Cut(url[len("data:"):min(len(url), longest)], []byte(";"))
		_, data, _ := bytes.Cut(url, []byte(";base64,"))
		Add(f, KindOf(bytes.ReplaceAll(mediaType, []byte(`\/`), []byte("/"))), data)
	case len(url) > 0:
		AddNamed(f, kind)
	}
}

// AddData counts the file in a raw string that is base64, or a URL in its place.
func AddData(f *token.FileCosts, kind Kind, raw []byte) {
	if data := jsonscan.Inner(raw); bytes.Contains(data[:min(len(data), len("https://"))], []byte("://")) || media.IsURL(data) {
		AddURL(f, kind, raw)
	} else {
		Add(f, kind, data)
	}
}

// KindOf returns the kind of a media type.
func KindOf(mediaType []byte) Kind { return kinds[media.Find(mediaType, nil).Kind] }

// kinds are the kinds of contents that cost less than a text of their size. A file of an office
// program is compressed text.
var kinds = map[media.Kind]Kind{
	media.Image: Image, media.RareImage: Image, media.PDF: PDF,
	media.Sound: Audio, media.RareSound: Audio, media.Video: Video, media.RareVideo: Video,
}
