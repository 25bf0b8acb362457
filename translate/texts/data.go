package texts

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The smallest number of digits that a number needs to be a text, and of bytes that a string needs
// to be data.
const (
	fewestDigits = 12
	fewestData   = 256
)

// isText reports whether a value that the reader has not recognised is a text. A number cannot
// become another text.
func isText(raw []byte, t *Text) bool {
	if !jsonscan.IsString(raw) {
		t.form = literal
		return len(raw) >= fewestDigits
	}
	text := jsonscan.Inner(raw)
	return len(text) > 0 && (len(text) < fewestData || !isData(text))
}

// isData reports whether a long string has the form of base64 in one of its two alphabets, perhaps
// in a data URL. Guards do not search it: it is large, and random characters match some patterns.
// A string with a long number is no data, and neither are words that hyphens or underscores join.
func isData(text []byte) bool {
	const inURL = ";base64,"
	if i := bytes.Index(text[:fewestData], []byte(inURL)); i > 0 && bytes.HasPrefix(text, []byte("data:")) {
		text = text[i+len(inURL):]
	}
	text = bytes.TrimRight(text, "=")
	var upper, lower, digits, standard, url int
	for _, b := range text {
		switch {
		case b >= '0' && b <= '9':
			if digits++; digits > fewestDigits {
				return false
			}
			continue
		case b == '-': // it may be within a number
			url++
			continue
		case b >= 'A' && b <= 'Z':
			upper++
		case b >= 'a' && b <= 'z':
			lower++
		case b == '_':
			url++
		case b == '+', b == '/':
			standard++
		default:
			return false
		}
		digits = 0
	}
	const share = 8 // letters of each case are at least this part of random data
	return url == 0 || standard == 0 && share*min(upper, lower) >= len(text)
}
