//go:build unix

package http1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

// outcome is what a caller sees of two requests, one after the other.
type outcome struct {
	status      [2]int
	header      [2]http.Header
	body        [2]string
	failed      [2]bool // before the head, or within the body
	connections int64
}

func twice(t *testing.T, way http.RoundTripper, p *provider) (seen outcome) {
	t.Helper()
	for i := range 2 {
		res, err := way.RoundTrip(post(t, p, "{}"))
		if err != nil {
			seen.failed[i] = true
			continue
		}
		body, err := io.ReadAll(res.Body)
		seen.status[i], seen.header[i], seen.body[i], seen.failed[i] = res.StatusCode, res.Header, string(body), err != nil
		require.NoError(t, res.Body.Close())
	}
	seen.connections = p.accepted.Load()
	return seen
}

// An answer means the same by both ways, and frees its connection, or ends it, by both.
func TestAnswersAreThoseOfNetHTTP(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		ends   bool // the provider closes the connection behind it
	}{
		"a length":                       {answer: answerOK},
		"no body":                        {answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		"no content":                     {answer: "HTTP/1.1 204 No Content\r\n\r\n"},
		"not modified":                   {answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"},
		"chunks":                         {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3;a=b\r\nabc\r\n0\r\n\r\n"},
		"a trailer":                      {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n"},
		"a malformed trailer":            {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA b\r\n\r\n"},
		"a malformed chunk":              {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n"},
		"chunks and a length":            {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"two lengths":                    {answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"},
		"a malformed length":             {answer: "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok"},
		"another coding":                 {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok"},
		"an end by the connection":       {answer: "HTTP/1.1 200 OK\r\n\r\nok", ends: true},
		"an announced end":               {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"},
		"HTTP/1.0":                       {answer: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"},
		"HTTP/1.0 that keeps alive":      {answer: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"},
		"an early end":                   {answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", ends: true},
		"an early end of chunks":         {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok", ends: true},
		"an early end of the head":       {answer: "HTTP/1.1 200 OK\r\nContent-", ends: true},
		"nothing":                        {ends: true},
		"informational heads":            {answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + answerOK},
		"an end behind an informational": {answer: "HTTP/1.1 103 Early Hints\r\n\r\n", ends: true},
		"no HTTP":                        {answer: "SSH-2.0-x\r\n\r\n"},
		"a malformed header":             {answer: "HTTP/1.1 200 OK\r\nA b\r\n\r\nok"},
		"a header of two lines":          {answer: "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok"},
		"a long head":                    {answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: " + strings.Repeat("a", 60<<10) + "\r\n\r\nok"},
		"a head that is too long":        {answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: " + strings.Repeat("a", 65<<10) + "\r\n\r\nok"},
		"a status below 100":             {answer: "HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nok"}, // was skipped like an informational head, so that its body was the next one
		"a switch of protocols":          {answer: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", ends: true},
		"a body longer than a head":      {answer: "HTTP/1.1 200 OK\r\nContent-Length: 131072\r\n\r\n" + strings.Repeat("a", 128<<10)},
		"too long informational heads":   {answer: strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", 2<<10) + answerOK},
		"a failure":                      {answer: "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\nno"},
	} {
		t.Run(name, func(t *testing.T) {
			bounded := func(o *reverseproxy.HTTPTransport) { o.Transport.MaxResponseHeaderBytes = 64 << 10 }
			serve := answering(test.answer)
			if test.ends {
				serve = func(conn net.Conn, requests *bufio.Reader) {
					_, _ = readRequest(requests)
					_, _ = io.WriteString(conn, test.answer)
				}
			}
			want := twice(t, options(t, bounded).Transport, newProvider(t, serve))
			got := twice(t, newTransport(t, bounded), newProvider(t, serve))
			assert.Equal(t, want, got)
		})
	}
}

// A provider cannot tell the ways apart.
func TestRequestsAreThoseOfNetHTTP(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"plain":                 func(*http.Request) {},
		"more headers":          func(r *http.Request) { r.Header["X-B"], r.Header["X-A"] = []string{"1", "2"}, []string{" a\tb "} },
		"a user agent":          func(r *http.Request) { r.Header["User-Agent"] = []string{"a/1", "b/1"} },
		"no user agent":         func(r *http.Request) { r.Header["User-Agent"] = []string{""} },
		"not canonical":         func(r *http.Request) { r.Header["x-api-key"] = []string{"k"} },
		"headers of the length": func(r *http.Request) { r.Header["Content-Length"], r.Header["Host"] = []string{"7"}, []string{"other"} },
		"an escaped path":       func(r *http.Request) { r.URL.Path, r.URL.RawPath = "/a/b c", "/a%2Fb%20c" },
		"an unescaped path":     func(r *http.Request) { r.URL.Path = "/a b/ü?#\r\n" },
		"a query":               func(r *http.Request) { r.URL.RawQuery = "a=b&c=%0A" },
		"no path":               func(r *http.Request) { r.URL.Path = "" },
		"a host with a port":    func(r *http.Request) { r.Host = "provider.example:8080" },
		"a host of IPv6":        func(r *http.Request) { r.Host = "[::1]:80" },
	} {
		t.Run(name, func(t *testing.T) {
			wires := make(chan string, 2)
			p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
				var wire strings.Builder
				_, _ = readRequest(bufio.NewReader(io.TeeReader(requests, &wire)))
				wires <- wire.String()
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
			})
			withAgent := func(r *http.Request) { r.Header["User-Agent"] = []string{"a"} } // net/http has a default
			for _, way := range []http.RoundTripper{options(t).Transport, newTransport(t)} {
				r := post(t, p, `{"a":1}`, withAgent, change)
				require.True(t, newTransport(t).Takes(r))
				res, err := way.RoundTrip(r)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
			}
			assert.Equal(t, <-wires, <-wires)
		})
	}
}

// net/http sends what this package does not, or describes what is wrong.
func TestOtherRequestsAreLeftToNetHTTP(t *testing.T) {
	p := newProvider(t, answering(answerOK))
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = []string{value} }
	}
	for name, change := range map[string]func(*http.Request){
		"another body":                func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("{}")) },
		"no body":                     func(r *http.Request) { r.Body, r.ContentLength = nil, 0 },
		"no length":                   func(r *http.Request) { r.ContentLength = -1 },
		"another method":              func(r *http.Request) { r.Method = http.MethodGet },
		"TLS":                         func(r *http.Request) { r.URL.Scheme = "https" },
		"a request that closes":       func(r *http.Request) { r.Close = true },
		"a transfer coding":           func(r *http.Request) { r.TransferEncoding = []string{"chunked"} },
		"a trailer":                   func(r *http.Request) { r.Trailer = http.Header{"A": {"b"}} },
		"an opaque URL":               func(r *http.Request) { r.URL.Opaque = "//a/b" },
		"a query with a line":         func(r *http.Request) { r.URL.RawQuery = "a\r\nb: c" },
		"an address beyond ASCII":     func(r *http.Request) { r.URL.Host = "ü.example" },
		"a host beyond ASCII":         func(r *http.Request) { r.Host = "ü.example" },
		"no host":                     func(r *http.Request) { r.Host = "" },
		"a malformed host":            func(r *http.Request) { r.Host = "/run/a.sock" },
		"a zone":                      func(r *http.Request) { r.Host = "[fe80::1%25en0]" },
		"a header with a line":        header("A", "b\r\nc: d"),
		"a malformed name":            header("A b", "c"),
		"a connection header":         header("Connection", "close"),
		"an expectation":              header("Expect", "100-continue"),
		"an upgrade":                  header("Upgrade", "h2c"),
		"codings of transfer":         header("Te", "trailers"),
		"a header of old connections": header("Keep-Alive", "timeout=1"),
		"a header of old proxies":     header("Proxy-Connection", "close"),
	} {
		t.Run(name, func(t *testing.T) { assert.False(t, newTransport(t).Takes(post(t, p, "{}", change))) })
	}
	compresses := func(o *reverseproxy.HTTPTransport) { o.Transport.DisableCompression = false }
	assert.False(t, newTransport(t, compresses).Takes(post(t, p, "{}")), "net/http asks for gzip")
	assert.True(t, newTransport(t, compresses).Takes(post(t, p, "{}", header("Accept-Encoding", "identity"))))
	for _, proxy := range []*url.URL{nil, {Scheme: "http", Host: "proxy.example"}} {
		proxied := func(o *reverseproxy.HTTPTransport) { o.Transport.Proxy = http.ProxyURL(proxy) }
		assert.Equal(t, proxy == nil, newTransport(t, proxied).Takes(post(t, p, "{}")))
	}
	broken := func(o *reverseproxy.HTTPTransport) {
		o.Transport.Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("no proxy") }
	}
	assert.False(t, newTransport(t, broken).Takes(post(t, p, "{}")))
	assert.True(t, newTransport(t).Takes(post(t, p, "{}", func(r *http.Request) { r.URL.Scheme = "" })))
}

// reverse_proxy leaves the scheme of an address to its transport, and HTTP_PROXY is for one scheme
// only. A request without a scheme once went to the provider directly, past the proxy.
func TestAProxyIsForAddressesWithoutASchemeToo(t *testing.T) {
	p := newProvider(t, answering(answerOK))
	transport := newTransport(t, func(o *reverseproxy.HTTPTransport) {
		o.Transport.Proxy = func(r *http.Request) (*url.URL, error) {
			return map[string]*url.URL{"http": {Scheme: "http", Host: "proxy.example"}}[r.URL.Scheme], nil
		}
	})
	assert.False(t, transport.Takes(post(t, p, "{}", func(r *http.Request) { r.URL.Scheme = "" })))
}

func TestOptionsOfNetHTTPAreLeftToIt(t *testing.T) {
	for name, change := range map[string]func(*reverseproxy.HTTPTransport){
		"TLS":                    func(o *reverseproxy.HTTPTransport) { o.TLS = new(reverseproxy.TLSConfig) },
		"a PROXY header":         func(o *reverseproxy.HTTPTransport) { o.ProxyProtocol = "v2" },
		"a read timeout":         func(o *reverseproxy.HTTPTransport) { o.ReadTimeout = 1 },
		"a write timeout":        func(o *reverseproxy.HTTPTransport) { o.WriteTimeout = 1 },
		"HTTP/2 without TLS":     func(o *reverseproxy.HTTPTransport) { o.Transport.Protocols = new(http.Protocols) },
		"other versions":         func(o *reverseproxy.HTTPTransport) { o.Versions = []string{"h2c", "2"} },
		"a header timeout":       func(o *reverseproxy.HTTPTransport) { o.Transport.ResponseHeaderTimeout = 1 },
		"a limit of connections": func(o *reverseproxy.HTTPTransport) { o.Transport.MaxConnsPerHost = 1 },
		"a limit of idle ones":   func(o *reverseproxy.HTTPTransport) { o.Transport.MaxIdleConns = 1 },
		"no idle connections":    func(o *reverseproxy.HTTPTransport) { o.Transport.DisableKeepAlives = true },
		"none by a number":       func(o *reverseproxy.HTTPTransport) { o.Transport.MaxIdleConnsPerHost = -1 },
		// Without a timeout, nothing looks for idle connections that their provider has closed. Their
		// sockets were kept until a request to the same host, which may never come.
		"no timeout of idle ones": func(o *reverseproxy.HTTPTransport) { o.Transport.IdleConnTimeout = -1 },
	} {
		t.Run(name, func(t *testing.T) { assert.Nil(t, New(options(t, change))) })
	}
}

func TestOnlySocketsAreUsed(t *testing.T) {
	p := newProvider(t, answering(answerOK))
	here, there := net.Pipe()
	defer there.Close()
	transport := newTransport(t, func(o *reverseproxy.HTTPTransport) {
		o.Transport.DialContext = socket.Dialing(func(context.Context, string, string) (net.Conn, error) { return here, nil })
	})
	_, err := transport.RoundTrip(post(t, p, "{}"))
	assert.ErrorContains(t, err, "no socket")
	_, err = here.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestThePortOfHTTPIsTheDefault(t *testing.T) {
	for host, want := range map[string]string{
		"provider.example": "provider.example:80", "provider.example:81": "provider.example:81", "[::1]": "[::1]:80",
	} {
		var dialed string
		transport := newTransport(t, func(o *reverseproxy.HTTPTransport) {
			o.Transport.DialContext = func(_ context.Context, _, address string) (net.Conn, error) {
				dialed = address
				return nil, errGone
			}
		})
		_, err := transport.RoundTrip(post(t, newProvider(t, answering(answerOK)), "{}", func(r *http.Request) { r.URL.Host = host }))
		require.ErrorIs(t, err, errGone)
		assert.Equal(t, want, dialed)
	}
}

func TestATraceReportsTheConnection(t *testing.T) {
	p, transport := newProvider(t, answering(answerOK)), newTransport(t)
	for _, reused := range []bool{false, true} {
		var reports []string
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(info httptrace.GotConnInfo) {
				reports = append(reports, fmt.Sprintf("%T %v", info.Conn, info.Reused))
			},
			GotFirstResponseByte: func() { reports = append(reports, "answered") },
		})
		res, err := transport.RoundTrip(post(t, p, "{}", withContext(ctx)))
		require.NoError(t, err)
		_, err = io.ReadAll(res.Body)
		require.NoError(t, err)
		assert.Equal(t, []string{fmt.Sprintf("*http1.Conn %v", reused), "answered"}, reports)
	}
}

// Clients leave at any time, while others use the same connections.
func TestManyRequestsGetTheirOwnAnswers(t *testing.T) {
	p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
		for {
			body, err := readRequest(requests)
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		}
	})
	transport := newTransport(t)
	var running sync.WaitGroup
	for client := range 8 {
		running.Go(func() {
			for i := range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				body := strings.Repeat(fmt.Sprintf("%d/%d ", client, i), 1+i*i)
				if i%10 == 9 {
					go cancel()
				}
				res, err := transport.RoundTrip(post(t, p, body, withContext(ctx)))
				if err == nil {
					var got []byte
					got, err = io.ReadAll(res.Body)
					if err == nil {
						assert.True(t, body == string(got))
					}
					_ = res.Body.Close()
				}
				assert.True(t, err == nil || ctx.Err() != nil, "%v", err)
				cancel()
			}
		})
	}
	running.Wait()
	assert.LessOrEqual(t, len(transport.pool.idle[p.Addr().String()]), 2)
}
