package sink

// eventBoundary keeps the last bytes of a stream, which show whether an event has ended.
type eventBoundary struct {
	bytes [4]byte
}

// note adds written bytes.
func (b *eventBoundary) note(p []byte) {
	if n := len(p); n >= len(b.bytes) {
		copy(b.bytes[:], p[n-len(b.bytes):])
	} else {
		copy(b.bytes[:], b.bytes[n:])
		copy(b.bytes[len(b.bytes)-n:], p)
	}
}

// reached reports whether the bytes end with two line breaks (CR, LF or CRLF), or no bytes
// were written.
func (b *eventBoundary) reached() bool {
	if b.bytes == [4]byte{} {
		return true
	}
	rest, ok := cutLineBreak(b.bytes[:])
	if !ok {
		return false
	}
	_, ok = cutLineBreak(rest)
	return ok
}

func cutLineBreak(p []byte) ([]byte, bool) {
	n := len(p)
	switch {
	case n >= 2 && p[n-2] == '\r' && p[n-1] == '\n':
		return p[:n-2], true
	case n >= 1 && (p[n-1] == '\n' || p[n-1] == '\r'):
		return p[:n-1], true
	}
	return p, false
}
