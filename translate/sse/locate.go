package sse

import "bytes"

// Locate returns the position in raw, the bytes of the stream from Start to End, of the
// byte of the event's data at an offset.
func (e Event) Locate(raw []byte, offset int) int {
	pos := 0
	if e.Start == 0 {
		pos = len(raw) - len(bytes.TrimPrefix(raw, byteOrderMark))
	}
	for pos < len(raw) {
		line, next := cutLine(raw[pos:])
		if name, text := cutField(line); string(name) == "data" {
			if offset <= len(text) {
				return pos + len(line) - len(text) + offset
			}
			offset -= len(text) + len("\n")
		}
		pos += next
	}
	return len(raw)
}

// cutLine returns the first line of text, and the offset of the next one.
func cutLine(text []byte) (line []byte, next int) {
	end := bytes.IndexAny(text, "\r\n")
	switch {
	case end < 0:
		return text, len(text)
	case bytes.HasPrefix(text[end:], []byte("\r\n")):
		return text[:end], end + len("\r\n")
	default:
		return text[:end], end + 1
	}
}
