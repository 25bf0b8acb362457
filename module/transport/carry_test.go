package transport

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// writing returns a transport to a server that answers every request with some bytes. After
// them it closes the connection, or waits until the client does.
func writing(t *testing.T, text string, leave bool) *Transport {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { // ends when the listener is closed
		defer close(ended)
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(conn, text)
			}
			if leave {
				_, _ = io.Copy(io.Discard, conn)
			}
			_ = conn.Close()
		}
	}()
	inner := &http.Transport{}
	t.Cleanup(func() {
		inner.CloseIdleConnections()
		_ = listener.Close()
		<-ended
	})
	transport := newTransport(inner)
	transport.service.base = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	return transport
}

// net/http quotes the parts of an answer that it cannot read. The log repeated them: texts,
// and credentials that a provider sends back.
func TestCausesQuoteNothingOfAnAnswer(t *testing.T) {
	const secret = "sk-CANARY secret answer"
	for name, test := range map[string]struct{ answer, cause string }{
		"no head at all":       {"sk-CANARY\r\n\r\n", "malformed HTTP response"},
		"the version":          {"HTTP/" + secret + " 200 OK\r\n\r\n", "malformed HTTP"},
		"the status":           {"HTTP/1.1 sk-CANARY OK\r\n\r\n", "malformed HTTP status code"},
		"no blank line":        {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{\"text\":\"" + secret + "\"}\r\n\r\n", "malformed MIME header"},
		"no colon":             {"HTTP/1.1 200 OK\r\n" + secret + "\r\n\r\n", "malformed MIME header"},
		"the length":           {"HTTP/1.1 200 OK\r\nContent-Length: " + secret + "\r\n\r\n", "bad Content-Length"},
		"lengths":              {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: " + secret + "\r\n\r\n", "multiple Content-Length"},
		"the coding":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + secret + "\r\n\r\n", "unsupported transfer encoding"},
		"the length of a part": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + secret + "\r\n", "chunk"},
		"the trailer":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\n" + secret + "\r\n\r\n", "malformed MIME header"},
		"a trailer of a stream": {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n" +
			secret + "\r\n\r\n", "malformed MIME header"},
	} {
		t.Run(name, func(t *testing.T) {
			got := carry(t, writing(t, test.answer, false), attemptFor(t, translate.Chat, true))
			require.NotNil(t, got.Fault)
			assert.ErrorContains(t, got.Fault.Cause, test.cause)
			assert.NotContains(t, got.Fault.Cause.Error(), "CANARY")
			if got.err != nil {
				assert.NotContains(t, got.err.Error(), "CANARY", "reverse_proxy logs it")
			}
		})
	}
}

// lineWriter sends each line that is written to it to a channel.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// net/http writes up to 4 KB of the bytes that a provider sends after its answer to the
// standard logger, which is Caddy's default log.
func TestTheStandardLogQuotesNothingOfAnAnswer(t *testing.T) {
	before := log.Writer()
	defer log.SetOutput(before)
	for range 2 { // as often as Caddy redirects the logger
		lines := make(lineWriter, 10)
		log.SetOutput(lines)
		transport := writing(t, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}{\"text\":\"sk-CANARY\"}", true)
		a := attemptFor(t, translate.Chat, true)
		_ = carry(t, transport, a)
		line := <-lines
		assert.Contains(t, line, "Unsolicited response received on idle HTTP channel")
		assert.NotContains(t, line, "CANARY")
		assert.True(t, strings.HasSuffix(line, "bytes left out)\n"), line)
	}
}
