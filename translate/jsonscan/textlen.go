package jsonscan

import (
	"bytes"
	"unicode/utf8"
)

// TextLen returns the length in bytes of the text of a raw JSON string, which
// has its quotes and is valid, without decoding it.
func TextLen(rawString []byte) int {
	return InnerLen(Inner(rawString))
}

// InnerLen is TextLen for a raw string that lacks its quotes.
func InnerLen(s []byte) int {
	n, _ := InnerSize(s)
	return n
}

// InnerSize is InnerLen, and also returns how many of these bytes are of characters beyond
// ASCII that are escaped.
func InnerSize(s []byte) (n, wide int) {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return n + len(s), wide
		}
		n += i + 1
		if s = s[i:]; s[1] != 'u' {
			s = s[2:]
			continue
		}
		r, size := decodeRune(s)
		length := utf8.RuneLen(r)
		if n += length - 1; length > 1 {
			wide += length
		}
		s = s[size:]
	}
}
