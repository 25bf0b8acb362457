package media

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
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
// is false for data that are no text in the character set of the type: one that browsers know, by the names
// that they know.
func DecodeText(data, stated []byte) (text []byte, ok bool) {
	text, err := base64.StdEncoding.AppendDecode(nil, data)
	if err != nil {
		return nil, false
	}
	order, marked := byteOrders[string(text[:min(len(text), 2)])]
	switch charset := charsetOf(stated); {
	case marked:
		return decoded(text, unicode.UTF16(order, unicode.UseBOM))
	case charset == "", charset == "utf-8", charset == "utf8", charset == "us-ascii", charset == "ascii":
		return bytes.TrimPrefix(text, []byte("\uFEFF")), utf8.Valid(text)
	default:
		known, err := htmlindex.Get(charset)
		if err != nil {
			return nil, false
		}
		return decoded(text, known)
	}
}

// byteOrders are the orders of bytes by the marks at the beginning of texts in UTF-16.
var byteOrders = map[string]unicode.Endianness{"\xFE\xFF": unicode.BigEndian, "\xFF\xFE": unicode.LittleEndian}

// decoded returns a text in UTF-8. ok is false if the text has bytes without a meaning.
func decoded(text []byte, known encoding.Encoding) (_ []byte, ok bool) {
	text, err := known.NewDecoder().Bytes(text)
	return text, err == nil && !bytes.ContainsRune(text, utf8.RuneError)
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
