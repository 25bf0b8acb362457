package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// stringEnder finds the ends of strings: it checks those of a new document, and knows some of
// one that is read again.
type stringEnder struct {
	valid    bool  // the document has been read to its end before
	noting   bool  // long strings are noted
	texts    Texts // the long strings that were noted; of a document that is read again, those that may follow
	document Texts // of a document that is read again, all of them
}

// end returns the end of the string at i and whether it has escapes, or the position and the
// reason of its first error.
func (s *stringEnder) end(data []byte, i int) (end int, escaped bool, reason string) {
	if !s.valid {
		if end, escaped, reason = stringEnd(data, i); reason == "" && s.noting && end-i >= longText {
			s.texts = append(s.texts.room(data), extent{uint32(i), uint32(end)})
		}
		return end, escaped, reason
	}
	end, reason = s.texts.textEnd(data, i)
	return end, bytes.IndexByte(data[i:end], '\\') >= 0, reason
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
