package payload

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// wire is a connection that collects what is written to it.
type wire struct {
	written strings.Builder
	before  func() // runs before each write; may be nil
	takes   int    // bytes of a write before the connection breaks; -1 for all
}

func (w *wire) Write(p []byte) (int, error) {
	if w.before != nil {
		w.before()
	}
	if w.takes < 0 {
		return w.written.Write(p)
	}
	n := min(w.takes, len(p))
	w.takes -= n
	w.written.Write(p[:n])
	if n < len(p) {
		return n, syscall.EPIPE
	}
	return n, nil
}

const head = "POST /v1 HTTP/1.1\r\nHost: a\r\n\r\n"

func opened() (*Payload, *outgoing) {
	p := New([]byte("{}"), exchange.NewLease())
	return p, p.Open().(*outgoing)
}

func TestAPayloadIsWrittenBehindItsHead(t *testing.T) {
	w := &wire{takes: -1}
	p, body := opened()
	n, err := body.WriteBehind([]byte(head), w)
	require.NoError(t, err)
	assert.EqualValues(t, p.Length(), n)
	assert.Equal(t, head+"{}", w.written.String())
	assert.True(t, p.Sent())
	rest, err := body.Read(make([]byte, 1))
	assert.Zero(t, rest)
	assert.Equal(t, io.EOF, err)
}

// A payload counts as sent if the provider may have a part of it: then its tokens are
// estimated, and the request is not repeated.
func TestAPayloadIsSentIfThePartsBeforeABreakAre(t *testing.T) {
	for name, test := range map[string]struct {
		takes int
		want  bool
	}{"at once": {0, false}, "within the head": {1, true}, "within the payload": {len(head) + 1, true}} {
		t.Run(name, func(t *testing.T) {
			p, body := opened()
			n, err := body.WriteBehind([]byte(head), &wire{takes: test.takes})
			assert.ErrorIs(t, err, syscall.EPIPE)
			assert.EqualValues(t, max(0, test.takes-len(head)), n)
			assert.Equal(t, test.want, p.Sent())
		})
	}
}

// A call that ended while its long payload was written once counted as not sent, although the
// provider had most of it.
func TestAPayloadIsSentWhileItIsWritten(t *testing.T) {
	p, body := opened()
	asked := false
	_, err := body.WriteBehind([]byte(head), &wire{takes: -1, before: func() {
		asked = true
		assert.True(t, p.Sent())
	}})
	require.NoError(t, err)
	assert.True(t, asked)
}

// An earlier connection has taken a part of the payload.
func TestAPayloadStaysSent(t *testing.T) {
	p, body := opened()
	_, _ = body.WriteBehind([]byte(head), &wire{takes: 1})
	_, _ = p.Open().(*outgoing).WriteBehind([]byte(head), &wire{takes: 0})
	assert.True(t, p.Sent())
}

func TestAClosedPayloadIsNotWritten(t *testing.T) {
	w := &wire{takes: -1}
	_, body := opened()
	require.NoError(t, body.Close())
	_, err := body.WriteBehind([]byte(head), w)
	assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	assert.Empty(t, w.written.String())
}

// A call may end while its payload is written. Its memory would be that of another request.
func TestTheMemoryOfAPayloadIsHeldWhileItIsWritten(t *testing.T) {
	lease := exchange.NewLease()
	held := func() { lease.Buffer() } // panics without memory
	p := New([]byte("{}"), lease)
	body := p.Open().(*outgoing)
	end := sync.OnceFunc(func() {
		p.Close()
		_ = body.Close()
	})
	_, err := body.WriteBehind([]byte(head), &wire{takes: -1, before: func() {
		end()
		assert.NotPanics(t, held)
	}})
	require.NoError(t, err)
	assert.Panics(t, held)
}

// net/http allocates 32 KB for each request with a long body, through which it copies the
// body.
func TestAPayloadIsWrittenAsItIs(t *testing.T) {
	header := []byte(head)
	p := New(make([]byte, 1<<20), exchange.NewLease())
	const runs = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		body := p.Open().(*outgoing)
		n, _ := body.WriteBehind(header, io.Discard)
		require.EqualValues(t, 1<<20, n)
		require.NoError(t, body.Close())
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/runs, uint64(4<<10))
}
