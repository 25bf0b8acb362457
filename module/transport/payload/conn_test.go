package payload

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
)

// wire is a connection that collects what is written to it.
type wire struct {
	net.Conn
	written strings.Builder
	broken  bool

	discards bool
}

func (w *wire) Write(p []byte) (int, error) {
	if w.broken {
		return 0, syscall.EPIPE
	}
	if w.discards {
		return len(p), nil
	}
	return w.written.Write(p)
}

const head = "POST /v1 HTTP/1.1\r\nHost: a\r\n\r\n"

func bodyOf(text string) (*Payload, io.ReadCloser) {
	p := New([]byte(text), exchange.NewLease())
	return p, p.Open()
}

func TestAHeadWaitsForItsPayload(t *testing.T) {
	w := new(wire)
	c := &Conn{Conn: w}
	c.Join()
	n, err := c.Write([]byte(head))
	require.NoError(t, err)
	assert.Equal(t, len(head), n)
	assert.Empty(t, w.written.String())
	p, body := bodyOf("{}")
	sent, err := c.ReadFrom(io.LimitReader(body, p.Length()))
	require.NoError(t, err)
	assert.EqualValues(t, 2, sent)
	assert.Equal(t, head+"{}", w.written.String())
	assert.True(t, p.Sent())
	rest, err := body.Read(make([]byte, 1))
	assert.Zero(t, rest)
	assert.Equal(t, io.EOF, err, "net/http reads behind the length")
}

// A head that nothing follows would wait forever, and so would the client.
func TestOtherWritesDoNotWait(t *testing.T) {
	for name, text := range map[string]string{
		"the beginning of a long head": "POST /v1 HTTP/1.1\r\nHost: a\r\nX-Long: ",
		"a request without a body":     "GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n",
		"a frame of HTTP/2":            "\x00\x00\x04\x01\x05\x00\x00\x00\x01\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := new(wire)
			c := &Conn{Conn: w}
			c.Join()
			for range 2 { // the second one was not announced
				_, err := c.Write([]byte(text))
				require.NoError(t, err)
			}
			_, err := c.Write([]byte(head))
			require.NoError(t, err)
			assert.Equal(t, text+text+head, w.written.String())
		})
	}
}

func TestABodyThatIsNoPayloadFollowsItsHead(t *testing.T) {
	w := new(wire)
	c := &Conn{Conn: w}
	c.Join()
	_, _ = c.Write([]byte(head))
	n, err := c.ReadFrom(strings.NewReader("{}"))
	require.NoError(t, err)
	assert.EqualValues(t, 2, n)
	assert.Equal(t, head+"{}", w.written.String())
}

// A payload counts as sent if the provider may have a part of it: then its tokens are
// estimated, and the request is not repeated.
func TestAPayloadIsNotSentOnAConnectionThatHasEnded(t *testing.T) {
	c := &Conn{Conn: &wire{broken: true}}
	c.Join()
	_, _ = c.Write([]byte(head))
	p, body := bodyOf("{}")
	n, err := c.ReadFrom(io.LimitReader(body, p.Length()))
	assert.ErrorIs(t, err, syscall.EPIPE)
	assert.Zero(t, n)
	assert.False(t, p.Sent())
}

func TestAClosedPayloadIsNotWritten(t *testing.T) {
	w := new(wire)
	p, body := bodyOf("{}")
	require.NoError(t, body.Close())
	_, err := (&Conn{Conn: w}).ReadFrom(io.LimitReader(body, p.Length()))
	assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	assert.Empty(t, w.written.String())
}

// One connection serves requests of all lengths, with and without edits, as it does without
// a Conn.
func TestRequestsArriveWhole(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	transport := &http.Transport{DialContext: Joining(new(net.Dialer).DialContext), WriteBufferSize: 2 << 10}
	t.Cleanup(transport.CloseIdleConnections)
	joined := 0
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		info.Conn.(*Conn).Join()
		joined++
	}})
	for _, length := range []int{1, 100, 2 << 10, 100 << 10, 4 << 20} {
		for _, header := range []string{"", strings.Repeat("h", 3<<10)} {
			text := strings.Repeat("x", length) + `"m"`
			p := Splice([]byte(text), []edit.Edit{{Span: translate.Span{Start: length, End: length + 3}, With: []byte(`"another"`)}}, exchange.NewLease())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, p.Open())
			require.NoError(t, err)
			r.ContentLength = p.Length()
			r.Header.Set("X-Long", header)
			res, err := transport.RoundTrip(r)
			require.NoError(t, err)
			got, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			assert.True(t, text[:length]+`"another"` == string(got))
			assert.True(t, p.Sent())
		}
	}
	assert.Equal(t, 10, joined)
}

// net/http allocates 32 KB for each request with a long body, through which it copies the
// body.
func TestAPayloadIsWrittenAsItIs(t *testing.T) {
	w := &wire{discards: true}
	c, header := &Conn{Conn: w}, []byte(head)
	p := New(make([]byte, 1<<20), exchange.NewLease())
	const runs = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		body := p.Open()
		c.Join()
		_, _ = c.Write(header)
		n, _ := c.ReadFrom(io.LimitReader(body, p.Length()))
		require.EqualValues(t, 1<<20, n)
		require.NoError(t, body.Close())
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/runs, uint64(4<<10))
}

// Requests share a connection of HTTP/2, whose own goroutine also writes. The announcement
// of a payload was a data race there.
func TestRequestsMayAnnouncePayloadsWhileAFrameIsWritten(t *testing.T) {
	c := &Conn{Conn: &wire{discards: true}}
	var running sync.WaitGroup
	running.Go(func() {
		for range 100 {
			c.Join()
		}
	})
	for range 100 {
		n, err := c.Write([]byte("frame"))
		assert.Equal(t, 5, n)
		assert.NoError(t, err)
	}
	running.Wait()
}
