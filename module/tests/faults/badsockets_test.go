package faults_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// badSocket is all that a client sends over a connection before it closes its side.
type badSocket struct {
	name  string
	bytes string
	calls int // of the provider: a good request is among the bytes
}

// body is that of the requests over sockets.
var body = site.BodyFor(site.ChatPath, "m", "hello", false)

// asked is a request line and the lines that every request needs.
const asked = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + site.ClientKey + "\r\n"

// good is a request that is answered 200.
var good = asked + sized(body)

// sized returns the end of a request: the length of a text, and the text.
func sized(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }

// line is a good request with another request line.
func line(text string) string {
	return strings.Replace(good, "POST /v1/chat/completions HTTP/1.1", text, 1)
}

// field is a good request with more lines in its head.
func field(lines string) string { return asked + lines + "\r\n" + sized(body) }

// length is a request that announces its body so.
func length(lines string) string { return asked + lines + "\r\n\r\n" + body }

// chunked is a request whose body comes in chunks, which are written out.
func chunked(chunks string) string { return asked + "Transfer-Encoding: chunked\r\n\r\n" + chunks }

// chunk is a text as one chunk.
func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

var badSockets = slices.Concat(badLines, badFields, badLengths, badChunks, severalRequests)

var badLines = []badSocket{
	{name: "an empty line", bytes: "\r\n\r\n"},
	{name: "zero bytes", bytes: "\x00\x00\x00\x00\r\n\r\n"},
	{name: "the beginning of TLS", bytes: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"},
	{name: "SSH", bytes: "SSH-2.0-OpenSSH_9.2\r\n\r\n"},
	{name: "a method alone", bytes: "POST\r\n\r\n"},
	{name: "HTTP/0.9", bytes: "GET /v1/models\r\n\r\n"},
	{name: "half a request line", bytes: "POST /v1/chat/comp"},
	{name: "half a head", bytes: asked},
	{name: "HTTP/2.0", bytes: line("POST /v1/chat/completions HTTP/2.0")},
	{name: "HTTP/9.9", bytes: line("POST /v1/chat/completions HTTP/9.9")},
	{name: "HTTP/1", bytes: line("POST /v1/chat/completions HTTP/1")},
	{name: "HTTP/1.10", bytes: line("POST /v1/chat/completions HTTP/1.10")},
	{name: "a protocol in small letters", bytes: line("POST /v1/chat/completions http/1.1")},
	{name: "another protocol", bytes: line("POST /v1/chat/completions RTSP/1.0")},
	{name: "two spaces", bytes: line("POST  /v1/chat/completions HTTP/1.1")},
	{name: "tabs", bytes: line("POST\t/v1/chat/completions\tHTTP/1.1")},
	{name: "a space in the target", bytes: line("POST /v1/chat /completions HTTP/1.1")},
	{name: "a control character in the target", bytes: line("POST /v1/chat/completions\x01 HTTP/1.1")},
	{name: "a half escape in the target", bytes: line("POST /v1/chat/completions%2 HTTP/1.1")},
	{name: "no target", bytes: line("POST HTTP/1.1")},
	{name: "a target without a slash", bytes: line("POST v1/chat/completions HTTP/1.1")},
	{name: "no method", bytes: line(" /v1/chat/completions HTTP/1.1")},
	{name: "a method with a control character", bytes: line("PO\x01ST /v1/chat/completions HTTP/1.1")},
	{name: "a method with a bracket", bytes: line("PO(ST /v1/chat/completions HTTP/1.1")},
	{name: "a head without an end", bytes: asked + "X: " + strings.Repeat("x", 1<<20+16<<10)},
}

var badFields = []badSocket{
	{name: "no host", bytes: strings.Replace(good, "Host: 127.0.0.1\r\n", "", 1)},
	{name: "two hosts", bytes: field("Host: 127.0.0.1")},
	{name: "a host with a space", bytes: strings.Replace(good, "Host: 127.0.0.1", "Host: 127.0.0.1 x", 1)},
	{name: "a host with a zero byte", bytes: strings.Replace(good, "Host: 127.0.0.1", "Host: 127.0.0.1\x00", 1)},
	{name: "a space before the colon", bytes: field("X-Test : 1")},
	{name: "no colon", bytes: field("X-Test")},
	{name: "no name", bytes: field(": 1")},
	{name: "a name with a zero byte", bytes: field("X-\x00Test: 1")},
	{name: "a name with a space", bytes: field("X Test: 1")},
	{name: "a name that is not ASCII", bytes: field("X-T\xc3\xa9st: 1")},
	{name: "a value with a zero byte", bytes: field("X-Test: a\x00b")},
	{name: "a value with a control character", bytes: field("X-Test: a\x01b")},
	{name: "a value with a return", bytes: field("X-Test: a\rb")},
	{name: "a first line that continues", bytes: strings.Replace(good, "Host:", " X-Test: 1\r\nHost:", 1)},
	{name: "an expectation that nobody has", bytes: field("Expect: miracles")},
}

var badLengths = []badSocket{
	{name: "two lengths", bytes: length("Content-Length: 5\r\nContent-Length: 7")},
	{name: "a list of lengths", bytes: length("Content-Length: 5, 7")},
	{name: "a length with a plus", bytes: length("Content-Length: +5")},
	{name: "a negative length", bytes: length("Content-Length: -1")},
	{name: "a length in hexadecimal", bytes: length("Content-Length: 0x10")},
	{name: "a length with an exponent", bytes: length("Content-Length: 1e3")},
	{name: "a length with a point", bytes: length("Content-Length: 10.0")},
	{name: "a length of letters", bytes: length("Content-Length: ten")},
	{name: "a length beyond 64 bits", bytes: length("Content-Length: 99999999999999999999")},
	{name: "an empty length", bytes: length("Content-Length:")},
	{name: "no length", bytes: asked + "\r\n" + body},
	{name: "a longer length", bytes: length(fmt.Sprint("Content-Length: ", len(body)+1))},
	{name: "a shorter length", bytes: length(fmt.Sprint("Content-Length: ", len(body)-1))},
	{name: "a body that never comes", bytes: asked + "Content-Length: 10\r\n\r\n"},
	{name: "an unknown transfer encoding", bytes: length("Transfer-Encoding: gzip")},
	{name: "two transfer encodings", bytes: length("Transfer-Encoding: gzip, chunked")},
	{name: "chunks twice", bytes: length("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked")},
	{name: "chunks twice in a list", bytes: length("Transfer-Encoding: chunked, chunked")},
	{name: "almost chunks", bytes: length("Transfer-Encoding: xchunked")},
	{name: "chunks behind a control character", bytes: length("Transfer-Encoding: \x0bchunked")},
	{name: "no transfer encoding", bytes: length("Transfer-Encoding: identity")},
}

var badChunks = []badSocket{
	{name: "a chunk without a size", bytes: chunked("\r\n" + body + "\r\n0\r\n\r\n")},
	{name: "a size of letters", bytes: chunked("zz\r\n" + body + "\r\n0\r\n\r\n")},
	{name: "a negative size", bytes: chunked("-5\r\n" + body + "\r\n0\r\n\r\n")},
	{name: "a size with a prefix", bytes: chunked("0x5\r\n" + body + "\r\n0\r\n\r\n")},
	{name: "a size beyond 64 bits", bytes: chunked("ffffffffffffffffff\r\n" + body + "\r\n0\r\n\r\n")},
	{name: "a chunk that is longer than its size", bytes: chunked("5\r\n" + body + "\r\n0\r\n\r\n")},
	{name: "a chunk that is shorter than its size", bytes: chunked(fmt.Sprintf("%x\r\n", len(body)+9) + body + "\r\n0\r\n\r\n")},
	{name: "a chunk cut off", bytes: chunked(chunk(body)[:20])},
	{name: "no last chunk", bytes: chunked(chunk(body))},
	{name: "no end behind the last chunk", bytes: chunked(chunk(body) + "0\r\n")},
	{name: "a long extension of a chunk", bytes: chunked("5;" + strings.Repeat("x", 8<<10) + "\r\n" + body + "\r\n0\r\n\r\n")},
	{name: "a trailer without a colon", bytes: chunked(chunk(body) + "0\r\ntrailer\r\n\r\n")},
}

// A request that is smuggled behind another one needs a credential as well.
var severalRequests = []badSocket{
	{name: "a request without a credential behind a good one", bytes: good + strings.Replace(good, "Authorization: Bearer", "Connection: close\r\nX-Test:", 1), calls: 1},
	{name: "garbage behind a good request", bytes: good + "\x00\x01\x02\r\n\r\n", calls: 1},
	{name: "a length beside chunks", bytes: field("Transfer-Encoding: chunked")},
	{name: "a request in the body of one with two lengths", bytes: asked + "Content-Length: 0\r\nContent-Length: " + fmt.Sprint(len(good)) + "\r\n\r\n" + good},
	{name: "a request behind one with an unknown transfer encoding", bytes: asked + "Transfer-Encoding: x\r\n\r\n" + good},
}

// Each connection has exactly the answers that the golden file has, and what is no
// request of a client with a key reaches no provider.
func TestBadSockets(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, "models m"))
	var golden strings.Builder
	for _, bad := range badSockets {
		before := p.Count()
		answers := exchanged(t, s, bad)
		assert.NotEmpty(t, answers, bad.name)
		fmt.Fprintf(&golden, "# %s\n%s", bad.name, answers)
		assert.Equal(t, bad.calls, p.Count()-before, "calls of the provider: %s", bad.name)
	}
	compare(t, "sockets.txt", golden.String())
}

// exchanged sends all bytes over a connection, and returns all answers, a line for each.
// The client closes its side, unless a good request is among the bytes: the server takes
// a client that closes its side for one that has left. What is wrong with its request is answered
// all the same: it once depended on which came first, the refusal or the end of the connection.
func exchanged(t *testing.T, s *site.Site, bad badSocket) (answers string) {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port("site")))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(site.Patience)))
	_, err = io.WriteString(conn, bad.bytes)
	require.NoError(t, err)
	if bad.calls == 0 {
		_ = conn.(*net.TCPConn).CloseWrite() // the server may have closed the connection
	}
	all, err := io.ReadAll(conn) // which may be reset behind the answer
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, bad.name)
	for reader := bufio.NewReader(bytes.NewReader(all)); ; {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s: %.80q", bad.name, all)
			return answers
		}
		answer := site.ReadReply(response)
		if answer.Status == http.StatusOK {
			answer.Body = ""
		}
		answers += shown(answer) + "\n"
	}
}
