//go:build unix

package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A provider that refuses a request may not read all of it.
func TestALongRequestIsAnsweredBeforeItIsRead(t *testing.T) {
	for name, reset := range map[string]bool{"and the connection waits": false, "and the connection is reset": true} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
				_, _ = requests.ReadString('{')
				_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
				if reset {
					_ = conn.(*net.TCPConn).SetLinger(0)
					return
				}
				<-release
			})
			defer close(release)
			transport := newTransport(t)
			r := post(t, p, "{"+strings.Repeat(long, 1000))
			res, err := transport.RoundTrip(r)
			if err != nil {
				require.True(t, reset, "%v", err) // a reset may come before the answer is read
				return
			}
			assert.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
			_, err = io.ReadAll(res.Body)
			require.True(t, err == nil || reset)
			require.NoError(t, res.Body.Close())
			assert.Nil(t, transport.pool.pop(p.Addr().String()), "a part of the request is not sent")
			assert.Eventually(t, r.Body.(*payload).closed.Load, 10*time.Second, time.Millisecond)
		})
	}
}

// The rest of a long request would be read as the request after it. That the request before it
// was written completely means nothing.
func TestALongRequestThatIsNotReadEndsAConnectionThatWasUsedBefore(t *testing.T) {
	release := make(chan struct{})
	p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
		_, _ = readRequest(requests)
		_, _ = io.WriteString(conn, answerOK)
		_, _ = requests.ReadString('[')
		_, _ = io.WriteString(conn, answerOK)
		<-release
	})
	defer close(release)
	transport := newTransport(t)
	for _, body := range []string{"{}", "[" + strings.Repeat(long, 1000)} {
		res, err := transport.RoundTrip(post(t, p, body))
		require.NoError(t, err)
		_, err = io.ReadAll(res.Body)
		require.NoError(t, err)
	}
	assert.EqualValues(t, 1, p.accepted.Load())
	assert.Nil(t, transport.pool.pop(p.Addr().String()))
}

// failing is a body that cannot be written.
type failing struct {
	payload
	err error
}

func (f *failing) WriteBehind(head []byte, w io.Writer) (int64, error) {
	_, _ = w.Write(head)
	return 0, f.err
}

// A provider that refuses a request may close the connection while it is written. The client
// gets the refusal. After any other error, nobody waits for an answer.
func TestARequestThatCannotBeWrittenMayHaveAnAnswer(t *testing.T) {
	for err, answered := range map[error]bool{syscall.EPIPE: true, syscall.ECONNRESET: true, errGone: false} {
		ended := make(chan error, 1)
		p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
			_, _ = requests.ReadString('}')
			if answered {
				_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
			}
			_, err := io.Copy(io.Discard, requests)
			ended <- err
		})
		transport := newTransport(t)
		r := post(t, p, "{}", func(r *http.Request) {
			r.Body, r.Header["X"] = &failing{err: err}, []string{"}"}
		})
		res, failed := transport.RoundTrip(r)
		require.Equal(t, answered, failed == nil, "%v: %v", err, failed)
		if answered {
			text, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			assert.Equal(t, "no", string(text))
		}
		<-ended // the connection, which has a part of a request
	}
}

func TestALongRequestArrivesWhole(t *testing.T) {
	bodies := make(chan string, 3)
	p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
		for {
			body, err := readRequest(requests)
			if err != nil {
				return
			}
			bodies <- body
			_, _ = io.WriteString(conn, answerOK)
		}
	})
	transport := newTransport(t)
	for _, body := range []string{"{}", strings.Repeat(long, 100), "{}"} {
		res, err := transport.RoundTrip(post(t, p, body))
		require.NoError(t, err)
		_, err = io.ReadAll(res.Body)
		require.NoError(t, err)
		assert.True(t, body == <-bodies)
	}
}
