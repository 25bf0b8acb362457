package mirror

import (
	"errors"
	"net/http"
)

var errTooLong = errors.New("the answer of a mirror is too long")

// discard is the client of a copy. It keeps nothing of the answer, and counts as gone behind
// largestAnswer.
type discard struct {
	header http.Header
	got    int64 // bytes
}

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (*discard) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (d *discard) Write(p []byte) (int, error) {
	if d.got += int64(len(p)); d.got > largestAnswer {
		return 0, errTooLong
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (*discard) Flush() {}
