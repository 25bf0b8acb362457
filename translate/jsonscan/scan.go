package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// spaceEnd returns the offset of the first byte from i on that is no white space.
func spaceEnd(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && isSpace(data[i]) {
		i++
	}
	return i
}

// isSpace reports whether b is one of the four bytes that JSON calls white space.
func isSpace(b byte) bool {
	return b == ' ' || b == '\n' || b == '\r' || b == '\t'
}

// Words of eight equal bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// plainEnd returns the offset of the first byte from i on that a string cannot contain as
// itself: a quote, a backslash or a control character.
func plainEnd(data []byte, i int) int {
	for range 2 { // most strings are short
		if i+8 > len(data) {
			break
		}
		if hit := special(binary.LittleEndian.Uint64(data[i:])) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
		i += 8
	}
	for ; i+32 <= len(data); i += 32 { // and most of a request is long ones
		block := data[i : i+32 : i+32]
		a, b := special(binary.LittleEndian.Uint64(block)), special(binary.LittleEndian.Uint64(block[8:]))
		c, d := special(binary.LittleEndian.Uint64(block[16:])), special(binary.LittleEndian.Uint64(block[24:]))
		if (a|b|c|d)&highs == 0 {
			continue
		}
		for _, hit := range [...]uint64{a, b, c, d} {
			if hit &= highs; hit != 0 {
				return i + bits.TrailingZeros64(hit)/8
			}
			i += 8
		}
	}
	for ; i+8 <= len(data); i += 8 {
		if hit := special(binary.LittleEndian.Uint64(data[i:])) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= ' ' {
		i++
	}
	return i
}

// special sets the high bit of each of eight bytes that a string cannot contain as
// itself. Bytes before the first such byte are never set; bytes after it may be set
// wrongly.
func special(w uint64) uint64 {
	// A subtraction borrows into the high bit of each byte that is too small.
	// Flipping bit 1 swaps the quote with the space, so that the quote falls
	// below 0x21 together with all control characters.
	return (((w ^ 0x02*ones) - 0x21*ones) | ((w ^ '\\'*ones) - ones)) &^ w
}

// plainStringEnd returns the end of the string whose opening quote is at i, 0 for a string
// with escapes, bytes beyond ASCII, or an error.
func plainStringEnd(data []byte, i int) (end int) {
	for i++; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		if hit := (special(w) | w) & highs; hit != 0 {
			i += bits.TrailingZeros64(hit) / 8
			break
		}
	}
	for ; i < len(data) && data[i] >= ' ' && data[i] < utf8.RuneSelf && data[i] != '\\'; i++ {
		if data[i] == '"' {
			return i + 1
		}
	}
	return 0
}

// stringEnd returns the end of the string whose opening quote is at i, or where
// and why it is wrong.
func stringEnd(data []byte, i int) (end int, escaped bool, reason string) {
	i++
	for {
		i = plainEnd(data, i)
		switch {
		case i == len(data):
			return i, escaped, whyEnd
		case data[i] == '"':
			return i + 1, escaped, ""
		case data[i] != '\\':
			return i, escaped, whyControl
		}
		escaped = true
		if i+1 < len(data) && escapes[data[i+1]] != 0 {
			i += 2 // nearly always
			continue
		}
		if i, reason = escapesEnd(data, i); reason != "" {
			return i, escaped, reason
		}
	}
}

// escapesEnd returns the end of the escapes from i on, which often come in
// groups, or where and why one is wrong.
func escapesEnd(data []byte, i int) (end int, reason string) {
	for i < len(data) && data[i] == '\\' {
		if i+1 == len(data) {
			return i + 1, whyEnd
		}
		if escapes[data[i+1]] != 0 {
			i += 2
			continue
		}
		if _, ok := hex4(data[i+2:]); !ok || data[i+1] != 'u' {
			return i, whyEscape
		}
		i += 6
	}
	return i, ""
}

// escapes maps the second byte of a two-byte escape to the byte that it encodes.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/',
	'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// hex4 reads four hexadecimal digits.
func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, b := range s[:4] {
		switch {
		case '0' <= b && b <= '9':
			r = r<<4 | rune(b-'0')
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			r = r<<4 | rune(b|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// literalEnd returns the end of the null, true or false at i, or where and why
// it is wrong.
func literalEnd(data []byte, i int) (end int, reason string) {
	word := "null"
	switch data[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	}
	end = i + len(word)
	if end > len(data) || string(data[i:end]) != word {
		return i, whyLiteral
	}
	return end, ""
}

// numberEnd returns the end of the number at i, or where and why it is wrong.
func numberEnd(data []byte, i int) (end int, reason string) {
	if data[i] == '-' {
		i++
	}
	first := i
	i = digitsEnd(data, i)
	if i == first || data[first] == '0' && i > first+1 {
		return first, whyNumber
	}
	if i < len(data) && data[i] == '.' {
		first = i + 1
		if i = digitsEnd(data, first); i == first {
			return i, whyNumber
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		first = i
		if i = digitsEnd(data, first); i == first {
			return i, whyNumber
		}
	}
	return i, ""
}

// digitsEnd returns the offset of the first byte from i on that is no digit.
func digitsEnd(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}
