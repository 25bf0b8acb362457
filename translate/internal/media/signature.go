package media

import (
	"bytes"
	"encoding/base64"
	"unicode"
)

// signatures are the first bytes of contents by their type, with "?" for any byte. Contents of
// types that are not here have none that is long enough to be no coincidence.
var signatures = []struct{ begins, name string }{
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
	{"RIFF????WEBP", "image/webp"},
	{"????ftypheic", "image/heic"},
	{"????ftypheix", "image/heic"},
	{"????ftypmif1", "image/heif"},
	{"????ftypavif", "image/avif"},
	{"II*\x00", "image/tiff"},
	{"MM\x00*", "image/tiff"},
	{"%PDF-", "application/pdf"},
	{"RIFF????WAVE", "audio/wav"},
	{"fLaC", "audio/flac"},
	{"ID3", "audio/mp3"},
}

// headLength is the length of the base64 that has the longest signature.
const headLength = 16

// Of returns the type of a content in base64, which may have the escapes of JSON. It is that of
// Find, unless the first bytes show another one: tools state "image/jpeg" for screenshots that are
// PNG, which some vendors do not notice, and others refuse. Browsers take the type of a text from the
// programs of the machine: "application/vnd.ms-excel" for CSV, "video/mp2t" for TypeScript, and none
// for most ends of names.
func Of(stated, file, data []byte) Type {
	t := Find(stated, file)
	switch t.Kind {
	case Text, Video:
		return t
	case Office, RareOffice:
		if byEnd[string(endOf(file))].Kind == Text && isText(data) {
			return plainText
		}
		return t
	}
	var decoded [headLength]byte
	head := bytes.ReplaceAll(data[:min(len(data), 2*headLength)], []byte(`\`), nil)
	n, _ := base64.StdEncoding.Decode(decoded[:], head[:min(len(head), headLength)&^3])
	for _, s := range signatures {
		if begins(decoded[:n], s.begins) {
			return byName[s.name]
		}
	}
	if (t.Kind == Unknown || byEnd[string(endOf(file))].Kind == Text) && isText(data) {
		return plainText
	}
	return t
}

var plainText = byName["text/plain"]

// isText reports whether a content in base64, which may have the escapes of JSON, is a text in UTF-8
// or in UTF-16 with a byte order mark.
func isText(data []byte) bool {
	if bytes.IndexByte(data, '\\') >= 0 {
		data = bytes.ReplaceAll(data, []byte(`\`), nil)
	}
	text, ok := DecodeText(data, nil)
	return ok && len(text) > 0 && !bytes.ContainsFunc(text, isBinary)
}

// isBinary reports whether no text has a character.
func isBinary(r rune) bool { return r < ' ' && !unicode.IsSpace(r) && r != '\x1b' || r == '\x7f' }

// begins reports whether a content begins with a signature.
func begins(content []byte, signature string) bool {
	if len(content) < len(signature) {
		return false
	}
	for i := range len(signature) {
		if signature[i] != '?' && content[i] != signature[i] {
			return false
		}
	}
	return true
}
