package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// readSizes is the body of an answer that notes how many bytes its reader has
// room for.
type readSizes struct{ sizes []int }

func (r *readSizes) Read(p []byte) (int, error) {
	r.sizes = append(r.sizes, len(p))
	return 0, io.EOF
}

func (r *readSizes) Close() error { return nil }

// discard receives an answer that nobody looks at.
type discard struct{ *httptest.ResponseRecorder }

func (discard) FlushError() error { return nil }

// Every open stream held a buffer of 32 KiB while it waited for events of some
// hundred bytes: 67 MB of the 159 MB that 2,000 streams took.
func TestStreamsHoldSmallBuffers(t *testing.T) {
	for _, answer := range []struct {
		name   string
		length int64
		buffer int
	}{
		{"stream", -1, streamBuffer},
		{"whole answer", 10, answerBuffer},
	} {
		t.Run(answer.name, func(t *testing.T) {
			body := new(readSizes)
			copyBody(discard{httptest.NewRecorder()}, &http.Response{Body: body, ContentLength: answer.length})
			assert.Equal(t, []int{answer.buffer}, body.sizes)
		})
	}
}
