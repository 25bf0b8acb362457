package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// stringEnd returns the end of the string at the cursor and whether it has escapes, or
// the position and the reason of its first error.
func (c *Cursor) stringEnd() (end int, escaped bool, reason string) {
	if !c.valid {
		if end, escaped, reason = stringEnd(c.data, c.pos); reason == "" && c.noting && end-c.pos >= longText {
			c.texts = append(c.texts.room(c.data), extent{uint32(c.pos), uint32(end)})
		}
		return end, escaped, reason
	}
	end, reason = c.texts.textEnd(c.data, c.pos)
	return end, bytes.IndexByte(c.data[c.pos:end], '\\') >= 0, reason
}

// knownStringEnd returns the end of the string whose opening quote is at i, in a valid
// document: the first quote that is not escaped.
func knownStringEnd(data []byte, i int) (end int, reason string) {
	if end = shortEnd(data, i); end > 0 {
		return end, ""
	}
	return longEnd(data, i)
}

// shortEnd is knownStringEnd for names and short words, which most strings are, and 0 for others.
func shortEnd(data []byte, i int) (end int) {
	first := i + 1
	for i = first; i+8 <= len(data) && i < first+maxPlainName; i += 8 {
		if hit := special(binary.LittleEndian.Uint64(data[i:])) & highs; hit != 0 {
			if i += bits.TrailingZeros64(hit) / 8; data[i] == '"' {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

// longEnd is knownStringEnd for strings of any length.
func longEnd(data []byte, i int) (end int, reason string) {
	first := i + 1
	for i = first; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data), whyEnd
		}
		i += n
		if !escapedAt(data[first:i]) {
			return i + 1, ""
		}
	}
}

// escapedAt reports whether the byte after text is escaped: text ends with an odd number
// of backslashes.
func escapedAt(text []byte) bool {
	n := len(text)
	for n > 0 && text[n-1] == '\\' {
		n--
	}
	return (len(text)-n)%2 == 1
}

// knownEnd returns the end of the value at i in a valid document. t are the texts that may
// follow.
func (t *Texts) knownEnd(data []byte, i int) (end int, reason string) {
	switch kinds[data[i]] {
	case String:
		return t.textEnd(data, i)
	case Number:
		return numberEnd(data, i)
	case Array, Object:
		if end = t.noted(data, i); end > 0 {
			return end, ""
		}
		return t.knownContainerEnd(data, i)
	default:
		return literalEnd(data, i)
	}
}

// knownContainerEnd counts brackets, which do not count inside strings.
func (t *Texts) knownContainerEnd(data []byte, i int) (end int, reason string) {
	for depth := 0; i < len(data); {
		switch data[i] {
		case '"':
			if i, reason = t.textEnd(data, i); reason != "" {
				return i, reason
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i, ""
		}
	}
	return len(data), whyEnd
}
