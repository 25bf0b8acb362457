//go:build unix

package http1

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Bytes behind an answer would be read as the answer to the next request, of another client.
func TestAConnectionWithBytesBehindItsAnswerIsNotUsedAgain(t *testing.T) {
	const other = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"
	ended := make(chan error, 2)
	for name, serve := range map[string]func(net.Conn, *bufio.Reader){
		"with it": answering(answerOK + other),
		"after it": func(conn net.Conn, requests *bufio.Reader) {
			_, _ = readRequest(requests)
			_, _ = io.WriteString(conn, answerOK)
			_, _ = io.WriteString(conn, other)
			_, err := io.Copy(io.Discard, requests)
			ended <- err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, transport := newProvider(t, serve), newTransport(t)
			for i := range int64(2) {
				res, err := transport.RoundTrip(post(t, p, "{}"))
				require.NoError(t, err)
				body, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				assert.Equal(t, "ok", string(body))
				assert.Equal(t, i+1, p.accepted.Load())
				awaitArrival(t, transport, p)
			}
			if name == "after it" {
				<-ended
			}
		})
	}
}

// awaitArrival waits until bytes have arrived at the idle connection.
func awaitArrival(t *testing.T, transport *Transport, p *provider) {
	t.Helper()
	c := transport.pool.pop(p.Addr().String())
	require.NotNil(t, c)
	c.left = 1 << 20
	_, err := c.reader.Peek(1)
	require.NoError(t, err)
	transport.pool.put(c)
}

func TestAnAnswerThatIsNotReadToItsEndEndsItsConnection(t *testing.T) {
	ended := make(chan error, 1)
	p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
		_, _ = readRequest(requests)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok")
		_, err := requests.ReadByte()
		ended <- err
	})
	transport := newTransport(t)
	res, err := transport.RoundTrip(post(t, p, "{}"))
	require.NoError(t, err)
	_, err = io.ReadFull(res.Body, make([]byte, 2))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.NoError(t, res.Body.Close())
	<-ended
	_, err = res.Body.Read(make([]byte, 1))
	assert.ErrorIs(t, err, net.ErrClosed)
	assert.Nil(t, transport.pool.pop(p.Addr().String()))
}

// Nobody would close the connection later: net/http does that in its own goroutine.
func TestAConnectionOfAnotherProtocolEnds(t *testing.T) {
	for _, answer := range []string{"SSH-2.0-x\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"} {
		ended := make(chan error, 1)
		p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
			_, _ = readRequest(requests)
			_, _ = io.WriteString(conn, answer)
			_, err := io.Copy(io.Discard, requests)
			ended <- err
		})
		transport := newTransport(t)
		_, err := transport.RoundTrip(post(t, p, "{}"))
		assert.Equal(t, strings.HasPrefix(answer, "HTTP"), err == nil)
		<-ended
		assert.Nil(t, transport.pool.pop(p.Addr().String()))
	}
}
