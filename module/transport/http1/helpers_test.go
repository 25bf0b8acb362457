//go:build unix

package http1

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
)

// provider accepts connections, and serves each with a function.
type provider struct {
	net.Listener
	accepted atomic.Int64
}

func newProvider(t testing.TB, serve func(conn net.Conn, requests *bufio.Reader)) *provider {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &provider{Listener: listener}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.accepted.Add(1)
			go func() {
				defer conn.Close()
				serve(conn, bufio.NewReader(conn))
			}()
		}
	}()
	return p
}

// answering returns a function for newProvider that answers each request with a text.
func answering(text string) func(net.Conn, *bufio.Reader) {
	return func(conn net.Conn, requests *bufio.Reader) {
		for {
			if _, err := readRequest(requests); err != nil {
				return
			}
			_, _ = io.WriteString(conn, text)
		}
	}
}

func readRequest(requests *bufio.Reader) (string, error) {
	r, err := http.ReadRequest(requests)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(r.Body)
	return string(body), err
}

// options returns a transport of Caddy without options. Both ways are made from it.
func options(t testing.TB, change ...func(*reverseproxy.HTTPTransport)) *reverseproxy.HTTPTransport {
	t.Helper()
	httpTransport := &reverseproxy.HTTPTransport{
		Versions:  []string{"1.1", "2"},
		Transport: &http.Transport{DialContext: socket.Dialing(new(net.Dialer).DialContext), MaxIdleConnsPerHost: 2, DisableCompression: true},
	}
	for _, c := range change {
		c(httpTransport)
	}
	t.Cleanup(httpTransport.Transport.CloseIdleConnections)
	return httpTransport
}

func newTransport(t testing.TB, change ...func(*reverseproxy.HTTPTransport)) *Transport {
	t.Helper()
	transport := New(options(t, change...))
	require.NotNil(t, transport)
	t.Cleanup(transport.Close)
	return transport
}

// payload is a body in memory.
type payload struct {
	bytes.Reader
	closed atomic.Bool
}

func (p *payload) WriteBehind(head []byte, w io.Writer) (int64, error) {
	if _, err := w.Write(head); err != nil {
		return 0, err
	}
	return p.WriteTo(w)
}

func (p *payload) Close() error {
	p.closed.Store(true)
	return nil
}

// post returns a request with a body.
func post(t testing.TB, server *provider, body string, change ...func(*http.Request)) *http.Request {
	t.Helper()
	p := new(payload)
	p.Reset([]byte(body))
	r := (&http.Request{
		Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: server.Addr().String(), Path: "/v1"}, Host: "provider.example",
		Header: http.Header{"Content-Type": {"application/json"}}, Body: p, ContentLength: int64(len(body)),
	}).WithContext(t.Context())
	for _, c := range change {
		c(r)
	}
	return r
}

// withContext lets a request end with a context.
func withContext(ctx context.Context) func(*http.Request) {
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		context.AfterFunc(ctx, func() { _ = info.Conn.Close() })
	}}
	return func(r *http.Request) { *r = *r.WithContext(httptrace.WithClientTrace(ctx, trace)) }
}

const answerOK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

var long = strings.Repeat("x", longRequest+1)
