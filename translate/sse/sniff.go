package sse

import "bytes"

// Sniff reports whether a body is an event stream, by its first bytes: line ends, and then a
// comment or a field. known is false if that takes more bytes.
func Sniff(head []byte) (stream, known bool) {
	if len(head) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, head) {
		return false, false
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), "\r\n")
	for _, line := range lineStarts {
		if bytes.HasPrefix(text, line) {
			return true, true
		}
		if bytes.HasPrefix(line, text) {
			return false, false
		}
	}
	return false, true
}

// lineStarts are the beginnings of the lines of a stream.
var lineStarts = [][]byte{[]byte(":"), []byte("data:"), []byte("event:"), []byte("id:"), []byte("retry:")}
