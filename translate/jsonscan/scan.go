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
	for range 3 { // most strings are short
		if i+8 > len(data) {
			break
		}
		if hit := special(binary.LittleEndian.Uint64(data[i:])) & highs; hit != 0 {
			if end = i + bits.TrailingZeros64(hit)/8; data[end] == '"' {
				return end + 1, false, ""
			}
			break
		}
		i += 8
	}
	return longStringEnd(data, i)
}

// longStringEnd is stringEnd from a byte in the string on. Most of a request is long strings,
// with an escape in every other block. A branch for each would be mispredicted as often, so
// that a block is reduced to a bit for each byte, set for those that need a look.
func longStringEnd(data []byte, i int) (end int, escaped bool, reason string) {
	for i+64 <= len(data) {
		block := data[i : i+64 : i+64]
		a, b := plain(binary.LittleEndian.Uint64(block)), plain(binary.LittleEndian.Uint64(block[8:]))
		c, d := plain(binary.LittleEndian.Uint64(block[16:])), plain(binary.LittleEndian.Uint64(block[24:]))
		e, f := plain(binary.LittleEndian.Uint64(block[32:])), plain(binary.LittleEndian.Uint64(block[40:]))
		g, h := plain(binary.LittleEndian.Uint64(block[48:])), plain(binary.LittleEndian.Uint64(block[56:]))
		next := i + 64
		if a&b&c&d&e&f&g&h&highs == highs {
			i = next
			continue
		}
		hits := ^(gathered(a) | gathered(b)<<8 | gathered(c)<<16 | gathered(d)<<24 |
			gathered(e)<<32 | gathered(f)<<40 | gathered(g)<<48 | gathered(h)<<56)
		for hits != 0 {
			n := bits.TrailingZeros64(hits)
			at := i + n
			if data[at] != '\\' {
				return closed(data, at, escaped)
			}
			escaped = true
			if at+1 == len(data) || escapes[data[at+1]] == 0 {
				if next, reason = escapesEnd(data, at); reason != "" {
					return next, true, reason
				}
				break
			}
			hits &^= 0b11 << n
			next = max(next, at+2)
		}
		i = next
	}
	for {
		if i = plainEnd(data, i); i == len(data) || data[i] != '\\' {
			return closed(data, i, escaped)
		}
		escaped = true
		if i, reason = escapesEnd(data, i); reason != "" {
			return i, true, reason
		}
	}
}

// closed returns the end of a string whose bytes in front of i are valid, if the byte at i is its
// closing quote, or why it is wrong.
func closed(data []byte, i int, escaped bool) (end int, _ bool, reason string) {
	switch {
	case i == len(data):
		return i, escaped, whyEnd
	case data[i] == '"':
		return i + 1, escaped, ""
	default:
		return i, escaped, whyControl
	}
}

// plain sets the high bit of each of eight bytes that a string can contain as itself, and no
// other's. Unlike special, no byte carries into the next one.
func plain(w uint64) uint64 {
	low := w &^ highs
	return ((low^0x02*ones)+(0x80-0x21)*ones)&((low^'\\'*ones)+(0x80-1)*ones) | w
}

// gathered returns the high bits of eight bytes as one byte.
func gathered(w uint64) uint64 { return (w & highs) * 0x0002040810204081 >> 56 }

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
