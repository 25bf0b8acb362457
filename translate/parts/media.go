package parts

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

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

// FileName returns the escaped name of a document that is sent as a file.
func FileName(m *core.Media) []byte {
	if len(m.Title) == 0 {
		return []byte("document.pdf")
	}
	return m.Title
}

// decode replaces the base64 data of a plain text by the text.
func decode(m *core.Media) bool {
	text, err := base64.StdEncoding.AppendDecode(nil, m.Data)
	if err != nil || !utf8.Valid(text) {
		return false
	}
	m.Kind, m.Data = core.PlainText, jsonscan.AppendEscaped(nil, text)
	return true
}

// AppendDataURL appends a data URL.
func AppendDataURL(dst, mediaType, data []byte) []byte {
	dst = append(dst, "data:"...)
	dst = append(dst, mediaType...)
	dst = append(dst, ";base64,"...)
	return append(dst, data...)
}

// isWeb reports whether a URL has the scheme http or https.
func isWeb(url []byte) bool { return hasScheme(url, "http:") || hasScheme(url, "https:") }

func hasScheme(url []byte, scheme string) bool {
	return len(url) >= len(scheme) && bytes.EqualFold(url[:len(scheme)], []byte(scheme))
}

// dataURL returns the media type of a data URL, in lower case and without parameters,
// and its payload, escaped and without white space. ok is false for other URLs, and for
// payloads that are not in base64.
func dataURL(raw []byte) (kind, payload []byte, ok bool) {
	url := jsonscan.DecodedOf(raw)
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
