package jsonscan

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendText appends the text of a raw JSON string, which has its quotes and is
// valid. A surrogate escape without its other half becomes U+FFFD.
func AppendText(dst, rawString []byte) []byte {
	if len(rawString) < 2 {
		return dst
	}
	s := unquoted(rawString)
	return appendDecoded(slices.Grow(dst, len(s)), s) // no escape is shorter than its character
}

// appendDecoded appends the text of a valid JSON string without its quotes.
func appendDecoded(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		if s = s[i:]; s[1] != 'u' {
			dst = append(dst, escapes[s[1]])
			s = s[2:]
			continue
		}
		r, n := decodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
}

// decodeRune decodes the \u escape, or the pair of them, at the beginning of s,
// and returns its length.
func decodeRune(s []byte) (r rune, n int) {
	const size = len(`\u0000`)
	r, ok := hex4(s[2:])
	if !ok {
		return utf8.RuneError, min(size, len(s))
	}
	if !utf16.IsSurrogate(r) {
		return r, size
	}
	if rest := s[size:]; len(rest) >= size && rest[0] == '\\' && rest[1] == 'u' {
		low, _ := hex4(rest[2:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 2 * size
		}
	}
	return utf8.RuneError, size
}

// OnlySpace reports whether an escaped text has nothing but white space: the characters of
// Unicode's property, and the separators U+001C to U+001F, which some languages count as well.
func OnlySpace(text []byte) bool {
	for len(text) > 0 {
		r, n := firstRune(text)
		if !isBlank(r) {
			return false
		}
		text = text[n:]
	}
	return true
}

// TrimEnd returns an escaped text without the white space at its end.
func TrimEnd(text []byte) []byte {
	for len(text) > 0 {
		r, n := lastRune(text)
		if !isBlank(r) {
			break
		}
		text = text[:len(text)-n]
	}
	return text
}

// isBlank reports whether services take a character for white space: those of Unicode, and those
// that Python adds to them.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r >= '\x1c' && r <= '\x1f' }

// lastRune decodes the character or the escape at the end of s, and returns its length.
func lastRune(s []byte) (r rune, n int) {
	for _, length := range [...]int{len(`\n`), len(`\u0020`)} {
		at := len(s) - length
		if at < 0 || s[at] != '\\' || escapedAt(s[:at]) {
			continue
		}
		if r, n = firstRune(s[at:]); n == length {
			return r, n
		}
	}
	return utf8.DecodeLastRune(s)
}

// firstRune decodes the character or the escape at the beginning of s, and returns its length.
func firstRune(s []byte) (r rune, n int) {
	switch {
	case s[0] != '\\' || len(s) == 1:
		return utf8.DecodeRune(s)
	case s[1] != 'u':
		return rune(escapes[s[1]]), 2
	}
	return decodeRune(s)
}
