//go:build unix

package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzRequest sends a request with any path, query, host and header, if the transport takes it.
// The provider gets the same bytes by both ways: nothing can begin another header or request.
func FuzzRequest(f *testing.F) {
	f.Add("/v1/a b", "", "a=b", "provider.example", "X-A", "b")
	f.Add("/a/b", "/a%2Fb", "a=\r\nb", "a\r\nb", "Transfer-Encoding", "chunked")
	f.Add("/\r\n/ü", "", "%0D%0A", "[::1]:80", "Content-Length", "0")
	f.Add("//a", "", "", "a:b@c", "x-api key", "a\r\nb: c")
	const end = `{"end":1}`
	wires := make(chan string, 1)
	p := newProvider(f, func(conn net.Conn, requests *bufio.Reader) {
		var wire strings.Builder
		for !strings.HasSuffix(wire.String(), end) {
			c, err := requests.ReadByte()
			if err != nil {
				break
			}
			wire.WriteByte(c)
		}
		wires <- wire.String()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	})
	theirs, own := options(f).Transport, newTransport(f)
	f.Fuzz(func(t *testing.T, path, rawPath, query, host, name, value string) {
		request := func() *http.Request {
			return post(t, p, end, func(r *http.Request) {
				r.URL = &url.URL{Scheme: "http", Host: r.URL.Host, Path: path, RawPath: rawPath, RawQuery: query}
				r.Host = host
				r.Header["User-Agent"] = []string{"a"}
				r.Header[name] = append(r.Header[name], value)
			})
		}
		if !own.Takes(request()) {
			return
		}
		var sent [2]string
		for i, way := range []http.RoundTripper{theirs, own} {
			res, err := way.RoundTrip(request())
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			sent[i] = <-wires
		}
		assert.Equal(t, sent[0], sent[1])
	})
}
