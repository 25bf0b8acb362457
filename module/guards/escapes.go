package guards

import (
	"iter"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// mostLayers bounds the layers of escapes that are taken off: two are those of JSON in a string of JSON.
const mostLayers = 3

// layersOf returns a text, and what is left of it without one, two and more layers of escapes.
func layersOf(text string) []string {
	layers := []string{text}
	for len(layers) <= mostLayers {
		plain := unescaped(layers[len(layers)-1])
		if plain == layers[len(layers)-1] {
			break
		}
		layers = append(layers, plain)
	}
	return layers
}

// unescaped returns a text without one layer of escapes.
func unescaped(text string) string {
	var plain strings.Builder
	done := 0
	for place, r := range escapes(text) {
		if done == 0 {
			plain.Grow(len(text))
		}
		plain.WriteString(text[done:place.start])
		plain.WriteRune(r)
		done = place.end
	}
	if done == 0 {
		return text
	}
	plain.WriteString(text[done:])
	return plain.String()
}

// escapes finds the escapes of a text, and the characters that they are.
func escapes(text string) iter.Seq2[span, rune] {
	return func(yield func(span, rune) bool) {
		for i := 0; i < len(text); i++ {
			if r, size := escapeAt(text, i); size > 0 {
				if !yield(span{i, i + size}, r) {
					return
				}
				i += size - 1
			}
		}
	}
}

// simpleEscapes are the letters of the escapes of JSON with two characters, each in front of its character.
const simpleEscapes = "\"\"\\\\//b\bf\fn\nr\rt\t"

// escapeAt returns the character of the escape of JSON, or of an ASCII character in an address, that begins
// at an index of a text, and the size of the escape; 0 if none does.
func escapeAt(text string, i int) (r rune, size int) {
	switch {
	case text[i] == '%':
		if r = hexAt(text, i+1, 2); r >= 0 && r < utf8.RuneSelf {
			return r, 3
		}
	case text[i] != '\\' || i+1 == len(text):
	case text[i+1] == 'u':
		r = hexAt(text, i+2, 4)
		if utf16.IsSurrogate(r) && strings.HasPrefix(text[i+6:], `\u`) {
			return utf16.DecodeRune(r, hexAt(text, i+8, 4)), 12
		}
		if utf8.ValidRune(r) {
			return r, 6
		}
	default:
		for j := 0; j < len(simpleEscapes); j += 2 {
			if simpleEscapes[j] == text[i+1] {
				return rune(simpleEscapes[j+1]), 2
			}
		}
	}
	return 0, 0
}

// hexAt returns the number that hexadecimal digits of a text are, -1 for none.
func hexAt(text string, start, digits int) (n rune) {
	if start+digits > len(text) {
		return -1
	}
	for i := range digits {
		digit := strings.IndexByte("0123456789abcdef", lower(text[start+i]))
		if digit < 0 {
			return -1
		}
		n = 16*n + rune(digit)
	}
	return n
}

// lower returns an ASCII letter as a small one.
func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		b |= 0x20
	}
	return b
}

// originsInEscaped replaces spans of the text without one layer of escapes by those of the text itself.
func originsInEscaped(text string, spans []*span) {
	restore(spans, len(text), func(yield func(segment) bool) {
		done := 0
		for place, r := range escapes(text) {
			if done < place.start && !yield(segment{span{done, place.start}, place.start - done, true}) {
				return
			}
			if !yield(segment{place, utf8.RuneLen(r), false}) {
				return
			}
			done = place.end
		}
		if done < len(text) {
			yield(segment{span{done, len(text)}, len(text) - done, true})
		}
	})
}
