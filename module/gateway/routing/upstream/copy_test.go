package upstream

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// pieces is the body of an answer that arrives in pieces. It records the sizes of the
// buffers of its reader.
type pieces struct {
	left  []int
	sizes []int
}

func (r *pieces) Read(p []byte) (int, error) {
	r.sizes = append(r.sizes, len(p))
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, strings.Repeat("x", r.left[0]))
	r.left = r.left[1:]
	return n, nil
}

func (r *pieces) Close() error { return nil }

// recorder receives an answer.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) FlushError() error { return nil }

func (recorder) TakeHeader(http.Header) {}

// flushes counts how often an answer is flushed.
type flushes struct {
	recorder
	count int
}

func (f *flushes) FlushError() error { f.count++; return nil }

// waitingPieces is a body that waits before some of its pieces.
type waitingPieces struct {
	pieces
	waits  []bool // one for each read
	onWait func()
}

func (w *waitingPieces) OnWait(f func()) bool { w.onWait = f; return true }

func (w *waitingPieces) Read(p []byte) (int, error) {
	if w.waits[len(w.sizes)] {
		w.onWait()
	}
	return w.pieces.Read(p)
}

// Events that arrive together were written to the client one by one.
func TestAStreamIsFlushedBeforeItWaits(t *testing.T) {
	body := &waitingPieces{pieces: pieces{left: []int{1, 1, 1, 1}}, waits: []bool{false, false, true, false, true}}
	writer := &flushes{recorder: recorder{httptest.NewRecorder()}}
	assert.NoError(t, copyBody(writer, &http.Response{Body: body, ContentLength: -1}))
	assert.Equal(t, 2, writer.count)
	assert.Equal(t, "xxxx", writer.Body.String())
	writer.count = 0
	assert.NoError(t, copyBody(writer, &http.Response{Body: &pieces{left: []int{1, 1}}, ContentLength: -1}))
	assert.Equal(t, 2, writer.count, "a body that does not report its waits")
}

// Every open stream held a buffer of 32 KiB while it waited for events of some
// hundred bytes: 67 MB of the 159 MB that 2,000 streams took.
func TestWhatWaitsHoldsASmallBuffer(t *testing.T) {
	const small = waitBuffer
	for _, answer := range []struct {
		name    string
		length  int64
		pieces  []int
		buffers []int
	}{
		{"a stream", -1, []int{300, 300}, []int{small, small, small}},
		{"a burst of a stream", -1, []int{300, small, streamBuffer, 300, 300}, []int{small, small, streamBuffer, streamBuffer, small, small}},
		{"a short answer", 300, []int{300}, []int{small, small}},
		{"a long answer", 50_000, []int{small, answerBuffer, 50_000 - small - answerBuffer}, []int{small, answerBuffer, answerBuffer, answerBuffer}},
	} {
		body, writer := &pieces{left: answer.pieces}, recorder{httptest.NewRecorder()}
		want := 0
		for _, n := range answer.pieces {
			want += n
		}
		assert.NoError(t, copyBody(writer, &http.Response{Body: body, ContentLength: answer.length}))
		assert.Equal(t, answer.buffers, body.sizes, answer.name)
		assert.Equal(t, strings.Repeat("x", want), writer.Body.String(), answer.name)
	}
}
