package token

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/playtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// FileKind is a kind of file that a request may contain in base64.
type FileKind uint8

// The kinds of files. NoFile includes plain texts, which cost what their bytes cost.
const (
	NoFile FileKind = iota
	ImageFile
	PDFFile
	AudioFile
	VideoFile
)

// FileCosts is the cost of the files in a request.
type FileCosts struct {
	Bytes  int64 // of their base64 in the body
	Tokens int64 // estimated
}

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
	ImageFile: {tokensOfImage, 4 << 10, 0, 0},
	PDFFile:   {tokensOfDocument, 40, 0, 0},
	AudioFile: {100, 170, 32, playtime.Sound},
	VideoFile: {300, 290, 258 + 32, playtime.Video},
}

// Add counts a file in base64.
func (f *FileCosts) Add(kind FileKind, data []byte) {
	if kind == NoFile || len(data) == 0 {
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
func (f *FileCosts) AddNamed(kind FileKind) {
	if kind == ImageFile {
		f.Tokens += tokensOfImage
	} else {
		f.Tokens += tokensOfDocument
	}
}

// AddURL counts the file in a raw string that is a data URL. Any other URL names a file of the
// kind.
func (f *FileCosts) AddURL(kind FileKind, raw []byte) {
	switch url := jsonscan.Inner(raw); {
	case media.IsURL(url):
		const longest = 64 // type, of those with a kind
		mediaType, _, _ := bytes.Cut(url[len("data:"):min(len(url), longest)], []byte(";"))
		_, data, _ := bytes.Cut(url, []byte(";base64,"))
		f.Add(FileKindOf(bytes.ReplaceAll(mediaType, []byte(`\/`), []byte("/"))), data)
	case len(url) > 0:
		f.AddNamed(kind)
	}
}

// AddData counts the file in a raw string that is base64, or a URL in its place.
func (f *FileCosts) AddData(kind FileKind, raw []byte) {
	if data := jsonscan.Inner(raw); bytes.Contains(data[:min(len(data), len("https://"))], []byte("://")) || media.IsURL(data) {
		f.AddURL(kind, raw)
	} else {
		f.Add(kind, data)
	}
}

// FileKindOf returns the kind of a media type.
func FileKindOf(mediaType []byte) FileKind { return fileKinds[media.Find(mediaType, nil).Kind] }

// fileKinds are the kinds of contents that cost less than a text of their size. A file of an office
// program is compressed text.
var fileKinds = map[media.Kind]FileKind{
	media.Image: ImageFile, media.RareImage: ImageFile, media.PDF: PDFFile,
	media.Sound: AudioFile, media.RareSound: AudioFile, media.Video: VideoFile, media.RareVideo: VideoFile,
}
