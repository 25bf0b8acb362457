package upstream

import (
	"io"
	"math/rand/v2"
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
	sum   int // of the bytes that were read
}

// text returns a text of a length.
func text(length int) string { return strings.Repeat("abcdefg", length/7+1)[:length] }

func (r *pieces) Read(p []byte) (int, error) {
	r.sizes = append(r.sizes, len(p))
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, text(r.sum + r.left[0])[r.sum:])
	r.left, r.sum = r.left[1:], r.sum+n
	return n, nil
}

func (r *pieces) Close() error { return nil }

// recorder receives an answer.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) FlushError() error { return nil }

func (recorder) TakeHeader(http.Header) {}

// flushes counts how often an answer is written and flushed.
type flushes struct {
	recorder
	writes, count int
}

func (f *flushes) Write(p []byte) (int, error) { f.writes++; return f.recorder.Write(p) }

func (f *flushes) FlushError() error { f.count++; return nil }

// waitingPieces is a body that waits before some of its pieces.
type waitingPieces struct {
	pieces
	waits  []bool // one for each read
	onWait func()
	waited func() // runs after onWait; nil for none
}

func (w *waitingPieces) OnWait(f func()) bool { w.onWait = f; return true }

func (w *waitingPieces) Read(p []byte) (int, error) {
	if w.waits[len(w.sizes)] {
		w.onWait()
		if w.waited != nil {
			w.waited()
		}
	}
	return w.pieces.Read(p)
}

// Events that arrive together were written to the client one by one.
func TestAStreamIsFlushedBeforeItWaits(t *testing.T) {
	body := &waitingPieces{pieces: pieces{left: []int{1, 1, 1, 1}}, waits: []bool{false, false, true, false, true}}
	to := &flushes{recorder: recorder{httptest.NewRecorder()}}
	assert.NoError(t, copyBody(to, &http.Response{Body: body, ContentLength: -1}))
	assert.Equal(t, 2, to.count)
	assert.Equal(t, 2, to.writes, "events that have arrived together are written together")
	assert.Equal(t, text(4), to.Body.String())
	to.count = 0
	assert.NoError(t, copyBody(to, &http.Response{Body: &pieces{left: []int{1, 1}}, ContentLength: -1}))
	assert.Equal(t, 2, to.count, "a body that does not report its waits")
}

// A wait may come anywhere, while the buffer has bytes that the client has got, and others that
// it has not.
func TestAClientHasAllBytesWhenItsStreamWaits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		body := &waitingPieces{waits: []bool{true}}
		for range random.IntN(40) {
			body.left = append(body.left, 1+random.IntN(1500))
			body.waits = append(body.waits, random.IntN(2) == 0)
		}
		to := &flushes{recorder: recorder{httptest.NewRecorder()}}
		body.waited = func() { assert.Equal(t, text(body.sum), to.Body.String()) }
		assert.NoError(t, copyBody(to, &http.Response{Body: body, ContentLength: -1}))
		assert.Equal(t, text(body.sum), to.Body.String())
	}
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
		body, to := &pieces{left: answer.pieces}, recorder{httptest.NewRecorder()}
		want := 0
		for _, n := range answer.pieces {
			want += n
		}
		assert.NoError(t, copyBody(to, &http.Response{Body: body, ContentLength: answer.length}))
		assert.Equal(t, answer.buffers, body.sizes, answer.name)
		assert.Equal(t, text(want), to.Body.String(), answer.name)
	}
}
