package jsonscan

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendString appends s as a JSON string with its quotes. It escapes only the characters
// that JSON requires to be escaped. Each invalid byte of UTF-8 becomes U+FFFD.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, s)
	return append(dst, '"')
}

// AppendStringOrNull is AppendString, with null for the empty string.
func AppendStringOrNull[T string | []byte](dst []byte, s T) []byte {
	if len(s) == 0 {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}

// AppendEscaped is AppendString without the quotes, for strings that are written piece by
// piece. Each piece consists of whole characters.
func AppendEscaped[T string | []byte](dst []byte, s T) []byte {
	text := []byte(s)
	if utf8End(text) == len(text) {
		return appendEscaped(slices.Grow(dst, len(text)+len(text)/16), text) // prose has few escapes
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError {
			dst = utf8.AppendRune(dst, r)
		} else {
			dst = appendEscaped(dst, text[:size])
		}
		text = text[size:]
	}
	return dst
}

// appendEscaped appends valid UTF-8 with escapes.
func appendEscaped(dst, text []byte) []byte {
	for {
		i := plainEnd(text, 0)
		dst = append(dst, text[:i]...)
		if i == len(text) {
			return dst
		}
		dst = appendEscape(dst, text[i])
		text = text[i+1:]
	}
}

// appendEscape appends the escape of a byte that must be escaped.
func appendEscape(dst []byte, b byte) []byte {
	const hex = "0123456789abcdef"
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&0xf])
}

// AppendCount appends before, such as the name of a member, and a number.
func AppendCount(dst []byte, before string, n int64) []byte {
	return strconv.AppendInt(append(dst, before...), n, 10)
}
