//go:build unix

package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzAnswer sends any bytes as an answer, and closes the connection behind them. They mean the
// same by both ways. Only net/http reads from a connection that has switched to another protocol.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		answerOK,
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n2;a=b\r\nok\r\n0\r\nA: b\r\n\r\n",
	} {
		f.Add(seed)
	}
	answers := make(chan string, 1)
	p := newProvider(f, func(conn net.Conn, requests *bufio.Reader) {
		_, _ = readRequest(requests)
		_, _ = io.WriteString(conn, <-answers)
	})
	theirs, own := options(f).Transport, newTransport(f)
	f.Fuzz(func(t *testing.T, answer string) {
		outcome := func(way http.RoundTripper, closeIdle func()) (res *http.Response, body string, ok bool) {
			defer closeIdle()
			answers <- answer
			res, err := way.RoundTrip(post(t, p, "{}"))
			if err != nil {
				return nil, "", false
			}
			defer res.Body.Close()
			if res.StatusCode == http.StatusSwitchingProtocols {
				return res, "", true
			}
			text, err := io.ReadAll(res.Body)
			return res, string(text), err == nil
		}
		want, wantBody, wantOK := outcome(theirs, theirs.CloseIdleConnections)
		got, body, ok := outcome(own, own.CloseIdleConnections)
		assert.Equal(t, want == nil, got == nil)
		assert.Equal(t, wantBody, body)
		assert.Equal(t, wantOK, ok)
		if want != nil && got != nil {
			assert.Equal(t, want.StatusCode, got.StatusCode)
			assert.Equal(t, want.Header, got.Header)
			assert.Equal(t, want.Trailer, got.Trailer)
		}
	})
}
