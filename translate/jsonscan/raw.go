package jsonscan

import (
	"bytes"
	"strconv"
)

// The functions of this file read raw values: slices of a valid document, each of which
// is one value.

// IsString reports whether a raw value is a string.
func IsString(raw []byte) bool { return len(raw) >= len(`""`) && raw[0] == '"' }

// IsTrue reports whether a raw value is true.
func IsTrue(raw []byte) bool { return len(raw) > 0 && raw[0] == 't' }

// Inner returns a raw string without its quotes, still escaped; nil for a value
// of another kind.
func Inner(raw []byte) []byte {
	if !IsString(raw) {
		return nil
	}
	return unquoted(raw)
}

// TextOf returns the decoded text of a raw string, "" for a value of another
// kind.
func TextOf(raw []byte) string {
	if text := Inner(raw); !HasEscapes(text) {
		return string(text)
	}
	return string(AppendText(nil, raw))
}

// DecodedOf returns the decoded text of a raw string, nil for a value of another kind.
// It is a slice of the source if it has no escapes.
func DecodedOf(raw []byte) []byte {
	if text := Inner(raw); !HasEscapes(text) {
		return text
	}
	return AppendText(nil, raw)
}

// SameText reports whether two raw strings have the same text, with whatever escapes.
func SameText(a, b []byte) bool {
	if !HasEscapes(a) && !HasEscapes(b) {
		return bytes.Equal(a, b)
	}
	return TextOf(a) == TextOf(b)
}

// HasEscapes reports whether the bytes of a raw string differ from its text.
func HasEscapes(raw []byte) bool { return bytes.IndexByte(raw, '\\') >= 0 }

// IsEmptyList reports whether a raw value is an empty array or object.
func IsEmptyList(raw []byte) bool {
	return len(raw) >= len("[]") && (raw[0] == '[' || raw[0] == '{') && spaceEnd(raw, 1) == len(raw)-1
}

// IsZero reports whether a raw value is the zero value of its kind: null, false, a number
// that is zero, or an empty string, array or object. It is false for no bytes.
func IsZero(raw []byte) bool {
	switch {
	case len(raw) == 0:
		return false
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		f, err := strconv.ParseFloat(string(raw), 64)
		return err == nil && f == 0
	default:
		return raw[0] == 'f' || Blank(raw)
	}
}

// Integer returns the value of a raw number that is integral, however it is
// written; ok is false for any other value.
func Integer(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	return ParseInt(raw)
}

// AppendUnescaped appends the text of a raw string that lacks its quotes.
func AppendUnescaped(dst, inner []byte) []byte { return appendDecoded(dst, inner) }
