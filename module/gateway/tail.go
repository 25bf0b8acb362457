package gateway

// tail keeps the last bytes of a stream: enough to tell whether they end an event.
type tail struct {
	bytes [4]byte
}

// note appends what was written.
func (t *tail) note(p []byte) {
	if n := len(p); n >= len(t.bytes) {
		copy(t.bytes[:], p[n-len(t.bytes):])
	} else {
		copy(t.bytes[:], t.bytes[n:])
		copy(t.bytes[len(t.bytes)-n:], p)
	}
}

// endsEvent reports whether a line break follows a line break, whichever of
// the three kinds they are, or nothing was written at all.
func (t *tail) endsEvent() bool {
	if t.bytes == [4]byte{} {
		return true
	}
	rest, ok := cutLineBreak(t.bytes[:])
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
