package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// URL is a data URL in its parts.
type URL struct {
	Type []byte // as the client states it, with its parameters
	Data []byte // base64 in the standard alphabet, with padding
}

const dataScheme = "data:"

// IsURL reports whether a text is a data URL.
func IsURL(text []byte) bool {
	return len(text) >= len(dataScheme) && bytes.EqualFold(text[:len(dataScheme)], []byte(dataScheme))
}

// ParseURL returns the parts of a data URL, whose data are base64 or a text with percent signs.
func ParseURL(text []byte) (u URL, ok bool) {
	head, data, found := bytes.Cut(text, []byte(","))
	if !found || !IsURL(head) {
		return URL{}, false
	}
	const mark = ";base64"
	head = bytes.TrimSpace(head[len(dataScheme):])
	if start := len(head) - len(mark); start >= 0 && bytes.EqualFold(head[start:], []byte(mark)) {
		return URL{head[:start], Standard(data)}, true
	}
	plain, err := url.PathUnescape(string(data))
	if len(head) == 0 { // the default of data URLs
		head = []byte("text/plain")
	}
	return URL{head, base64.StdEncoding.AppendEncode(nil, []byte(plain))}, err == nil
}

// AppendURL appends a data URL of data in base64.
func AppendURL(dst, mediaType, data []byte) []byte {
	dst = append(append(dst, dataScheme...), mediaType...)
	return append(append(dst, ";base64,"...), data...)
}

// Standard returns base64 in the standard alphabet, with padding and without white space, in new
// memory where it is not: clients in some languages write it otherwise. Data that need no escapes
// in JSON need none afterwards.
func Standard(data []byte) []byte {
	if bytes.IndexByte(data, '%') >= 0 { // a part of an address
		if plain, err := url.PathUnescape(string(data)); err == nil && !strings.ContainsFunc(plain, isForeign) {
			data = []byte(plain)
		}
	}
	for _, space := range []byte(" \t\r\n\f") {
		if bytes.IndexByte(data, space) >= 0 {
			data = bytes.Join(bytes.Fields(data), nil)
			break
		}
	}
	if bytes.IndexByte(data, '-') >= 0 || bytes.IndexByte(data, '_') >= 0 {
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("-"), []byte("+")), []byte("_"), []byte("/"))
	}
	if n := len(data) % 4; n > 0 {
		data = append(data[:len(data):len(data)], "==="[:4-n]...)
	}
	return data
}

// isForeign reports whether a character is neither white space nor one of base64.
func isForeign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+/-_= \t\r\n\f", r)
}

// DecodeText returns the text in base64 of a stated type, in UTF-8 and without a byte order mark. ok
// is false for data that are no text in the character set of the type.
func DecodeText(data, stated []byte) (text []byte, ok bool) {
	text, err := base64.StdEncoding.AppendDecode(nil, data)
	if err != nil {
		return nil, false
	}
	switch charset := charsetOf(stated); {
	case charset == "windows-1252", charset == "cp1252", charset == "iso-8859-1", charset == "latin1":
		return fromWindows(text), true
	case bytes.HasPrefix(text, []byte{0xFE, 0xFF}), charset == "utf-16be":
		return fromUTF16(text, binary.BigEndian)
	case bytes.HasPrefix(text, []byte{0xFF, 0xFE}), charset == "utf-16le", charset == "utf-16":
		return fromUTF16(text, binary.LittleEndian)
	case charset == "", charset == "utf-8", charset == "utf8", charset == "us-ascii", charset == "ascii":
		return bytes.TrimPrefix(text, []byte("\uFEFF")), utf8.Valid(text)
	default:
		return nil, false
	}
}

// charsetOf returns the parameter of a media type that states the characters of a text.
func charsetOf(stated []byte) string {
	for parameter := range bytes.SplitSeq(stated, []byte(";")) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(parameter), []byte("="))
		if bytes.EqualFold(bytes.TrimSpace(name), []byte("charset")) {
			return string(bytes.ToLower(bytes.Trim(value, `"' `)))
		}
	}
	return ""
}

// windows are the characters of windows-1252 from 0x80, where Latin-1 has none; the others are those of
// Latin-1. Texts by either name are in windows-1252, as browsers read them.
var windows = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

func fromWindows(text []byte) (decoded []byte) {
	for _, b := range text {
		r := rune(b)
		if i := int(b) - 0x80; i >= 0 && i < len(windows) {
			r = windows[i]
		}
		decoded = utf8.AppendRune(decoded, r)
	}
	return decoded
}

func fromUTF16(text []byte, order binary.ByteOrder) (decoded []byte, ok bool) {
	const size = 2
	units := make([]uint16, len(text)/size)
	for i := range units {
		units[i] = order.Uint16(text[size*i:])
	}
	for _, r := range utf16.Decode(units) {
		decoded = utf8.AppendRune(decoded, r)
	}
	return bytes.TrimPrefix(decoded, []byte("\uFEFF")), len(text)%size == 0
}
